"""Live events, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

The id of a message is the place behind it. Who comes back with the last id, as browsers do by themselves,
goes on there, with the same topics or others. Of messages that are told together only the last has one: who
is cut off between two of them hears the others again. `hello` comes first, `resync` when what follows is not
kept.

    level=full   `changes`: every move of what one commit has changed, with the fields of Maestro's events
    level=view   `run`, `step`, `workflow`, `home`, `approval`, `node`: where things stand now that have
                 changed, of each topic at most four times a second and 64 KB at once; `resync` of a topic:
                 read it anew
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Final

from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

import stretto
from stretto.actions.caller import Caller
from stretto.actions.parts.offload import offload
from stretto.actions.reading.changes_view import Changes, read_changes, sent
from stretto.actions.reading.instances import get_instance
from stretto.actions.reading.live import Gathering, Told
from stretto.actions.reading.topics import Topic, instance_in, topic_named, topics_in
from stretto.api.cursors import cursor_in, cursor_text
from stretto.api.desk import Desk
from stretto.api.routing import Calling, OptionalText, Text, gets
from stretto.api.words import word_in
from stretto.model.errors import StrettoError, Unavailable
from stretto.model.event import ChangeEvent
from stretto.model.wire import codec_of, to_json
from stretto.model.words import Word
from stretto.ports.events import Cursor, Trimmed

BEAT_EVERY: Final = 15_000  # milliseconds between two signs of life
TELL_EVERY: Final = 250  # milliseconds between two messages of a topic that a screen hears
TELL_ANYHOW: Final = 2_000  # milliseconds, if more and more comes meanwhile
LOOK_EVERY: Final = 2_000  # milliseconds between two looks at the nodes
NOT_KEPT: Final = "the events after the cursor are not kept"
MEDIA_TYPE: Final = "text/event-stream"
# Nobody on the way may keep it for later.
HEADERS: Final = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}

TopicNames = Annotated[list[str] | None, QueryParameter(name="topic")]
LastId = Annotated[str | None, HeaderParameter(name="last-event-id")]


class Level(Word):
    """How much somebody wants to hear."""

    FULL = "full"
    VIEW = "view"


@gets("/events")
async def read_events(
    call: Calling,
    topic: TopicNames = None,
    cursor: OptionalText = None,
    level: Text = "full",
    workflow: OptionalText = None,
    run: OptionalText = None,
    last_id: LastId = None,
) -> Stream:
    """Changes from a cursor on, or from now on, as server-sent events: `topic=run:WORKFLOW/INSTANCE/RUN`,
    `workflow:ID`, `runs?workflow=ID&tag=NAME&root=yes`, `home`, `approvals`, `cluster`, several, or all.
    `workflow=ID`, with `run=INSTANCE/RUN` or `run=INSTANCE` (its newest) or without, is a topic, too.
    `level`: `full` is every move, as Maestro's events; `view`, for screens, where things stand, four times a
    second at most.
    """
    instance = None if run is None else instance_in(workflow, run)
    if instance is not None:
        newest = await get_instance(call.store, call.reader, *instance, enriched=False)
        workflow, run = newest.workflow_id, f"{newest.workflow_instance_id}/{newest.workflow_run_id}"
    topics = topics_in([*(topic or ()), *topic_named(workflow, run)])
    given = last_id or cursor
    begin = cursor_in(given) if given else dict(await call.desk.feed.end())
    follow = _view if word_in(Level, level, "level") is Level.VIEW else _follow
    following = follow(call.desk, call.reader, topics, begin)
    return Stream(following, media_type=MEDIA_TYPE, headers=HEADERS)


# --------------------------------------------------------------------------------------------------- full
async def _follow(
    desk: Desk, reader: Caller, topics: Sequence[Topic], cursor: Cursor
) -> AsyncIterator[bytes]:
    """Every move, until the client goes, or the server does."""
    yield _hello(desk, cursor)
    beat = desk.clock.now()
    while not desk.feed.closed.is_set():
        parts: list[bytes] = []
        try:
            changes = await read_changes(desk.store, reader, topics, cursor)
            parts = await offload(_size(changes), _all_shown, changes, desk.cluster_name, desk.clock.now())
            cursor = changes[-1].cursor if changes else cursor
        except Trimmed:
            changes = ()
            cursor = await desk.store.newest_seqs()
            parts = [_message("resync", {"reason": NOT_KEPT}, cursor)]
        except Unavailable:
            changes = ()  # a database that is away is waited for
        parts = parts or _alive(cursor, desk.clock.now() - beat)
        if parts:
            beat = desk.clock.now()
            yield b"".join(parts)
        elif not changes:
            await desk.feed.wait()


# --------------------------------------------------------------------------------------------------- view
async def _view(desk: Desk, reader: Caller, topics: Sequence[Topic], cursor: Cursor) -> AsyncIterator[bytes]:
    """Where things stand, until the client goes, or the server does."""
    yield _hello(desk, cursor)
    gathered = [Gathering(topic) for topic in topics]
    told_at = looked_at = -LOOK_EVERY
    beat = desk.clock.now()
    while not desk.feed.closed.is_set():
        cursor, more = await _gather(desk, reader, topics, gathered, cursor)
        now = desk.clock.now()
        parts: list[bytes] = []
        # Behind a place that was read a while ago come moves that whoever read it has seen: only the last one
        # is told, unless there is no end to them.
        if now - told_at >= (TELL_ANYHOW if more else TELL_EVERY):
            looks = now - looked_at >= LOOK_EVERY
            parts = await _told(desk, gathered, cursor, looks=looks)
            looked_at = now if looks else looked_at
        told_at = now if parts else told_at
        if all(each.is_empty for each in gathered):
            parts = parts or _alive(cursor, now - beat)
        if parts:
            beat = now
            yield b"".join(parts)
        if not more:
            await desk.feed.wait()


async def _gather(
    desk: Desk, reader: Caller, topics: Sequence[Topic], gathered: Sequence[Gathering], cursor: Cursor
) -> tuple[Cursor, bool]:
    """Hand what has changed to the topics; returns the place behind it, and whether there may be more."""
    try:
        changes = await read_changes(desk.store, reader, topics, cursor, touching=True)
    except Trimmed:
        for each in gathered:
            each.lose(NOT_KEPT)
        return await desk.store.newest_seqs(), False
    except Unavailable:
        return cursor, False
    for change in changes:
        for each in gathered:
            each.take(change.events)
    return (changes[-1].cursor, True) if changes else (cursor, False)


async def _told(desk: Desk, gathered: Sequence[Gathering], cursor: Cursor, *, looks: bool) -> list[bytes]:
    """What is to be said. All of it is before the cursor: what can not be read now, is to be read anew."""
    messages: list[Told] = []
    for each in gathered:
        try:
            told = [] if each.is_empty else await each.tell(desk.store)
            if looks and each.wants_nodes:
                told += await each.tell_nodes(desk.store)
        except StrettoError:
            each.lose("the database did not answer")
            told = []
        messages += told
    last = len(messages) - 1
    return [
        _message(name, body, cursor if number == last else None)
        for number, (name, body) in enumerate(messages)
    ]


# ------------------------------------------------------------------------------------------------ messages
def _hello(desk: Desk, cursor: Cursor) -> bytes:
    return _message("hello", {"server_time": desk.clock.now(), "version": stretto.__version__}, cursor)


def _size(changes: Sequence[Changes]) -> int:
    return sum(len(each.events) for each in changes)


def _all_shown(changes: Sequence[Changes], cluster_name: str, now: int) -> list[bytes]:
    return [_shown(each, cluster_name, now) for each in changes if each.events]


def _shown(changes: Changes, cluster_name: str, now: int) -> bytes:
    events = [codec_of(ChangeEvent).encode(sent(each, cluster_name, now)) for each in changes.events]
    body = {"group": changes.group, "seq": changes.seq, "at": changes.at, "events": events}
    return _message("changes", body, changes.cursor)


def _message(name: str, body: dict[str, Any], cursor: Cursor | None) -> bytes:
    """JSON of ours has no line breaks, so it is one line of data."""
    place = b"" if cursor is None else b"id: %s\n" % cursor_text(cursor).encode()
    return b"%sevent: %s\ndata: %s\n\n" % (place, name.encode(), to_json(body))


def _alive(cursor: Cursor, silence: int) -> list[bytes]:
    """After a while a sign of life that nobody is told of, but that moves the id on over what was not asked
    for.
    """
    return [b": alive\nid: %s\n\n" % cursor_text(cursor).encode()] if silence >= BEAT_EVERY else []


ROUTES: Final = (read_events,)
