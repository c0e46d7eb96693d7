"""What time it is for a node: the database's clock, estimated from beats on a steady clock of its own."""

from collections.abc import Callable
from typing import Final, NamedTuple

DRIFT: Final = 0.001  # of a second that two clocks may come apart in a second, at most


class Estimate(NamedTuple):
    """What the database said, when that was on the steady clock, and how far off that may be, in seconds."""

    now: int
    at: float
    within: float

    def time_at(self, steady: float) -> float:
        """The database's time at a moment of the steady clock, in milliseconds."""
        return self.now + (steady - self.at) * 1_000

    def within_at(self, steady: float) -> float:
        return self.within + (steady - self.at) * DRIFT


class DatabaseTime:
    """The database's time, in milliseconds since 1970. It never goes back, also if the database's does."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._heard: Estimate | None = None
        self._last = 0

    def hear(self, now: int, sent: float) -> None:
        """The database said so, somewhere between the sending of the question and this moment. An answer that
        took longer says less: one that had to connect first would put the clock forward by half of that.
        """
        steady = self._steady()
        new, old = Estimate(now, (sent + steady) / 2, (steady - sent) / 2), self._heard
        if old is None or new.within <= old.within_at(steady) or _disagree(old, new, steady):
            self._heard = new

    def now(self) -> int:
        if self._heard is not None:
            self._last = max(self._last, int(self._heard.time_at(self._steady())))
        return self._last

    def at_least(self, now: int) -> None:
        """Something was committed at this time: what comes after it is not earlier."""
        self._last = max(self._last, now)

    def steady_at(self, due: int) -> float:
        """When the steady clock will say that a time has come."""
        steady = self._steady()
        if self._heard is None:
            return steady
        return max(steady, self._heard.at + (due - self._heard.now) / 1_000)


def _disagree(old: Estimate, new: Estimate, steady: float) -> bool:
    """Whether the database's clock was set meanwhile: then only what it says now counts."""
    apart = abs(new.time_at(steady) - old.time_at(steady)) / 1_000
    return apart > new.within + old.within_at(steady) + 0.001  # it says whole milliseconds
