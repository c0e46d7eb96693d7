"""Followers who hear the same: what is to be said is made once, and handed to each of them."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from stretto.actions.caller import Caller
from stretto.actions.parts.offload import offload
from stretto.actions.reading.live import Gathering, Told
from stretto.actions.reading.topics import Topic
from stretto.api.live.messages import Entry, message
from stretto.model.errors import StrettoError
from stretto.ports.clock import Clock, steady_millis
from stretto.ports.events import Cursor
from stretto.ports.store import Store

MOST_WAITING: Final = 256 * 1024  # bytes that wait for one follower, unless one message has more
TELL_EVERY: Final = 250  # milliseconds, at least, between two messages of a topic to its screens
TELL_MANY_EVERY: Final = 1_000  # the same, at most: it grows with the number of screens
TELL_FOR_EACH: Final = 4  # milliseconds for each screen: a topic costs at most 250 writes to sockets a second
LOOK_EVERY: Final = 2_000  # milliseconds between two looks at the nodes
NOT_KEPT: Final = "the events after the cursor are not kept"
TOO_SLOW: Final = "this follower reads more slowly than things change"


class LiveFollower:
    """One follower: what waits for it. If that is too much, it is dropped, and the follower reads anew."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = 0
        self._rung = asyncio.Event()
        self.lost: str | None = None  # why something is missing

    def put(self, part: bytes) -> None:
        """Hand over a part that is shared with others. Never waits."""
        if self.lost is not None:
            return
        if self._waiting and self._size + len(part) > MOST_WAITING:
            self.lose(TOO_SLOW)
            return
        self._waiting.append(part)
        self._size += len(part)
        self._rung.set()

    def lose(self, reason: str) -> None:
        """Drop what waits: the follower is told to read anew."""
        self._waiting, self._size, self.lost = [], 0, reason
        self._rung.set()

    def recover(self) -> str:
        """The follower is told now, and hears again what comes next; returns why something is missing."""
        reason, self.lost = self.lost or NOT_KEPT, None
        self._rung.clear()
        return reason

    def wake(self) -> None:
        self._rung.set()

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return self._size

    def take(self) -> bytes:
        """What waits; nothing does afterwards. One part is handed on as it is, for all the same bytes."""
        parts = self._waiting
        self._waiting, self._size = [], 0
        self._rung.clear()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def wait(self, seconds: float) -> None:
        """Until there is something, or so long."""
        if not self._rung.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._rung.wait()


class Channel:
    """Followers of the same topics, who may see the same. `caller`: None, if they may see everything."""

    touching = False

    def __init__(self, topics: Sequence[Topic], caller: Caller | None) -> None:
        self.topics = topics
        self.caller = caller
        self.followers: dict[LiveFollower, None] = {}

    @property
    def is_quiet(self) -> bool:
        """Whether everything that was heard has been said."""
        return True

    async def hear(self, entry: Entry, places: tuple[int, ...], cluster_name: str, now: int) -> None:
        """These events of a row are said to all."""
        made = await offload(len(places), entry.message, places, cluster_name, now)
        for follower in self.followers:
            follower.put(made)

    def due_in(self, now: int) -> int | None:  # noqa: ARG002 - of others
        """Milliseconds until there is something to say; None: nothing, as far as is known. `now`: on the
        steady clock.
        """
        return None

    async def tell(self, store: Store, cursor: Cursor, clock: Clock) -> None:
        """Say to all where things stand; the cursor is behind everything that was heard."""

    def lose(self) -> None:
        """What has happened meanwhile is not kept."""
        for follower in self.followers:
            follower.lose(NOT_KEPT)

    def resync(self, reason: str, cursor: Cursor) -> bytes:
        """What one of them is told that has missed something."""
        return message("resync", {"reason": reason}, cursor)


class ViewChannel(Channel):
    """Screens: where things stand, of each topic, and not too often."""

    touching = True

    def __init__(self, topics: Sequence[Topic], caller: Caller | None) -> None:
        super().__init__(topics, caller)
        self.gathered = [Gathering(topic) for topic in topics]
        self.wants_nodes = any(each.wants_nodes for each in self.gathered)
        self._told_at = self._looked_at = -LOOK_EVERY  # on the steady clock, as all that is compared with it
        self._tells = False

    @property
    def is_quiet(self) -> bool:
        return not self._tells and all(each.is_empty for each in self.gathered)

    async def hear(self, entry: Entry, places: tuple[int, ...], cluster_name: str, now: int) -> None:  # noqa: ARG002
        events = [entry.row.events[place] for place in places]
        for each in self.gathered:
            each.take(events)

    def lose(self) -> None:
        """Nothing is left to be told: what could not be told once is not tried again and again."""
        super().lose()
        self.gathered = [Gathering(topic) for topic in self.topics]

    def resync(self, reason: str, cursor: Cursor) -> bytes:
        last = len(self.topics) - 1
        return b"".join(
            message("resync", {"topic": topic.text, "reason": reason}, cursor if place == last else None)
            for place, topic in enumerate(self.topics)
        )

    def begin(self, gathered: list[Gathering], now: int, *, told: bool) -> None:
        """The first follower has come, and has just heard of the nodes, and of the rest if it was told."""
        self.gathered = gathered
        self._looked_at = now
        self._told_at = now if told else self._told_at

    def due_in(self, now: int) -> int | None:
        waits: list[int] = []
        if not self.is_quiet:
            every = min(max(TELL_FOR_EACH * len(self.followers), TELL_EVERY), TELL_MANY_EVERY)
            waits.append(self._told_at + every + 1 - now)  # the clock leaves out parts of a millisecond
        if self.wants_nodes:
            waits.append(self._looked_at + LOOK_EVERY - now)
        return min(waits, default=None)

    async def tell(self, store: Store, cursor: Cursor, clock: Clock) -> None:
        now = steady_millis(clock)
        looks = self.wants_nodes and now - self._looked_at >= LOOK_EVERY
        if looks:
            self._looked_at = now
        self._tells = True
        try:
            part = await told(store, self.gathered, cursor, looks=looks)
        finally:
            self._tells = False
        if part or not self.is_quiet:  # what the database did not say is told the next time
            self._told_at = steady_millis(clock)
        if part:
            for follower in self.followers:
                follower.put(part)


async def told(store: Store, gathered: Sequence[Gathering], cursor: Cursor, *, looks: bool) -> bytes:
    """What is to be said. All of it is before the cursor: what can not be read now, is to be read anew."""
    messages: list[Told] = []
    for each in gathered:
        try:
            found = [] if each.is_empty else await each.tell(store)
            if looks and each.wants_nodes:
                found += await each.tell_nodes(store)
        except StrettoError:
            each.lose("the database did not answer")
            found = []
        messages += found
    last = len(messages) - 1
    return b"".join(
        message(name, body, cursor if number == last else None)
        for number, (name, body) in enumerate(messages)
    )
