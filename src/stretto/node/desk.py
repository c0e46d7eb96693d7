"""What the parts of a node share: settings, time, the asks that go out, and who waits for their answers."""

import heapq
import logging
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from stretto.model.errors import Unavailable
from stretto.node.asks import Ask
from stretto.node.settings import NodeSettings
from stretto.node.time import DatabaseTime
from stretto.ports.fence import Trust
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId

Then = Callable[[Any], None]
Otherwise = Callable[[Exception], None]
LOG = logging.getLogger(__name__)
NOBODY: Final = NodeId("")


class Desk:
    """Asks go out with what to do about the answer. What was asked in an earlier life is not answered."""

    def __init__(
        self, settings: NodeSettings, steady: Callable[[], float], observers: Sequence[Observer]
    ) -> None:
        self.settings = settings
        self.steady = steady
        self.time = DatabaseTime(steady)
        self.node = NOBODY
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
