"""When no node could have done anything: the database was away, or every node was."""

import asyncio
from collections.abc import Callable
from typing import Final

from chaos.clock import wall_millis

LOOK_EVERY: Final = 0.05  # seconds


class Availability:
    """Notes the times during which a condition did not hold, on the clock of the machine."""

    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self._since: int | None = None
        self._spans: list[tuple[int, int]] = []

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            self.look(wall_millis())
            await asyncio.sleep(LOOK_EVERY)

    def look(self, now: int) -> None:
        if not self._holds():
            self._since = now if self._since is None else self._since
        elif self._since is not None:
            self._spans.append((self._since, now))
            self._since = None

    def millis_without(self, begin: int, end: int) -> int:
        """How much of the time between two moments the condition did not hold."""
        open_span = [] if self._since is None else [(self._since, end)]
        return sum(max(0, min(end, until) - max(begin, since)) for since, until in [*self._spans, *open_span])
