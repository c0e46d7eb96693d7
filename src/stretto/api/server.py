"""The server: sockets, connections, and a graceful stop. It runs in the event loop of whoever starts it."""

import asyncio
import errno
import socket
from collections.abc import Sequence
from typing import Final

import uvicorn
from litestar.types import ASGIApp

from stretto.api.door import is_loopback
from stretto.api.protocol import limited
from stretto.api.settings import ServerSettings
from stretto.model.errors import InvalidRequest, PreconditionFailed

BACKLOG: Final = 1_024
LAST_WORD: Final = 1.0  # seconds for requests that were cancelled to say so


def bind(host: str, port: int) -> list[socket.socket]:
    """Sockets for all addresses of a host. Only loopback: whoever reaches the server may run commands."""
    if not is_loopback(host):
        raise InvalidRequest(
            f"the server can not listen on `{host}`: it has no authentication,"
            " and whoever reaches it may run commands",
            hint="listen on 127.0.0.1, and let a proxy that knows its users stand before it",
        )
    made: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            made.append(
                _bound(family, (address[0], made[0].getsockname()[1] if made and not port else address[1]))
            )
    except OSError as error:
        for each in made:
            each.close()
        raise _explained(error, host, port) from None
    return made


def _addresses(host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, (str(at[0]), int(at[1]))) for family, _, _, _, at in found))


def _bound(family: int, address: tuple[str, int]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)  # now, and not once the database is open: only this tells that the port is taken
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def _explained(error: OSError, host: str, port: int) -> PreconditionFailed:
    if error.errno == errno.EADDRINUSE:
        return PreconditionFailed(
            f"port {port} of {host} is taken: another program listens there",
            hint=f"end that one, or listen elsewhere: --port {port + 1 if port < 65_535 else 8080}",
        )
    if error.errno == errno.EACCES:
        return PreconditionFailed(
            f"this user may not listen on port {port} of {host}", hint="take a port from 1024 on: --port 8080"
        )
    return PreconditionFailed(f"nobody can listen on port {port} of {host}: {error.strerror or error}")


class Server:
    """Connections to an application, from `start` to `stop`."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        config = uvicorn.Config(
            app,
            http=limited(settings),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            date_header=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=max(1, settings.idle_within // 1_000),
            timeout_graceful_shutdown=max(1, settings.stop_within // 1_000),
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Take connections from now on."""
        await self._server.startup(sockets=list(sockets))

    async def stop(self) -> None:
        """Take no new ones, and let requests that are under way end; not for ever."""
        await self._server.shutdown()
        tasks = list(self._server.server_state.tasks)
        if tasks:  # they were cancelled, and say so to their clients
            await asyncio.wait(tasks, timeout=LAST_WORD)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()


def url_of(sockets: Sequence[socket.socket]) -> str:
    """What a person would type to get here."""
    host, port = sockets[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
