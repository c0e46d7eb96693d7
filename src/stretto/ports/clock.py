"""What time it is."""

import time
from functools import partial
from typing import Final, Protocol

__all__ = ["Clock"]

_BOOT_TIME: Final = getattr(time, "CLOCK_BOOTTIME", None)

machine_steady = time.monotonic if _BOOT_TIME is None else partial(time.clock_gettime, _BOOT_TIME)
"""Seconds on a clock that nobody sets, that runs while the machine is suspended (where the system has such a
clock), and that all processes of a machine share.
"""


class Clock(Protocol):
    """Two clocks and a way to wait. Nobody else in the program looks at the time.

    Safety never depends on it: clocks decide when somebody may try, generations and locks who may write.
    """

    def now(self) -> int:
        """Milliseconds since 1970 on the database's clock, as well as this process can tell.

        It follows that clock if somebody sets it, forward or back. Time stamps of a run never go back all the
        same (`engine.flow.Tree.stamp`), and nobody measures with it how long something takes.
        """
        ...

    def steady(self) -> float:
        """Seconds since some moment, on a clock that nobody sets and that runs while the machine sleeps.

        Local trust in a lease is counted on it.
        """
        ...

    async def sleep_until(self, due: int) -> None:
        """Return when the time that is left until `due` has passed on the steady clock; at once if it is
        over. It may be cancelled.
        """
        ...


def steady_millis(clock: Clock) -> int:
    """Milliseconds on the steady clock, to measure how long something takes."""
    return int(clock.steady() * 1_000)
