"""The time of the machine."""

import asyncio
import time

from stretto.ports.clock import machine_steady


class SystemClock:
    """See `ports.clock`. Its `now` is the wall clock of this machine: a node that has heard the database's
    clock keeps its own estimate of that one (`node.time`).
    """

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(self._last, time.time_ns() // 1_000_000)
        return self._last

    steady = staticmethod(machine_steady)

    async def sleep_until(self, due: int) -> None:
        while (left := due - self.now()) > 0:  # noqa: ASYNC110 - nobody tells that time has passed
            await asyncio.sleep(left / 1_000)
