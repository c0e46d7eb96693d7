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
    """The database's time, in milliseconds since 1970. If somebody sets the database's clock, it follows."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._heard: Estimate | None = None

    def hear(self, now: int, sent: float) -> int:
        """The database said so, somewhere between the sending of the question and this moment. An answer that
        took longer says less: one that had to connect first would put the clock forward by half of that.
        Returns by how many milliseconds somebody has set the database's clock since the last answer.
        """
        steady = self._steady()
        new, old = Estimate(now, (sent + steady) / 2, (steady - sent) / 2), self._heard
        was_set = old is not None and _disagree(old, new, steady)
        if old is None or was_set or new.within <= old.within_at(steady):
            self._heard = new
        return round(new.time_at(steady) - old.time_at(steady)) if old is not None and was_set else 0

    def now(self) -> int:
        return 0 if self._heard is None else int(self._heard.time_at(self._steady()))

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
