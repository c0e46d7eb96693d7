"""The address of a database. It may hold a password: no message shows it, and who prints it masks it."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import msgspec

from stretto.config.kinds import printable, shown
from stretto.config.problems import BadValue, ConfigCode
from stretto.model.problem import Code
from stretto.model.suggest import did_you_mean
from stretto.store.opening import BACKENDS

MASK: Final = "***"
SCHEMES: Final = tuple(BACKENDS)
SERVERS: Final = tuple(scheme for scheme, backend in BACKENDS.items() if backend.driver is not None)
MOST_CHARACTERS: Final = 2_000
_SECRET: Final = re.compile("pass|secret|token|key", re.IGNORECASE)
_SHAPES: Final = {
    "sqlite": "sqlite:///PATH",
    "memory": "memory://",
    **{scheme: f"{scheme}://USER:PASSWORD@HOST/NAME" for scheme in SERVERS},
}


class DatabaseUrl(msgspec.Struct, frozen=True):
    """`sqlite:///PATH`, `postgresql://USER:PASSWORD@HOST:PORT/NAME`, `memory://` ..."""

    name: str = "address"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not the address of a database")
        return self.parse(value)

    def parse(self, text: str) -> str:
        if not text.isprintable() or len(text) > MOST_CHARACTERS:
            message = "the address is too long, or holds characters that can not be printed"
            raise BadValue(ConfigCode.BAD_URL, message)
        scheme, separator, _ = text.partition("://")
        scheme = scheme.partition("+")[0]  # a driver may be named, as in `postgresql+asyncpg`
        if not separator:
            raise _bad("the address of a database begins with its kind", "sqlite")
        if scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            hint = did_you_mean(printable(scheme[:20]), SCHEMES)
            raise BadValue(Code.UNKNOWN_VALUE, f"the kind of database is none of {known}", hint)
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise _bad("its host or its port can not be read", scheme) from None
        _CHECKS[scheme](scheme, parts, port)
        return text

    def show(self, value: str) -> str:
        return masked(value)


def _bad(message: str, scheme: str) -> BadValue:
    hint = f"write `{_SHAPES[scheme]}`"
    if scheme in SERVERS:
        hint += "; in a password `/` is %2F, `@` is %40, `:` is %3A, `?` is %3F, `#` is %23"
    return BadValue(ConfigCode.BAD_URL, message, hint)


def _check_server(scheme: str, parts: SplitResult, port: int | None) -> None:
    """A part of a password that looks like a path or a query would be shown: such an address is refused."""
    host = parts.hostname or dict(parse_qsl(parts.query)).get("host")  # the folder of a socket comes there
    if not host or port == 0:
        raise _bad("it names no host, or port 0", scheme)
    if "@" in parts.path + parts.query or parts.fragment:
        raise _bad("there is an `@` or a `#` behind the host", scheme)
    if parts.path in {"", "/"}:
        raise _bad("it names no database", scheme)


def _check_sqlite(_scheme: str, parts: SplitResult, _port: int | None) -> None:
    if parts.netloc:
        raise _bad(
            "a file has no host: there are three slashes before a path, four if it is absolute", "sqlite"
        )
    if parts.path in {"", "/"} or parts.query:
        raise _bad("it names no file, or something behind a `?`", "sqlite")


def _check_memory(_scheme: str, parts: SplitResult, _port: int | None) -> None:
    if parts.netloc or parts.path or parts.query:
        raise _bad("a database in memory has no name", "memory")


_CHECKS: Final[dict[str, Callable[[str, SplitResult, int | None], None]]] = {
    **dict.fromkeys(SERVERS, _check_server),
    "sqlite": _check_sqlite,
    "memory": _check_memory,
}


def masked(url: str) -> str:
    """The address without what is secret in it."""
    parts = urlsplit(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    user, colon, _password = userinfo.partition(":")
    netloc = f"{user}{colon}{MASK if colon else ''}{at}{host}"
    query = parts.query
    if _SECRET.search(query):
        pairs = parse_qsl(query, keep_blank_values=True)
        query = urlencode([(k, MASK if _SECRET.search(k) else v) for k, v in pairs], safe="*/:")
    # Not put together by `urlunsplit`: it drops the slashes of an address without a host.
    ends = [f"?{query}" if query else "", f"#{parts.fragment}" if parts.fragment else ""]
    return f"{parts.scheme}://{netloc}{parts.path}{''.join(ends)}"
