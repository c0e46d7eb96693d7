"""Who may talk to a server that knows no passwords: programs on this machine, and no web page from elsewhere.

A page anywhere can make a browser on this machine send requests to 127.0.0.1. It can not choose the `Host`
that the browser sends, nor leave out the `Origin`: so both must be the server's own.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s]+)(?::[0-9]{1,5})?")
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OTHER_SITES: Final = frozenset({b"cross-site", b"same-site"})  # `same-site` is another port of this machine


def is_loopback(host: str) -> bool:
    """Whether a name or an address means this machine and nothing else."""
    name = (host[1:-1] if host.startswith("[") and host.endswith("]") else host).lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def why_not(method: str, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why a request is not let in; None if it is."""
    found = dict(headers)
    host = found.get(b"host", b"").decode("latin-1")
    if not is_loopback(_name(host)):
        return f"The host [{host[:80]}] is not this server's: without authentication that is localhost only"
    origin = found.get(b"origin")
    if origin is not None and _place(origin) != host.lower():
        return "Requests of web pages from elsewhere are refused: the server has no authentication"
    if method not in SAFE and found.get(b"sec-fetch-site") in OTHER_SITES:
        return "A web page from elsewhere can not change anything: the server has no authentication"
    return None


def _name(host: str) -> str:
    """`[::1]:8080` -> `[::1]`, `localhost:8080` -> `localhost`; nothing if it is no host with a port."""
    found = _HOST.fullmatch(host)
    return found[1] if found else ""


def _place(origin: bytes) -> str:
    """Host and port of an origin; `null` and the like have none."""
    try:
        return urlsplit(origin.decode("latin-1")).netloc.lower()
    except ValueError:
        return ""
