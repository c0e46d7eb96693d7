"""Calls that listen: follow what happens, and wait for the end of a run.

Whatever breaks on the way is mended: the stream is opened again behind the last message that came, so that
nothing is lost and nothing comes twice.
"""

import time
from collections.abc import Callable
from typing import Final

from stretto.client.names import Place, RunName, place_of
from stretto.client.steps import Answer, Hear, Listen, Pause, Request, Send, Talk, Telling
from stretto.client.stream import Changed, Happening, Moved, Resync, Stream
from stretto.client.talking import API, RECONNECTS, SILENCE, Ask, Talking
from stretto.model.errors import TimedOut
from stretto.model.event import InstanceStatusChanged
from stretto.model.instance import WorkflowInstance

CURSOR: Final = "stretto-cursor"
SHORTEST: Final = 0.05  # seconds that are listened at all
NOTHING: Final = Answer()

Patience = Callable[[], float]  # seconds that are left
Heard = Changed | Resync | Moved


class ListeningCalls(Talking):
    """See `conversation`."""

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def cursor(self) -> Talk[str | None]:
        """A place in the log of changes: whatever is read from now on, and lacks a change, lacks one that
        comes behind it. Take it, read, then follow from there.
        """
        ask = Ask[object](request=self._request("GET", f"{API}/me"), reads=object)
        answer = self._answer(ask, (yield from self._reply(ask)))
        return answer.headers.get(CURSOR)

    def follow(self, *topics: str, cursor: str | None = None) -> Telling[Happening]:
        """What happens from a cursor on, or from now on, without an end. Topics are `workflow:ID` and
        `run:WORKFLOW/INSTANCE/RUN`; without any it is everything.
        """
        heard = self._listen(topics, cursor, lambda: SILENCE)
        item = next(heard)
        while True:
            if isinstance(item, Send | Listen | Hear | Pause):
                item = heard.send((yield item))
            else:
                if not isinstance(item, Moved):
                    yield item
                item = heard.send(NOTHING)

    def follow_run(self, run: RunName, *, cursor: str | None = None) -> Telling[Happening]:
        """What happens to a run and its steps, from a cursor on or from now on, until the run has ended."""
        return self._follow_run(place_of(run), cursor, lambda: SILENCE)

    def wait(self, run: RunName, *, within: float | None = None) -> Talk[WorkflowInstance]:
        """The run, once it has ended; `TimedOut` if that takes more than so many seconds."""
        place = place_of(run)
        end = None if within is None else self.clock() + within

        def left() -> float:
            seconds = SILENCE if end is None else end - self.clock()
            if seconds <= 0:
                raise TimedOut(
                    f"run {'/'.join(map(str, filter(None, place)))} has not ended within {within:g} s"
                )
            return max(SHORTEST, min(SILENCE, seconds))

        yield from _silently(self._follow_run(place, None, left))
        found, _cursor = yield from self._standing(place, enriched=True)
        return found

    # ------------------------------------------------------------------------------------------------- parts
    def _follow_run(self, place: Place, cursor: str | None, left: Patience) -> Telling[Happening]:
        found, here = yield from self._standing(place)
        over = found.run_status.is_terminal
        if over and cursor is None:
            return
        place = Place(found.workflow_id, found.workflow_instance_id, found.workflow_run_id)
        heard = self._listen((f"run:{'/'.join(map(str, place))}",), cursor or here, left)
        item = next(heard)
        while True:
            if isinstance(item, Send | Listen | Hear | Pause):
                item = heard.send((yield item))
                continue
            left()
            if not isinstance(item, Moved):
                yield item
            if isinstance(item, Resync):
                found, _here = yield from self._standing(place)
                over = found.run_status.is_terminal
            if _ends(item, over=over):
                return
            item = heard.send(NOTHING)

    def _standing(self, place: Place, *, enriched: bool = False) -> Talk[tuple[WorkflowInstance, str | None]]:
        """A run as it is, and a cursor before everything that the answer lacks."""
        request = self._request("GET", API + place.path, {"enriched": enriched})
        ask = Ask[WorkflowInstance](request=request, reads=WorkflowInstance)
        answer = self._answer(ask, (yield from self._reply(ask)))
        return self._read(ask, answer), answer.headers.get(CURSOR)

    def _listen(self, topics: tuple[str, ...], cursor: str | None, left: Patience) -> Telling[Heard]:
        """Everything that is heard, over as many connections as it takes."""
        tried, was_there = 0, False
        while True:
            request = self._listening(topics, cursor, left())
            reply = yield Listen(request)
            stream = Stream()
            while isinstance(reply, Answer) and reply.status < 300:
                was_there = True
                reply = yield Hear()
                for each in stream.feed(reply.body) if isinstance(reply, Answer) else ():
                    tried, cursor = 0, each.cursor
                    yield each
                if left() < request.within / 2:  # the rest is listened to with less patience
                    break
            else:
                tried += 1
                self._check_hope(request, reply, tried, RECONNECTS if was_there else self.retries.tries)
                yield Moved(cursor=cursor)
                yield Pause(min(left(), self.retries.back_off(tried)))

    def _listening(self, topics: tuple[str, ...], cursor: str | None, within: float) -> Request:
        return Request(
            method="GET",
            path=f"{API}/events",
            query=tuple(("topic", each) for each in topics),
            headers={} if cursor is None else {"last-event-id": cursor},
            within=within,
        )


def _ends(item: Heard, *, over: bool) -> bool:
    """Whether nothing more will come: the end is told, or the run has ended and nothing has come since."""
    match item:
        case Changed():
            return any(
                isinstance(each, InstanceStatusChanged) and each.new_status.is_terminal
                for each in item.events
            )
        case Resync():
            return over
        case _:
            return over and item.quiet


def _silently(telling: Telling[Happening]) -> Talk[None]:
    """Let it go on to its end; what it tells is for nobody."""
    try:
        item = next(telling)
        while True:
            item = telling.send((yield item) if isinstance(item, Send | Listen | Hear | Pause) else NOTHING)
    except StopIteration:
        return
