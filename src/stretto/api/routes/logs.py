"""What steps print, by lines.

.../logs           a page: `from_line` and `limit`, or `tail`; `find` keeps the lines with a text
.../logs/events    what is there and what comes, as server-sent events (see `events`): `lines`, whose id is
                   the attempt and the line behind which one goes on; `elsewhere`, if another machine keeps
                   the output; `end`, when nothing more comes
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, Final

from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream as Streaming

from stretto.actions.parts.finding import LATEST, find_run
from stretto.actions.parts.numbers import number_in
from stretto.actions.reading.log_pages import MOST, SOME, LogEntry, LogFollower, LogPage, LogQuery
from stretto.actions.reading.log_target import LogTarget, target_in
from stretto.api.desk import Call
from stretto.api.routes.events import BEAT_EVERY, HEADERS, MEDIA_TYPE
from stretto.api.routing import MOST as HIGHEST
from stretto.api.routing import Calling, Name, Number, Text, gets
from stretto.model.errors import InvalidRequest, Unavailable
from stretto.model.wire import encode, to_json
from stretto.ports.clock import steady_millis
from stretto.ports.logs import LOG, STDERR, STDOUT, Stream

LOOK_EVERY: Final = 0.25  # seconds between two looks: nobody tells that something was printed
ALIVE: Final = b": alive\n\n"
RUN: Final = "/workflows/{workflow_id}/instances/{instance_id}/runs/{run}"
ATTEMPT: Final = f"{RUN}/steps/{{step_id}}/attempts/{{attempt}}"
STREAMS: Final[dict[str, Stream]] = {STDOUT: STDOUT, STDERR: STDERR, LOG: LOG}

FromLine = Annotated[int, QueryParameter(ge=1, le=HIGHEST)]
Limit = Annotated[int, QueryParameter(ge=1, le=MOST)]
Tail = Annotated[int | None, QueryParameter(ge=0, le=MOST)]
Since = Annotated[int, QueryParameter(ge=0, le=HIGHEST)]
Streams = Annotated[list[str] | None, QueryParameter(name="stream")]
LastId = Annotated[str | None, HeaderParameter(name="last-event-id")]


@gets(f"{ATTEMPT}/logs")
async def read_log(  # noqa: PLR0913, PLR0917 - one for each parameter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    step_id: Name,
    attempt: Name,
    from_line: FromLine = 1,
    limit: Limit = SOME,
    tail: Tail = None,
    find: Text = "",
    stream: Streams = None,
    since: Since = 0,
) -> LogPage:
    """What an attempt of a step (a number, or `latest`) has printed: `limit` lines from `from_line` on, or
    the last `tail` ones; with `find` those that have a text in them. `stream`: `stdout`, `stderr`, `log`, or
    several. `since`: printed from this moment on, in milliseconds.
    """
    query = _query(from_line=from_line, limit=limit, tail=tail, find=find, streams=stream, since=since)
    target = await _target(call, workflow_id, instance_id, run, step_id, attempt)
    return await call.desk.logs.page(target, query)


@gets(f"{RUN}/logs")
async def read_log_of_run(  # noqa: PLR0913, PLR0917 - one for each parameter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    from_line: FromLine = 1,
    limit: Limit = SOME,
    tail: Tail = None,
    find: Text = "",
    stream: Streams = None,
    since: Since = 0,
) -> LogPage:
    """The same for the newest attempts of all steps of a run, in the order in which they printed; `from_line`
    counts over all of them.
    """
    query = _query(from_line=from_line, limit=limit, tail=tail, find=find, streams=stream, since=since)
    target = await _target(call, workflow_id, instance_id, run)
    return await call.desk.logs.page(target, query)


@gets(f"{ATTEMPT}/logs/events")
async def follow_log(  # noqa: PLR0913, PLR0917 - one for each parameter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    step_id: Name,
    attempt: Name,
    tail: Tail = None,
    find: Text = "",
    stream: Streams = None,
    since: Since = 0,
    last_id: LastId = None,
) -> Streaming:
    """What a step has printed and prints, until it has ended, as server-sent events; of `latest` also further
    attempts. `tail`: of what is there only the last lines. Whoever sends `Last-Event-ID` goes on behind it.
    """
    query = _query(tail=tail, find=find, streams=stream, since=since)
    target = await _target(call, workflow_id, instance_id, run, step_id, attempt)
    return await _streaming(
        call, target, LogFollower(call.desk.logs, target, query, after=_place_in(last_id))
    )


@gets(f"{RUN}/logs/events")
async def follow_log_of_run(  # noqa: PLR0913, PLR0917 - one for each parameter
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    tail: Tail = None,
    find: Text = "",
    stream: Streams = None,
    since: Since = 0,
) -> Streaming:
    """The same for all steps of a run, until the run has ended. A client that comes back asks with `since`,
    and drops the lines that it has: each has its number in its attempt.
    """
    query = _query(tail=tail, find=find, streams=stream, since=since)
    target = await _target(call, workflow_id, instance_id, run)
    return await _streaming(call, target, LogFollower(call.desk.logs, target, query))


async def _target(
    call: Call,
    workflow_id: str,
    instance_id: int,
    run: str,
    step_id: str | None = None,
    attempt: str = LATEST,
) -> LogTarget:
    row = await find_run(call.store, workflow_id, instance_id, run)
    return await target_in(call.store, call.reader, row, step_id, attempt)


def _query(*, streams: list[str] | None, **rest: Any) -> LogQuery:
    for each in streams or ():
        if each not in STREAMS:
            raise InvalidRequest(f"Invalid stream [{each[:80]}]", hint=f"one of {', '.join(STREAMS)}")
    query = LogQuery(streams=frozenset(STREAMS[each] for each in streams or ()), **rest)
    query.check()
    return query


def _place_in(text: str | None) -> tuple[int, int]:
    """The attempt and the line that were heard last."""
    attempt, _, line = (text or "0:0").partition(":")
    numbers = number_in(attempt), number_in(line)
    if numbers[0] is None or numbers[1] is None:
        raise InvalidRequest(f"Invalid Last-Event-ID [{(text or '')[:80]}]", hint="such as 1:204")
    return numbers[0], numbers[1]


# ---------------------------------------------------------------------------------------------------- stream
async def _streaming(call: Call, target: LogTarget, follower: LogFollower) -> Streaming:
    """What is refused, is refused before the stream begins."""
    rounds = _rounds(call, target, follower)
    first = await anext(rounds, ALIVE)

    async def told() -> AsyncIterator[bytes]:
        yield first
        async for each in rounds:
            yield each

    return Streaming(told(), media_type=MEDIA_TYPE, headers=HEADERS)


async def _rounds(call: Call, target: LogTarget, follower: LogFollower) -> AsyncIterator[bytes]:
    """Until nothing more comes, the client goes, or the server does."""
    desk = call.desk
    spoke = steady_millis(desk.clock) - BEAT_EVERY
    while not desk.feed.closed.is_set():
        with suppress(Unavailable):  # a database that is away is waited for
            async for lines in follower.round():
                spoke = steady_millis(desk.clock)
                yield _lines(lines, target)
            for place in await follower.elsewhere():
                yield _message("elsewhere", encode(place))
            if follower.is_over:
                yield _message("end", {})
                return
        if steady_millis(desk.clock) - spoke >= BEAT_EVERY:
            spoke = steady_millis(desk.clock)
            yield ALIVE
        with suppress(TimeoutError):
            await asyncio.wait_for(desk.feed.closed.wait(), LOOK_EVERY)


def _lines(lines: list[LogEntry], target: LogTarget) -> bytes:
    last = lines[-1]
    place = b"id: %d:%d\n" % (last.step_attempt_id, last.line) if target.has_step else b""
    return place + _message("lines", {"lines": [encode(each) for each in lines]})


def _message(name: str, body: Any) -> bytes:
    """JSON of ours has no line breaks, so it is one line of data."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), to_json(body))


ROUTES: Final = (read_log, read_log_of_run, follow_log, follow_log_of_run)
