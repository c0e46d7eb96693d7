"""What every request passes first: is it let in, is there room for it, what is its id."""

import asyncio
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any, Final

from litestar.types import ASGIApp, Message, Receive, Send

from stretto.api.answer_limits import CUT, KEY, Answer, Answers, with_room
from stretto.api.body_limits import KEY as BODY
from stretto.api.body_limits import Bodies
from stretto.api.cursors import cursor_text
from stretto.api.encodings import decoded, without_refused
from stretto.api.errors import PROBLEM, RETRY_AFTER, problem_body
from stretto.api.feed import Feed
from stretto.api.origins import why_not
from stretto.api.request_ids import HEADER, mark
from stretto.api.settings import ServerSettings
from stretto.api.slashes import unquoted
from stretto.ports.clock import Clock

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
