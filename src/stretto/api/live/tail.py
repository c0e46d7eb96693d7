"""The end of the change log, read once for all followers of this process.

What the node of this process commits is handed over with its rows; what others commit is found by looking, as
long as somebody follows. Rows are numbered in their group, so that none is taken twice, and none left out.
The last ones are kept: who comes with a place that is not far back goes on from there without a statement.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import has_role
from stretto.actions.reading.listing import Sight
from stretto.actions.reading.topics import Topic, places_of
from stretto.api.live.channel import Channel, LiveFollower
from stretto.api.live.messages import Entry
from stretto.api.settings import ServerSettings
from stretto.model.errors import StrettoError
from stretto.ports.clock import Clock, steady_millis
from stretto.ports.events import Cursor, LogRow, Trimmed
from stretto.ports.store import Store

logger = logging.getLogger("stretto.api")

LOOK_EVERY: Final = 0.2  # seconds: what another process commits is not told to this one
LOOK_LATE: Final = 1.0  # seconds after which somebody who waits for a look goes on without
REST: Final = 0.02  # seconds in which commits are gathered
MOST_READ: Final = 32  # rows that are read at once: nobody else is served meanwhile
MOST_OFFERED: Final = 4_096  # rows that wait to be told; with more, they are read from the log
MOST_ROWS: Final = 2_048  # that are kept for who comes later
MOST_EVENTS: Final = 10_000
SLICE: Final = 32  # rows after which others have their turn


class Tail:
    """One for all followers. It reads while there are some."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.cluster_name = ServerSettings().cluster_name  # that events carry
        self._channels: dict[Hashable, Channel] = {}
        self._index: dict[Hashable, dict[Channel, None]] = {}  # where an event finds the channels it concerns
        self._entries: deque[Entry] = deque()
        self._events = 0
        self._floor: dict[int, int] = {}  # behind these places every row is kept
        self._end: dict[int, int] = {}  # up to these places every row was told
        self._offered: deque[LogRow] = deque()
        self._rung = asyncio.Event()
        self._due = asyncio.Event()
        self._called: dict[Channel, None] = {}  # that have something to say, now or later
        self._looked_at = -LOOK_EVERY
        self.losses = 0  # how often it was not known what has happened
        self._tasks: list[asyncio.Task[None]] = []
        self._looked = asyncio.Condition()
        self._readers = 0
        self.lock = asyncio.Lock()  # of who attaches: nobody comes between a row and those who hear it

    @property
    def end(self) -> Cursor | None:
        """The place up to which everything was told; None while nobody follows."""
        return dict(self._end) if self._end and self._tasks else None

    # -------------------------------------------------------------------------------------------- followers
    @contextmanager
    def reading(self) -> Iterator[None]:
        """The tail is read from here to the end of the block."""
        self._readers += 1
        if not self._tasks:
            self._entries.clear()
            self._offered.clear()
            self._events, self._floor, self._end, self._looked_at = 0, {}, {}, -LOOK_EVERY
            self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._tell())]
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                for task in self._tasks:
                    task.cancel()
                self._tasks = []

    def entries_behind(self, cursor: Cursor) -> list[Entry] | None:
        """What comes behind a place; None, if it is not kept, or the tail has not come to it."""
        if not self._end or any(
            not self._floor[group] <= cursor.get(group, 0) <= end for group, end in self._end.items()
        ):
            return None
        return [each for each in self._entries if each.row.seq > cursor.get(each.row.group, 0)]

    async def looked(self) -> None:
        """Until the tail has looked at the log once more, or a while has passed."""
        self._rung.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_LATE), self._looked:
                await self._looked.wait()

    def wake(self) -> None:
        """Followers look whether the server stops."""
        for channel in self._channels.values():
            for follower in channel.followers:
                follower.wake()

    @contextmanager
    def attached(
        self, follower: LiveFollower, topics: Sequence[Topic], caller: Caller, make: Callable[..., Channel]
    ) -> Iterator[Channel]:
        """A follower hears everything from here on."""
        sees = None if has_role(caller, Role.ADMIN) else caller
        who = None if sees is None else (sees.name, sees.roles, repr(sees.user.extra))
        key = (make, tuple(topic.text for topic in topics), who)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = make(topics, sees)
            for topic in topics:
                self._index.setdefault(topic.place, {})[channel] = None
        channel.followers[follower] = None
        self._call(channel)
        try:
            yield channel
        finally:
            del channel.followers[follower]
            if not channel.followers:
                del self._channels[key]
                self._called.pop(channel, None)
                for place in {topic.place for topic in topics}:
                    del self._index[place][channel]
                    if not self._index[place]:
                        del self._index[place]

    def offer(self, rows: Sequence[LogRow]) -> None:
        """The node of this process has committed these."""
        if self._tasks:
            self._offered.extend(rows)
            if len(self._offered) > MOST_OFFERED:
                self._offered.clear()  # the next look finds them
            self._rung.set()

    # ---------------------------------------------------------------------------------------------- reading
    async def _read(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._rung.wait()
            self._rung.clear()
            try:
                await self._read_once()
            except Exception:
                logger.exception("the change log could not be told: followers are asked to read anew")
                await self._lose()
            await asyncio.sleep(REST)

    async def _read_once(self) -> None:
        rows, self._offered = self._offered, deque()
        try:
            gap = not await self._take(rows)
        except StrettoError:
            gap = True  # they are read from the log when the database answers
        now = asyncio.get_running_loop().time()
        if gap or not self._end or now - self._looked_at >= LOOK_EVERY:
            self._looked_at = now
            await self._look()
            async with self._looked:
                self._looked.notify_all()

    async def _look(self) -> None:
        """Read until nothing is new."""
        try:
            if not self._end:
                self._floor = await self._store.newest_seqs()
                self._end = dict(self._floor)
            while rows := await self._store.read_log(self._end, most=MOST_READ):
                await self._take(rows)
        except Trimmed:
            await self._lose()
            self._rung.set()
        except StrettoError:
            return  # a database that is away is waited for

    async def _lose(self) -> None:
        """What has happened meanwhile is not known: all followers read anew, also who is about to join."""
        async with self.lock:
            self.losses += 1
            for channel in self._channels.values():
                channel.lose()
            self._entries.clear()
            self._events, self._end = 0, {}

    async def _take(self, rows: Sequence[LogRow]) -> bool:
        """Tell rows that follow what was told; False, if some are missing between."""
        whole = True
        for number, row in enumerate(rows):
            end = self._end.get(row.group, 0)
            if row.seq == end + 1 and self._end:
                async with self.lock:
                    entry = Entry(row, {**self._end, row.group: row.seq})
                    await self._dispatch(entry)
                    self._end[row.group] = row.seq
                    self._keep(entry)
            elif row.seq > end:
                whole = False
            if number % SLICE == SLICE - 1:
                await asyncio.sleep(0)
        return whole

    def _keep(self, entry: Entry) -> None:
        entry.release()
        self._entries.append(entry)
        self._events += len(entry.row.events)
        while self._entries and (len(self._entries) > MOST_ROWS or self._events > MOST_EVENTS):
            gone = self._entries.popleft().row
            self._events -= len(gone.events)
            self._floor[gone.group] = gone.seq

    async def _dispatch(self, entry: Entry) -> None:
        """Only channels that may be concerned are asked. What can fail comes first: a row that is taken again
        was told to nobody.
        """
        found: dict[Channel, tuple[int, ...]] = {}
        for event in entry.row.events:
            for place in places_of(event):
                found.update(dict.fromkeys(self._index.get(place, {}), ()))
        for channel in found:
            found[channel] = await self.wanted(channel.topics, channel.caller, entry, channel.touching)
        for channel, places in found.items():
            if places:
                await channel.hear(entry, places, self.cluster_name, self._clock.now())
                self._call(channel)

    async def wanted(
        self, topics: Sequence[Topic], caller: Caller | None, entry: Entry, touching: bool
    ) -> tuple[int, ...]:
        """The places of the events of a row that somebody asked for and may see. `caller`: None, if they may
        see everything.
        """
        events = entry.row.events
        fits = [topic.touches if touching else topic.holds for topic in topics]
        places = tuple(place for place, event in enumerate(events) if any(fit(event) for fit in fits))
        if caller is None or not places:
            return places
        seen = await Sight(self._store, caller).of({events[place].workflow_id for place in places})
        return tuple(place for place in places if events[place].workflow_id in seen)

    # ---------------------------------------------------------------------------------------------- telling
    def _call(self, channel: Channel) -> None:
        """A channel may have something to say."""
        if channel.followers:
            self._called[channel] = None
            self._due.set()

    async def _tell(self) -> None:
        """Say to screens where things stand, one channel after the other."""
        while True:
            self._due.clear()
            for channel in list(self._called):
                try:
                    await self._tell_of(channel)
                except Exception:
                    logger.exception("a topic could not be told: its followers are asked to read anew")
                    channel.lose()
            now = steady_millis(self._clock)
            waits = {each: each.due_in(now) for each in self._called}
            self._called = {each: None for each, wait in waits.items() if wait is not None}
            nearest = min((wait for wait in waits.values() if wait is not None), default=None)
            with suppress(TimeoutError):
                async with asyncio.timeout(None if nearest is None else max(nearest / 1_000, REST)):
                    await self._due.wait()

    async def _tell_of(self, channel: Channel) -> None:
        """Nothing comes, and nobody, while it is read: the place is behind all that was heard, and before all
        that is heard next.
        """
        wait = channel.due_in(steady_millis(self._clock))
        if wait is not None and wait <= 0:
            async with self.lock:
                if self._end and channel.followers:
                    await channel.tell(self._store, dict(self._end), self._clock)
