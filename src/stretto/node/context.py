"""What the parts of a node share: settings, the database's time, asks that go out, and what is done with
their answers. The database's time is estimated from beats on a steady clock.
"""

import heapq
import logging
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

from stretto.model.errors import Unavailable
from stretto.node.asks import Ask
from stretto.node.settings import NodeSettings
from stretto.ports.fence import Trust
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId

Then = Callable[[Any], None]
Otherwise = Callable[[Exception], None]
LOG = logging.getLogger(__name__)
NOBODY: Final = NodeId("")
DRIFT: Final = 0.001  # of a second that two clocks may come apart in a second, at most


class NodeContext:
    """Asks go out with what to do about the answer. What was asked in an earlier life is not answered."""

    def __init__(
        self, settings: NodeSettings, steady: Callable[[], float], observers: Sequence[Observer]
    ) -> None:
        self.settings = settings
        self.steady = steady
        self.time = DatabaseTime(steady)
        self.id = NOBODY
        self.trust = Trust(steady)
        self._observers = observers
        self._asks: list[Ask] = []
        self._waiting: dict[Ask, tuple[Then, Otherwise]] = {}
        self._alarms: list[tuple[float, int, Callable[[], None]]] = []
        self._tickets = count()

    @property
    def trusted(self) -> bool:
        """Whether the leases can be relied on: a beat was heard not long ago."""
        return self.trust.holds

    def tell(self, tell: Callable[[Observer], None]) -> None:
        """Tell all observers; what they do wrong is theirs."""
        for observer in self._observers:
            try:
                tell(observer)
            except Exception:
                LOG.exception("an observer failed")

    # ---------------------------------------------------------------------------------------------- asking
    def ask(self, ask: Ask, then: Then, otherwise: Otherwise) -> None:
        self._asks.append(ask)
        self._waiting[ask] = then, otherwise

    def insist(self, ask: Ask, then: Then, otherwise: Otherwise, tries: int = 0) -> None:
        """Ask again, with growing pauses, until the store answers. Only for what may be repeated."""

        def again(error: Exception) -> None:
            if isinstance(error, Unavailable):
                self.tell(lambda each: each.store_failed(error, tries + 1))
                self.after(self.back_off(tries), lambda: self.insist(ask, then, otherwise, tries + 1))
            else:
                otherwise(error)

        self.ask(ask, then, again)

    def back_off(self, tries: int) -> int:
        return min(self.settings.retry_first << min(tries, 20), self.settings.retry_most)

    def answered(self, ask: Ask, answer: Any) -> None:
        waiting = self._waiting.pop(ask, None)
        if waiting is not None:
            waiting[0](answer)

    def failed(self, ask: Ask, error: Exception) -> None:
        waiting = self._waiting.pop(ask, None)
        if waiting is not None:
            waiting[1](error)

    def take(self) -> list[Ask]:
        asks, self._asks = self._asks, []
        return asks

    def forget(self) -> None:
        """Begin a new life: nothing that was asked or planned counts any more."""
        self._asks.clear()
        self._waiting.clear()
        self._alarms.clear()

    # ---------------------------------------------------------------------------------------------- alarms
    def after(self, millis: int, call: Callable[[], None]) -> None:
        heapq.heappush(self._alarms, (self.steady() + millis / 1_000, next(self._tickets), call))

    def ring(self) -> None:
        """Do what is due."""
        while self._alarms and self._alarms[0][0] <= self.steady():
            heapq.heappop(self._alarms)[2]()

    @property
    def next_alarm(self) -> float:
        return self._alarms[0][0] if self._alarms else float("inf")


# ---------------------------------------------------------------------------------------- database's time
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
