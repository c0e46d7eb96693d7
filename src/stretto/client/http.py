"""What both drivers have in common: how httpx is set up, and what its errors mean."""

from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

import stretto
from stretto.client.steps import Answer, Broken, Request
from stretto.model.errors import InvalidRequest

# Raised before anything was sent.
UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.InvalidURL)
ENDED: Final = Broken(reason="the server has ended it", sent=True)
CONNECT_WITHIN: Final = 10.0  # seconds


def options(server: str, user: str | None) -> dict[str, Any]:
    """For a client of httpx. Proxies of the surroundings are not for a server on this machine."""
    headers = {"user-agent": f"stretto/{stretto.__version__}", "accept": "*/*"}
    if user is not None:
        if not (user.isascii() and user.isprintable() and user.strip()):
            raise InvalidRequest(
                f"the name of a user can not be sent: {user[:80]!r}", hint="letters of ASCII can"
            )
        headers["user"] = user
    return {"headers": headers, "trust_env": not _is_local(server)}


def _is_local(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def sending(server: str, request: Request) -> dict[str, Any]:
    """The arguments of a request."""
    return {
        "method": request.method,
        "url": server + request.path,
        "params": list(request.query) or None,
        "headers": dict(request.headers),
        "content": request.body,
        "timeout": httpx.Timeout(request.within, connect=min(CONNECT_WITHIN, request.within)),
    }


def whole(response: httpx.Response) -> Answer:
    """An answer that has been read."""
    return Answer(status=response.status_code, headers=dict(response.headers), body=response.content)


def head(response: httpx.Response) -> Answer:
    """An answer of which the body is still to come."""
    return Answer(status=response.status_code, headers=dict(response.headers))


def broken(error: httpx.HTTPError | httpx.InvalidURL) -> Broken:
    """What an error of httpx means."""
    late = isinstance(error, httpx.TimeoutException)
    return Broken(reason=str(error) or type(error).__name__, sent=not isinstance(error, UNSENT), late=late)
