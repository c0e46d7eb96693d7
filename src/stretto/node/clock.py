"""The time of the machine."""

import asyncio
import logging
import time
from typing import Final

from stretto.ports.clock import machine_steady
from stretto.ports.observer import Observer

LOG: Final = logging.getLogger(__name__)
LEAST_TOLD: Final = 1_000  # milliseconds


class SystemClock:
    """See `ports.clock`. Its `now` is the wall clock of this machine: a node that has heard the database's
    clock keeps its own estimate of that one (`node.context`).
    """

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    steady = staticmethod(machine_steady)

    async def sleep_until(self, due: int) -> None:
        end = self.steady() + (due - self.now()) / 1_000  # also if somebody sets the clock meanwhile
        while (left := end - self.steady()) > 0:  # noqa: ASYNC110 - nobody tells that time has passed
            await asyncio.sleep(left)


class ClockLog(Observer):
    """Tells in the log that somebody has set the database's clock."""

    def clock_set(self, millis: int) -> None:
        if abs(millis) >= LEAST_TOLD:
            LOG.warning(
                "the database's clock (of SQLite: this machine's) was set %s by %.1f s: timers keep the time"
                " that they have left, time triggers follow the clock",
                "forward" if millis > 0 else "back",
                abs(millis) / 1_000,
            )
