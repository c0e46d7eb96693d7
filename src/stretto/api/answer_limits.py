"""How much memory the answers take that clients have not read yet, all together."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from litestar.types import Message, Send

from stretto.api.errors import PROBLEM, RETRY_AFTER, problem_body
from stretto.api.request_ids import id_of

PART: Final = 64 * 1024  # bytes of an answer that do not count: every connection may have so many
STALLED: Final = 1.0  # seconds without a part of an answer being taken, after which it may be cut off
KEY: Final = "stretto_answer"  # of the scope of a request
CUT: Final = "stretto_cut"  # there, too: how to end the connection
FULL: Final = "Answers that other clients do not read leave no room for this one now (server.answers)"


class Answers:
    """The large answers that are on their way."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[Answer, None] = {}
        self.kept = 0

    def take(self, answer: "Answer", size: int) -> bool:
        """Whether there is room; those that nobody reads make room, the longest unread first. One that is
        larger than all of it is taken when there is no other.
        """
        now = asyncio.get_running_loop().time()
        for each in sorted(self._waiting, key=lambda each: each.moved_at):
            if self._fits(size) or now - each.moved_at < STALLED:
                break
            each.cut()
        if not self._fits(size):
            return False
        self._waiting[answer] = None
        self.kept += size
        return True

    def give(self, answer: "Answer", size: int) -> None:
        if answer in self._waiting:
            del self._waiting[answer]
            self.kept -= size

    def _fits(self, size: int) -> bool:
        return not self.kept or self.kept + size <= self._most


class Answer:
    """One answer."""

    def __init__(self, answers: Answers, cut: Callable[[], None] | None) -> None:
        self._answers = answers
        self._cut = cut
        self._size = 0
        self.moved_at = 0.0

    def keep(self, size: int) -> bool:
        """Whether so many bytes may wait until the client takes them."""
        self.moved()
        self._size = size
        return self._answers.take(self, size)

    def moved(self) -> None:
        """The client has taken a part."""
        self.moved_at = asyncio.get_running_loop().time()

    def cut(self) -> None:
        """End the connection: whoever sends the answer hears of it, and lets go of it."""
        self.done()
        if self._cut is not None:
            self._cut()

    def done(self) -> None:
        self._answers.give(self, self._size)


def answer_of(scope: Any) -> Answer:
    """The answer to a request that came in by the door."""
    found: Answer = scope[KEY]
    return found


def with_room(scope: Any, send: Send) -> Send:
    """Sends an answer if there is room for what the client has not read of it; else one that says so. For an
    answer that comes as a whole: its head waits for its body.
    """
    head: list[Message] = []
    is_refused = False

    async def sending(message: Any) -> None:
        nonlocal is_refused
        if is_refused:
            return
        if message["type"] == "http.response.start" and _is_whole(message):
            head.append(message)
            return
        if head:
            size = len(message.get("body", b""))
            if size > PART and not answer_of(scope).keep(size):
                is_refused = True
                await refuse(scope, send)
                return
            await send(head.pop())
        await send(message)

    return sending


def _is_whole(message: Any) -> bool:
    lengths = [int(value) for name, value in message.get("headers", ()) if name.lower() == b"content-length"]
    return max(lengths, default=0) > PART


async def refuse(scope: Any, send: Send) -> None:
    """Say that there is no room, in place of an answer that has not begun."""
    body = problem_body(503, FULL, scope["path"], id_of(scope))
    retry = [(name.encode(), value.encode()) for name, value in RETRY_AFTER.items()]
    kind = (b"content-type", PROBLEM.encode())
    headers = [*retry, kind, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
