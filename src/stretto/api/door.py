"""What every request passes first: is it let in, what is its id, has its body come in time."""

import asyncio
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any, Final

from litestar.types import ASGIApp, Message, Receive, Send

from stretto.api.cursors import cursor_text
from stretto.api.encodings import decoded, without_refused
from stretto.api.errors import PROBLEM, problem_body
from stretto.api.feed import Feed
from stretto.api.origins import why_not
from stretto.api.request_ids import HEADER, mark
from stretto.api.settings import ServerSettings
from stretto.api.slashes import unquoted
from stretto.model.errors import TimedOut
from stretto.ports.clock import Clock

CURSOR: Final = b"stretto-cursor"  # every change that is not in the answer comes behind it
PREFIX: Final = "/api/v3/"
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
        self._body_within = settings.body_within / 1_000
        self._date = (0, b"")

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        request_id = mark(scope)
        headers = [*FIXED, (HEADER, request_id), (b"date", self._now())]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _merged(message.get("headers", ()), headers)
            await send(message)

        refusal = why_not(scope["method"], scope["headers"])
        if refusal is not None:
            await _refuse(answer, problem_body(403, refusal, scope["path"], request_id.decode()))
            return
        if scope["method"] == "GET" and scope["path"].startswith(PREFIX):
            place = await self._feed.end_text(cursor_text)  # before anything is read
            headers += [] if place is None else [(CURSOR, place.encode())]
        raw = scope.get("raw_path") or b""
        if b"%2f" in raw.lower():
            scope["path"] = unquoted(raw.decode("ascii"))
        scope["headers"] = without_refused(scope["headers"])
        await self._app(scope, decoded(scope, self._timed(receive)), answer)

    def _timed(self, receive: Receive) -> Receive:
        """The body must have come when its time is up, however slowly it began."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._body_within
        complete = False

        async def next_part() -> Any:
            nonlocal complete
            if complete:  # now only the end of the connection can come
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                complete = True
                raise TimedOut(
                    f"The body of the request did not come within {self._body_within:g} s"
                ) from None
            complete = not message.get("more_body", False)
            return message

        return next_part

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


async def _refuse(send: Send, body: bytes) -> None:
    headers = [
        (b"content-type", PROBLEM.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
