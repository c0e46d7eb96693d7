"""What every request passes first: is it let in, is there room for it, what is its id."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from litestar import Litestar
from litestar.types import ASGIApp, Message, Receive, Send

from stretto.api.answers import CUT, KEY, Answer, Answers, with_room
from stretto.api.body import KEY as BODY
from stretto.api.body import Bodies
from stretto.api.cursors import cursor_text
from stretto.api.encodings import decoded, without_refused
from stretto.api.errors import PROBLEM, RETRY_AFTER, problem_body
from stretto.api.feed import Feed
from stretto.api.request_ids import HEADER, mark
from stretto.api.settings import ServerSettings
from stretto.api.slashes import unquoted
from stretto.ports.clock import Clock

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


CURSOR: Final = b"stretto-cursor"  # every change that is not in the answer comes behind it
PREFIX: Final = "/api/v3/"
STOPPING: Final = "The server is stopping; another one may take the request"
PART: Final = 64 * 1024  # bytes of an answer that are handed to a connection at once
FIXED: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"server", b"stretto"),
)


class Door:
    """Around the application. It answers by itself only to whom it does not let in."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, clock: Clock, feed: Feed) -> None:
        self._app = app
        self._clock = clock
        self._feed = feed
        self._bodies = Bodies(settings)
        self._answers = Answers(settings.answers)
        self._most = settings.connections  # requests under way: a client may leave before its answer is made
        self._under_way = 0
        self._date = (0, b"")

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        request_id = mark(scope)
        headers = [*FIXED, (HEADER, request_id), (b"date", self._now())]

        started = False
        mine = scope[KEY] = Answer(self._answers, scope.get(CUT))

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = _merged(message.get("headers", ()), headers)
                await send(message)
            else:
                await _send_parts(message, send, mine)

        refusal = why_not(scope["method"], scope["headers"])
        if refusal is not None:
            await _refuse(answer, 403, problem_body(403, refusal, scope["path"], request_id.decode()))
            return
        if self._under_way >= self._most:
            reason = f"The server works on {self._most} requests, which is its limit (server.connections)"
            await _refuse(answer, 503, problem_body(503, reason, scope["path"], request_id.decode()))
            return
        self._under_way += 1
        try:
            await self._admit(scope, receive, answer, headers)
        except asyncio.CancelledError:  # only a server that stops cancels requests
            if not started:
                await _refuse(answer, 503, problem_body(503, STOPPING, scope["path"], request_id.decode()))
        finally:
            self._under_way -= 1
            mine.done()

    async def _admit(
        self, scope: Any, receive: Receive, answer: Send, headers: list[tuple[bytes, bytes]]
    ) -> None:
        if scope["method"] == "GET" and scope["path"].startswith(PREFIX):
            place = await self._feed.end_text(cursor_text)  # before anything is read
            headers += [] if place is None else [(CURSOR, place.encode())]
        raw = scope.get("raw_path") or b""
        if b"%2f" in raw.lower():
            scope["path"] = unquoted(raw.decode("ascii"))
        scope["headers"] = without_refused(scope["headers"])
        with self._bodies.limited(receive) as body:
            scope[BODY] = body

            async def begin(message: Message) -> None:
                body.forget()  # the request is carried out: a client that reads slowly holds nobody up
                await answer(message)

            sending = with_room(scope, begin)
            await self._app(scope, body.counted(decoded(scope, body.receive)), sending)

    def _now(self) -> bytes:
        """The time as HTTP writes it; it is written once a second."""
        second = self._clock.now() // 1_000
        if second != self._date[0]:
            self._date = (second, formatdate(second, usegmt=True).encode())
        return self._date[1]


def _merged(own: Any, ours: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer and those of all answers; what a route says itself counts."""
    named: Mapping[bytes, bytes] = {name.lower(): value for name, value in own}
    return [*own, *(each for each in ours if each[0] not in named)]


async def _send_parts(message: Any, send: Send, answer: Answer) -> None:
    """A client that reads slowly has one part waiting in the connection, not the whole answer."""
    body = message.get("body", b"")
    if len(body) > PART:
        view = memoryview(body)
        last = (len(body) - 1) // PART * PART
        for begin in range(0, last, PART):
            part = bytes(view[begin : begin + PART])
            await send({"type": "http.response.body", "body": part, "more_body": True})
            answer.moved()
        message["body"] = bytes(view[last:])
    await send(message)


async def _refuse(send: Send, status: int, body: bytes) -> None:
    retry = [(name.encode(), value.encode()) for name, value in RETRY_AFTER.items() if status == 503]
    headers = [
        *retry,
        (b"content-type", PROBLEM.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


ENDLESS: Final = "/events"  # a stream has no end, and a HEAD of it would have none either
ALLOW: Final = b"allow"


class Methods:
    """Around the routes: HEAD is GET without the body, which the server leaves out, and `Allow` says all that
    a path takes. The framework says of several routes on one path only what the first one is.
    """

    def __init__(self, app: Litestar) -> None:
        self._app = app
        self._allowed = {route.path: set(getattr(route, "methods", ())) for route in app.routes}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        asked = scope["method"]
        if asked == "HEAD" and not scope["path"].endswith(ENDLESS):
            scope = {**scope, "method": "GET"}

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = self._allowed.get(scope.get("path_template", "")) if asked == "OPTIONS" else None
                message["headers"] = [
                    (name, _all(value, known) if name.lower() == ALLOW else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await self._app(scope, receive, answer)


def _all(value: bytes, known: set[str] | None) -> bytes:
    names = {each.strip() for each in value.decode().split(",")} | (known or set())
    if "GET" in names:
        names.add("HEAD")
    return ", ".join(sorted(names)).encode()
