"""Calls about what steps print."""

from collections.abc import Iterable
from typing import Final

import msgspec

from stretto.actions.reading.log_pages import LogEntry, LogPage, LogPlace
from stretto.client.names import LATEST, RunName, place_of, quoted
from stretto.client.steps import Answer, Hear, Listen, Pause, Request, Talk, Telling
from stretto.client.stream import Messages, body_of
from stretto.client.talking import API, RECONNECTS, SILENCE, Ask, Talking, Value

OVERLAP: Final = 10_000  # milliseconds that are asked for again, of several steps: a line may be told late


class LogCalls(Talking):
    """See `conversation`."""

    def logs(  # noqa: PLR0913 - one for each parameter
        self,
        run: RunName,
        step_id: str | None = None,
        attempt: str | int = LATEST,
        *,
        from_line: int | None = None,
        limit: int | None = None,
        tail: int | None = None,
        find: str = "",
        streams: Iterable[str] = (),
    ) -> Talk[LogPage]:
        """What a step has printed, or all steps of a run: `limit` lines from `from_line` on (the `next_line`
        of the page before), or the last `tail` ones; with `find` only those that have a text in them.
        """
        query: dict[str, Value] = {"from_line": from_line, "limit": limit, "tail": tail, "find": find or None}
        request = self._request("GET", _path(run, step_id, attempt), query)
        return self._ask(Ask[LogPage](request=_with_streams(request, streams), reads=LogPage))

    def follow_logs(
        self,
        run: RunName,
        step_id: str | None = None,
        attempt: str | int = LATEST,
        *,
        tail: int | None = None,
        find: str = "",
        streams: Iterable[str] = (),
    ) -> Telling[LogEntry | LogPlace]:
        """What a step has printed and prints, until it has ended, or all steps of a run until that has; also
        where output is kept that this server can not read. A stream that breaks is opened again where it was.
        """
        heard = _Heard(has_step=step_id is not None, tail=tail)
        tried, was_there, chosen = 0, False, tuple(streams)
        path = f"{_path(run, step_id, attempt)}/events"
        while True:
            request = self._request("GET", path, {"find": find or None, **heard.query})
            request = heard.resumed(_with_streams(request, chosen))
            reply = yield Listen(request)
            messages = Messages()
            while isinstance(reply, Answer) and reply.status < 300:
                was_there = True
                reply = yield Hear()
                for fields in messages.feed(reply.body) if isinstance(reply, Answer) else ():
                    tried = 0
                    if fields.get("event") == "end":
                        return
                    for each in heard.news(fields):  # noqa: UP028 - what is sent to it is for nobody
                        yield each
            tried += 1
            self._check_hope(request, reply, tried, RECONNECTS if was_there else self.retries.tries)
            yield Pause(self.retries.back_off(tried))


class _Heard:
    """Which lines were told, so that none is told twice when the stream is opened again."""

    def __init__(self, *, has_step: bool, tail: int | None) -> None:
        self._has_step = has_step
        self._tail = tail
        self._place: str | None = None  # of a step
        self._newest = 0  # when the newest line was printed
        self._lines: dict[tuple[str, int], int] = {}

    @property
    def query(self) -> dict[str, Value]:
        if not self._lines:
            return {"tail": self._tail}
        return {} if self._has_step else {"since": max(0, self._newest - OVERLAP)}

    def resumed(self, request: Request) -> Request:
        headers = {} if self._place is None else {"last-event-id": self._place}
        return msgspec.structs.replace(request, headers=headers, within=SILENCE)

    def news(self, fields: dict[str, str]) -> list[LogEntry | LogPlace]:
        """What a message tells. One that only a newer server knows tells nothing."""
        self._place = fields.get("id", self._place)
        match fields.get("event"):
            case "elsewhere":
                place: LogPlace = body_of(LogPlace, fields)
                return [place]
            case "lines":
                lines: list[LogEntry] = body_of(dict[str, list[LogEntry]], fields).get("lines", [])
                return [each for each in lines if self._is_news(each)]
            case _:
                return []

    def _is_news(self, line: LogEntry) -> bool:
        key = (line.step_id, line.step_attempt_id)
        if line.line <= self._lines.get(key, 0):
            return False
        self._lines[key] = line.line
        self._newest = max(self._newest, line.at)
        return True


def _path(run: RunName, step_id: str | None, attempt: str | int) -> str:
    path = API + place_of(run).path
    if step_id is None:
        return f"{path}/logs"
    return f"{path}/steps/{quoted(step_id)}/attempts/{quoted(str(attempt))}/logs"


def _with_streams(request: Request, streams: Iterable[str]) -> Request:
    query = (*request.query, *(("stream", each) for each in streams))
    return msgspec.structs.replace(request, query=query)
