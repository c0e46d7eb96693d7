"""Records as answers: written by the wire codec of the type that a route says it returns."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, get_args, get_origin

from litestar import Request, Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from stretto.actions.parts.offload import MANY, offload
from stretto.actions.preview import Preview
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
