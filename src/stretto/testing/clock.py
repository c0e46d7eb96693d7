"""Time that passes only when it is told to."""

import asyncio
import heapq
from itertools import count
from typing import Final

__all__ = ["VirtualClock", "settle"]

EPOCH: Final = 1_700_000_000_000  # some moment, in milliseconds since 1970


class VirtualClock:
    """A `ports.Clock` moved by hand. Who sleeps is woken in the order of its time, within `advance`."""

    def __init__(self, now: int = EPOCH) -> None:
        self._now = now
        self._started = now
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._tickets = count()  # those who sleep until the same time wake in the order of their coming

    def now(self) -> int:
        return self._now

    def steady(self) -> float:
        return (self._now - self._started) / 1000

    async def sleep_until(self, due: int) -> None:
        if due > self._now:
            waking: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._sleepers, (due, next(self._tickets), waking))
            await waking

    @property
    def next_due(self) -> int | None:
        """When the next sleeper wakes; None: nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)  # it was cancelled
        return self._sleepers[0][0] if self._sleepers else None

    async def advance(self, milliseconds: int) -> None:
        """Let time pass. Each sleeper runs at its own time, also one that begins to sleep meanwhile."""
        end = self._now + milliseconds
        while (due := self.next_due) is not None and due <= end:
            self._now = max(self._now, due)
            heapq.heappop(self._sleepers)[2].set_result(None)
            await settle()
        self._now = end


async def settle(turns: int = 20) -> None:
    """Let everything that can run now run: a task that was woken may wake others."""
    for _ in range(turns):
        await asyncio.sleep(0)
