"""Where the change log ends, and who follows it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from stretto.api.live.tail import Tail
from stretto.model.errors import StrettoError
from stretto.ports.clock import Clock, steady_millis
from stretto.ports.events import Cursor, LogRow
from stretto.ports.store import Store

LOOK_EVERY: Final = 0.2  # seconds: what another process commits is not told to this one
REST: Final = 0.02  # seconds in which commits are gathered
FRESH_FOR: Final = 1_000  # milliseconds for which the end of the log, once read, is good enough


class Feed:
    """One for all followers of a process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._rung = asyncio.Event()
        self._end: Cursor = {}
        self._read_at = -FRESH_FOR
        self.closed = asyncio.Event()
        self.tail = Tail(store, clock)

    def offer(self, rows: Sequence[LogRow]) -> None:
        """Say that these were committed here."""
        self.tail.offer(rows)
        self._rung.set()

    def close(self) -> None:
        """Followers are sent away: the server stops."""
        self.closed.set()
        self.tail.wake()
        self._rung.set()

    async def end(self) -> Cursor:
        """The end of the log, or a place before it. Whatever is read after this call, and lacks a change,
        lacks one that comes behind this place.
        """
        now = steady_millis(self._clock)
        if now - self._read_at >= FRESH_FOR:
            self._end = await self._store.newest_seqs()
            self._read_at = now
        return self._end

    async def end_text(self, text: Callable[[Cursor], str]) -> str | None:
        """The same as a text; None if the database does not say."""
        try:
            return text(await self.end())
        except StrettoError:
            return None

    async def wait(self) -> None:
        """Until there may be something new: soon, at the latest."""
        try:
            async with asyncio.timeout(LOOK_EVERY):
                await self._rung.wait()
        except TimeoutError:
            return
        await asyncio.sleep(REST)
        if not self.closed.is_set():
            self._rung.clear()
