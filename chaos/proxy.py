"""A proxy between a node and its database server, which can cut, slow down, hold and truncate what passes."""

import asyncio
import socket
import struct
from collections import Counter
from contextlib import suppress
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

AT_ONCE: Final = 65_536  # bytes
NO_LINGERING: Final = struct.pack("ii", 1, 0)  # a socket that is closed is reset
SOCKET: Final = ".s.PGSQL.5432"  # of a PostgreSQL server, in the folder that its address names


class Server(NamedTuple):
    """Where a server listens: a socket in a folder, or a port."""

    path: str | None
    host: str | None = None
    port: int | None = None


def server_at(url: str) -> Server:
    """The server of a database."""
    parts = urlsplit(url)
    folder = parse_qs(parts.query).get("host")
    if folder is not None:
        return Server(f"{folder[0]}/{SOCKET}")
    return Server(None, parts.hostname, parts.port)


def through(url: str, port: int) -> str:
    """The same database, by way of a port of this machine."""
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    query = "" if "host" in parse_qs(parts.query) else parts.query
    return urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}", query=query))


class Way(Enum):
    """Where a message goes."""

    TO_SERVER = "to the server"
    TO_NODE = "to the node"


class Connection:
    """One connection of the node, and the one to the server that belongs to it."""

    def __init__(self, node: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._writers = {Way.TO_SERVER: server, Way.TO_NODE: node}
        self.truncated: Way | None = None  # the next message that goes there ends in its middle

    def writer(self, way: Way) -> asyncio.StreamWriter:
        return self._writers[way]

    def abort(self) -> None:
        """Reset on both sides. What has not arrived is lost."""
        for each in self._writers.values():
            reset(each)

    def close(self) -> None:
        """End it. What was passed on arrives."""
        for each in self._writers.values():
            each.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection at once, and let the other side see that it was no good end."""
    found = writer.get_extra_info("socket")
    with suppress(OSError):  # it is closed
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGERING)
    writer.transport.abort()


class Proxy:
    """async with Proxy(url) as proxy: ... proxy.url ...

    refuses  New connections are reset.
    delay    Seconds for which each piece is held.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = server_at(url)
        self._listener: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self.refuses = False
        self.delay = 0.0
        self.counts: Counter[str] = Counter()  # what was really done to connections

    @property
    def url(self) -> str:
        """The address of the database by way of this proxy."""
        assert self._listener is not None  # noqa: S101 - only within the block
        return through(self._url, self._listener.sockets[0].getsockname()[1])

    async def __aenter__(self) -> "Proxy":
        self._listener = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._listener is not None  # noqa: S101 - it was entered
        self._listener.close()
        self.pass_on()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # -------------------------------------------------------------------------------------------------- harms
    def cut(self) -> None:
        """Reset all connections, as when a firewall forgets them."""
        self.counts["cut"] += len(self._connections)
        for each in list(self._connections):
            each.abort()

    def hold(self) -> None:
        """Nothing arrives any more, and nobody hears of it."""
        self._flows.clear()

    def pass_on(self) -> None:
        """What was held arrives."""
        self._flows.set()

    def truncate(self, way: Way) -> None:
        """Of the next message of each connection only a half arrives; then the connection ends."""
        for each in self._connections:
            each.truncated = way

    # ------------------------------------------------------------------------------------------------ passing
    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._accept(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            reset(writer)
            return
        try:
            answers, asks = await self._dial()
        except OSError:  # there is no server
            reset(writer)
            return
        connection = Connection(writer, asks)
        self._connections.add(connection)
        ways = {
            asyncio.create_task(self._pass(reader, connection, Way.TO_SERVER)),
            asyncio.create_task(self._pass(answers, connection, Way.TO_NODE)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._connections.discard(connection)
            connection.close()
            for each in ways:
                each.cancel()
            await asyncio.wait(ways)

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._at.path is not None:
            return await asyncio.open_unix_connection(self._at.path)
        return await asyncio.open_connection(self._at.host, self._at.port)

    async def _pass(self, reader: asyncio.StreamReader, connection: Connection, way: Way) -> None:
        """Until one side ends, or the connection is cut."""
        writer = connection.writer(way)
        with suppress(OSError):
            while data := await reader.read(AT_ONCE):
                await asyncio.sleep(self.delay)
                await self._flows.wait()
                if connection.truncated is way:
                    self.counts["truncated"] += 1
                    writer.write(data[: len(data) // 2])
                    return
                writer.write(data)
                await writer.drain()
