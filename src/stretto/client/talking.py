"""One question and its answer, with repetitions: what every call is made of."""

from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

import msgspec

from stretto.client.refusals import no_answer, not_understood, refusal
from stretto.client.retries import BUSY, TOO_MANY, Again, Retries
from stretto.client.steps import JSON, Answer, Broken, Pause, Reply, Request, Send, Talk
from stretto.model.problem import Code
from stretto.model.wire import decode, encode, loads, to_json

T = TypeVar("T")

API: Final = "/api/v3"
QUEUED: Final = "queued"  # what a start and a restart ask for beyond Maestro's fields
SILENCE: Final = 45.0  # seconds: on a stream the server gives a sign of life every 15
RECONNECTS: Final = 30  # in a row: a server that was there is waited for about two minutes
Value = str | int | bool | None


class Ask(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A request, and how its answer is read."""

    request: Request
    reads: Any
    again: Again = Again.SAFE
    accepts: frozenset[int] = frozenset()  # statuses above 299 that are answers here


class Talking:
    """Makes questions, and asks them."""

    def __init__(self, server: str, *, within: float = 30.0, retries: Retries | None = None) -> None:
        self.server = server
        self.within = within
        self.retries = retries or Retries()

    # -------------------------------------------------------------------------------------------- questions
    def _get(self, tp: type[T], path: str, /, **query: Value) -> Talk[T]:
        return self._ask(Ask(request=self._request("GET", API + path, query), reads=tp))

    def _act(
        self, tp: type[T], path: str, body: Any = None, /, *, again: Again = Again.UNSENT, **query: Value
    ) -> Talk[T]:
        """`body`: a record, or something that is JSON already."""
        if isinstance(body, msgspec.Struct):
            body = encode(body)
        text = None if body is None else to_json(body)
        return self._ask(Ask(request=self._request("POST", API + path, query, text), reads=tp, again=again))

    def _act_once(self, tp: type[T], path: str, reason: str) -> Talk[T]:
        """An action without a body. It has an id: sent again, it is answered as the first time."""
        own_id = str(uuid4())
        return self._act(tp, path, again=Again.SAFE, reason=reason or None, request_id=own_id)

    def _request(
        self,
        method: str,
        path: str,
        query: dict[str, Value] | None = None,
        body: bytes | None = None,
        media: str = JSON,
    ) -> Request:
        return Request(
            method=method,
            path=path,
            query=tuple((name, _text(value)) for name, value in (query or {}).items() if value is not None),
            headers={} if body is None else {"content-type": media},
            body=body,
            within=self.within,
        )

    # ------------------------------------------------------------------------------------------------ asking
    def _ask(self, ask: Ask[T]) -> Talk[T]:
        reply = yield from self._reply(ask)
        result: T = self._read(ask, self._answer(ask, reply))
        return result

    def _reply(self, ask: Ask[Any]) -> Talk[Reply]:
        """The first reply that counts."""
        tried = 1
        while True:
            reply = yield Send(ask.request)
            pause = self.retries.pause(ask.again, reply, tried)
            if pause is None:
                return reply
            tried += 1
            yield Pause(pause)

    def _answer(self, ask: Ask[Any], reply: Reply) -> Answer:
        if isinstance(reply, Broken):
            raise no_answer(self.server, ask.request, reply, safe=ask.again is not Again.UNSENT)
        if reply.status >= 300 and reply.status not in ask.accepts:
            raise refusal(self.server, reply)
        return reply

    def _check_hope(self, request: Request, reply: Reply, tried: int, most: int) -> None:
        """Of a stream that ended: raise what is no passing trouble, or has lasted for too long."""
        if isinstance(reply, Broken):
            if tried >= most:
                raise no_answer(self.server, request, reply, safe=True)
        elif tried >= most or reply.status not in {*BUSY, TOO_MANY}:
            raise refusal(self.server, reply)

    def _read(self, ask: Ask[Any], answer: Answer) -> Any:
        """Fields that a newer server has and this client does not know are left out."""
        try:
            value = loads(answer.body)
        except ValueError:
            raise not_understood(self.server, "it is not JSON") from None
        record, problems = decode(ask.reads, value)
        wrong = [each for each in problems if each.code != Code.UNKNOWN_FIELD]
        if wrong:
            raise not_understood(self.server, str(wrong[0]))
        return record


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
