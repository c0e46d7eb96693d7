"""Records as answers: written by the wire codec of the type that a route says it returns."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, get_args, get_origin

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import Message, Receive, Scope, Send

from stretto.actions.parts.offload import MANY, offload
from stretto.actions.preview import Preview
from stretto.api.errors import PROBLEM, RETRY_AFTER, problem_body
from stretto.api.request_ids import id_of
from stretto.model.wire import codec_of, json_slices, to_json, weight

LARGE: Final = 5_000  # values in an answer from which on a thread writes it


class Wire(Response[Any]):
    """JSON of a record. Text stays text, and nothing is an empty body."""

    texts: ClassVar[str] = "text/plain"

    def to_asgi_response(  # type: ignore[override]  # the rest of the arguments is handed on as it comes
        self, app: None, request: Request[Any, Any, Any], **rest: Any
    ) -> "ASGIResponse | LargeAnswer":
        if self.content is None:
            self.content, self.media_type = "", self.texts
        elif isinstance(self.content, str):
            self.media_type = self.texts
        else:
            told = request.route_handler.parsed_fn_signature.return_type.annotation
            tp = Preview if isinstance(self.content, Preview) else told
            if weight(self.content, LARGE) > LARGE:
                return LargeAnswer(self, tp, request, rest)
            self.content = to_json(codec_of(tp).encode(self.content))
        return super().to_asgi_response(app, request, **rest)


class LargeAnswer:
    """An answer that is written in a thread, in slices, before it is sent."""

    def __init__(self, answer: Wire, tp: Any, request: Request[Any, Any, Any], rest: dict[str, Any]) -> None:
        self._answer = answer
        self._tp = tp
        self._request = request
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held = [self._answer.content]  # for the thread alone, which frees the record element by element
        self._answer.content = None
        body = await offload(MANY, last_json_of, held, self._tp)
        made = Response.to_asgi_response(
            Response(body, media_type=self._answer.media_type, status_code=self._answer.status_code),
            None,
            self._request,
            **self._rest,
        )
        await made(scope, receive, send)


def json_of(record: Any, tp: Any) -> bytes:
    """JSON text of a record of any size, for a thread."""
    if get_origin(tp) is list:
        return b"".join(list_slices(record, tp))
    return b"".join(json_slices(codec_of(tp).encode(record)))


def last_json_of(held: list[Any], tp: Any) -> bytes:
    """The same of a record that nobody needs afterwards. To free thousands of elements at once holds the
    interpreter about as long as to write them, so each is freed when it is written.
    """
    record = held.pop()
    if get_origin(tp) is not list:
        return json_of(record, tp)
    elements = list(reversed(record))
    del record
    return b"".join(list_slices(taken(elements), tp))


def taken(elements: list[Any]) -> Iterator[Any]:
    while elements:
        yield elements.pop()


def list_slices(elements: Iterable[Any], tp: Any) -> Iterator[bytes]:
    """A list is written element by element, so that the values of all elements need not be there at once."""
    (inner,) = get_args(tp)
    encode = codec_of(inner).encode
    yield b"["
    for number, each in enumerate(elements):
        yield b"," if number else b""
        yield from json_slices(encode(each))
    yield b"]"


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
