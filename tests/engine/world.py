"""What several runs of a `Driver` share: virtual time, what is about to happen, permits and signals.

There is no store and no node in it: the engine decides, and the test sees each effect and each record.
"""

import heapq
from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from stretto.engine import effects as todo
from stretto.engine import events as happened
from stretto.engine.permits import Waiter, granted
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.signal_instance import SignalDependency
from stretto.model.workflow import Criticality

if TYPE_CHECKING:
    from tests.engine.driver import Driver

NOW = 1_700_000_000_000
ABOVE = "parent"
OPERATORS = {
    "=": lambda one, other: one == other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}


class Announced(NamedTuple):
    id: int
    name: str
    params: Mapping[str, Any]


class World:
    """A clock, a queue of events, a heap of timers; and what is beside every run."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now
        self.queue: deque[tuple[Driver, happened.Event]] = deque()
        self.timers: list[tuple[int, int, Driver, happened.Event]] = []
        self.limits: dict[str, int | None] = {}
        self.held: Counter[str] = Counter()
        self.most_held: Counter[str] = Counter()
        self.signals: list[Announced] = []
        self.announcers: set[AttemptKey] = set()
        self.children: dict[RunKey, Driver] = {}
        self.instances: Counter[str] = Counter()
        self._waiters: dict[AttemptKey, tuple[Driver, Waiter]] = {}
        self._holders: dict[AttemptKey, tuple[str, ...]] = {}
        self._watching: dict[AttemptKey, tuple[Driver, list[SignalDependency]]] = {}
        self._ticket = 0

    # ----------------------------------------------------------------------------------------------- time
    def soon(self, driver: "Driver", *events: happened.Event) -> None:
        self.queue.extend((driver, event) for event in events)

    def at(self, due: int, driver: "Driver", event: happened.Event) -> None:
        self._ticket += 1
        heapq.heappush(self.timers, (due, self._ticket, driver, event))

    def run(self, until: int | None = None, most: int = 1_000_000) -> None:
        """Go on until nothing is left, or for some milliseconds."""
        end = None if until is None else self.now + until
        for _ in range(most):
            while self.queue:
                driver, event = self.queue.popleft()
                late = isinstance(event, happened.RunActed) and event.user == ABOVE and driver.flow.is_over
                if not late:  # a stop from above that comes too late is refused, and nobody minds
                    driver.send(event)
            self._drop_dead_timers()
            if not self.timers or (end is not None and self.timers[0][0] > end):
                break
            due, _, driver, event = heapq.heappop(self.timers)
            self.now = max(self.now, due)
            driver.send(event)
        else:
            raise AssertionError("it does not come to an end")
        if end is not None:
            self.now = end

    def _drop_dead_timers(self) -> None:
        """Timers of runs that have ended would only let the clock run on."""
        while self.timers and self.timers[0][2].flow.is_over:
            heapq.heappop(self.timers)

    # -------------------------------------------------------------------------------------------- permits
    def ask(self, driver: "Driver", effect: todo.AskPermits) -> None:
        if effect.attempt in self._holders:  # it asks again
            self.soon(driver, happened.Granted(attempt=effect.attempt))
        if effect.attempt in self._holders or effect.attempt in self._waiters:
            return
        self._ticket += 1
        for tag, limit in effect.limits.items():
            self.limits.setdefault(tag, limit)
        criticality = Criticality(effect.criticality) if effect.criticality else None
        waiter = Waiter(str(effect.attempt), tuple(effect.limits), criticality, effect.since, self._ticket)
        self._waiters[effect.attempt] = (driver, waiter)
        self.grant()

    def release(self, attempt: AttemptKey) -> None:
        self._waiters.pop(attempt, None)
        for tag in self._holders.pop(attempt, ()):
            self.held[tag] -= 1
        self.grant()

    def grant(self) -> None:
        by_name = {str(key): key for key in self._waiters}
        for waiter in granted((each for _, each in self._waiters.values()), self.held, self.limits):
            key = by_name[waiter.attempt]
            driver, _ = self._waiters.pop(key)
            self._holders[key] = waiter.tags
            self.held.update(waiter.tags)
            for tag in waiter.tags:
                limit = self.limits.get(tag)
                assert limit is None or self.held[tag] <= limit
                self.most_held[tag] = max(self.most_held[tag], self.held[tag])
            self.soon(driver, happened.Granted(attempt=key))

    @property
    def no_permit_is_left(self) -> bool:
        return not any(self.held.values()) and not self._waiters and not self._holders

    # -------------------------------------------------------------------------------------------- signals
    def announce(self, name: str, **params: Any) -> None:
        self.signals.append(Announced(len(self.signals) + 1, name, params))
        for key in list(self._watching):
            self._match(key)

    def watch(self, driver: "Driver", effect: todo.WatchSignals) -> None:
        self._watching[effect.attempt] = (driver, effect.dependencies.dependencies)
        self._match(effect.attempt)

    def _match(self, key: AttemptKey) -> None:
        driver, wanted = self._watching[key]
        for index, dependency in enumerate(wanted):
            found = next((each for each in self.signals if _fits(each, dependency)), None)
            if found is not None and not dependency.status.is_done:
                self.soon(driver, happened.SignalCame(attempt=key, index=index, signal_id=found.id))


def _fits(signal: Announced, wanted: SignalDependency) -> bool:
    return signal.name == wanted.name and all(
        name in signal.params and OPERATORS[match.operator.value](signal.params[name], match.value)
        for name, match in (wanted.match_params or {}).items()
    )
