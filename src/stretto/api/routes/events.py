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

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Annotated, Final

from litestar.params import HeaderParameter, QueryParameter
from litestar.response import Stream

import stretto
from stretto.actions.caller import Caller
from stretto.actions.parts.offload import offload
from stretto.actions.reading.changes_view import Changes, read_changes
from stretto.actions.reading.instances import get_instance
from stretto.actions.reading.live import Gathering
from stretto.actions.reading.topics import Topic, instance_in, topic_named, topics_in
from stretto.api.cursors import cursor_in
from stretto.api.desk import Desk
from stretto.api.live.channel import MOST_WAITING, NOT_KEPT, Channel, LiveFollower, ViewChannel, told
from stretto.api.live.messages import Entry, changes_message, encode_event, id_of, message
from stretto.api.live.tail import SLICE
from stretto.api.routing import Calling, OptionalText, Text, gets, word_in
from stretto.model.errors import Unavailable
from stretto.model.words import Word
from stretto.ports.clock import steady_millis
from stretto.ports.events import Cursor, LogRow, Trimmed

BEAT_EVERY: Final = 15_000  # milliseconds between two signs of life
LEAST_WAIT: Final = 50  # milliseconds, if a sign of life is due and can not be given
TELL_ANYHOW: Final = 2_000  # milliseconds in which a screen that was behind hears something
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
    view = word_in(Level, level, "level") is Level.VIEW
    feed = call.desk.feed
    begin = cursor_in(given) if given else feed.tail.end or dict(await feed.end())
    following = _follow(call.desk, call.reader, topics, begin, view=view)
    return Stream(following, media_type=MEDIA_TYPE, headers=HEADERS)


# ------------------------------------------------------------------------------------------------ following
async def _follow(
    desk: Desk, reader: Caller, topics: Sequence[Topic], cursor: Cursor, *, view: bool
) -> AsyncIterator[bytes]:
    """Until the client goes, or the server does."""
    yield _hello(desk, cursor)
    follower, behind = LiveFollower(), Behind(desk, reader, topics, cursor, view=view)
    with desk.feed.tail.reading(), ExitStack() as stack:
        beat = steady_millis(desk.clock)
        while not desk.feed.closed.is_set():
            channel = behind.channel
            part = await (
                behind.advance(follower, stack) if channel is None else _next(desk, follower, channel, beat)
            )
            if part:
                yield part
                beat = steady_millis(desk.clock)


async def _next(desk: Desk, follower: LiveFollower, channel: Channel, beat: int) -> bytes:
    """What a follower is told next, if anything; in the end a sign of life."""
    tail = desk.feed.tail
    await follower.wait(max(LEAST_WAIT, beat + BEAT_EVERY - steady_millis(desk.clock)) / 1_000)
    if follower.lost is not None:
        async with tail.lock:
            if tail.end is not None:
                return channel.resync(follower.recover(), tail.end)
        await tail.looked()
        return b""
    part = follower.take()
    if part or steady_millis(desk.clock) - beat < BEAT_EVERY or tail.end is None or not channel.is_quiet:
        return part
    return b": alive\n%s\n" % id_of(tail.end)


class Behind:
    """A follower whose place is before the end of the log: it reads for itself until it has come there."""

    def __init__(
        self, desk: Desk, reader: Caller, topics: Sequence[Topic], cursor: Cursor, *, view: bool
    ) -> None:
        self.channel: Channel | None = None  # that it has joined
        self._desk = desk
        self._tail = desk.feed.tail
        self._losses = self._tail.losses
        self._reader = reader
        self._topics = topics
        self._cursor = dict(cursor)
        self._make: type[Channel] = ViewChannel if view else Channel
        self._gathered = [Gathering(topic) for topic in topics] if view else []
        self._told_at = steady_millis(desk.clock)

    async def advance(self, follower: LiveFollower, stack: ExitStack) -> bytes:
        """Join the others, if the tail keeps what comes behind the place, or else go on in the log; returns
        what is to be said.
        """
        try:
            if self._losses != self._tail.losses:
                return await self._lose()
            async with self._tail.lock:
                entries = self._tail.entries_behind(self._cursor)
                if entries is not None:
                    return await self._join(entries, follower, stack)
            return await self._read()
        except Trimmed:
            return await self._lose()
        except Unavailable:
            await self._tail.looked()  # a database that is away is waited for
            return b""

    # ---------------------------------------------------------------------------------------------- joining
    async def _join(self, entries: Sequence[Entry], follower: LiveFollower, stack: ExitStack) -> bytes:
        """Nothing is told to anybody meanwhile. Much is said before the follower joins: else it would be too
        slow from the beginning.
        """
        parts: list[bytes] = []
        size = 0
        for number, entry in enumerate(entries):
            try:
                places = await self._tail.wanted(self._topics, self._reader, entry, self._make.touching)
            except Unavailable:
                if parts:
                    return b"".join(parts)  # the place is behind them
                raise
            self._cursor[entry.row.group] = entry.row.seq
            for each in self._gathered:
                each.take([entry.row.events[place] for place in places])
            if places and not self._gathered:
                body = entry.body(places, self._tail.cluster_name, self._desk.clock.now())
                parts.append(id_of(self._cursor) + body)
                size += len(parts[-1])
            if size >= MOST_WAITING:
                return b"".join(parts)
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)
        joined = stack.enter_context(self._tail.attached(follower, self._topics, self._reader, self._make))
        if isinstance(joined, ViewChannel):
            parts = [await self._told(looks=True)]
            if len(joined.followers) == 1:
                joined.begin(self._gathered, steady_millis(self._desk.clock), told=bool(parts[0]))
        self.channel = joined
        return b"".join(parts)

    async def _told(self, *, looks: bool) -> bytes:
        """Where things stand; what can not be read is said, too."""
        store = self._desk.store
        part = await told(store, self._gathered, self._cursor, looks=looks)
        if not all(each.is_empty for each in self._gathered):
            part += await told(store, self._gathered, self._cursor, looks=False)
        return part

    # ---------------------------------------------------------------------------------------------- reading
    async def _read(self) -> bytes:
        changes = await read_changes(
            self._desk.store, self._reader, self._topics, self._cursor, touching=bool(self._gathered)
        )
        if changes:
            self._cursor = dict(changes[-1].cursor)
        else:
            await self._tail.looked()
        if not self._gathered:
            return await offload(_size(changes), self._shown, changes)
        for change in changes:
            for each in self._gathered:
                each.take(change.events)
        return await self._tell_anyhow()

    async def _tell_anyhow(self) -> bytes:
        """Only where things stand in the end is told, unless there is no end."""
        now = steady_millis(self._desk.clock)
        if now - self._told_at < TELL_ANYHOW or all(each.is_empty for each in self._gathered):
            return b""
        self._told_at = now
        return await self._told(looks=False)

    async def _lose(self) -> bytes:
        """The events behind the place are not kept: the follower reads anew."""
        losses = self._tail.losses
        self._cursor = await self._desk.store.newest_seqs()
        self._losses = losses
        if not self._gathered:
            return message("resync", {"reason": NOT_KEPT}, self._cursor)
        for each in self._gathered:
            each.lose(NOT_KEPT)
        return await self._told(looks=False)

    def _shown(self, changes: Sequence[Changes]) -> bytes:
        return b"".join(self._message(each) for each in changes if each.events)

    def _message(self, changes: Changes) -> bytes:
        name, now = self._desk.cluster_name, self._desk.clock.now()
        encoded = [encode_event(each, name, now) for each in changes.events]
        row = LogRow(group=changes.group, seq=changes.seq, at=changes.at, events=changes.events)
        return id_of(changes.cursor) + changes_message(row, encoded)


def _hello(desk: Desk, cursor: Cursor) -> bytes:
    return message("hello", {"server_time": desk.clock.now(), "version": stretto.__version__}, cursor)


def _size(changes: Sequence[Changes]) -> int:
    return sum(len(each.events) for each in changes)


ROUTES: Final = (read_events,)
