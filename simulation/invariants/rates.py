"""I10, of rates: in any time of the length of a rate no more attempts start than it says, by the steady clock
and what the database's clock was set forward. I20, of rates: and nobody waits for longer than that.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from simulation.invariants.permits import rank
from simulation.watch import Complain, Touched
from stretto.engine.permits import rate_tag
from stretto.engine.records import AttemptKey
from stretto.model.permit import Rate, parse_rate
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.store.memory.database import Database

TAKE_OVER: Final = 60_000  # milliseconds in which somebody looks after who waits, whatever has happened


class Rates:
    """Counts the starts of steps that have a rate, over all nodes: an attempt that stands in line starts when
    its permits are granted, any other with the commit that shows its start.
    """

    def __init__(self, workflows: Iterable[Workflow], offset: Callable[[], int]) -> None:
        self._offset = offset  # of the database's clock: how far it was set
        self._offset_seen = 0
        self._rates = {
            rate_tag(each.id, step): rate for each in workflows for step, rate in _rated(each.steps)
        }
        self._starts: dict[str, list[int]] = {tag: [] for tag in self._rates}  # on the database's clock
        self._counted: set[AttemptKey] = set()
        self._waited_since: dict[str, int] = {}  # tags that nothing but their rate holds, on the steady clock
        self.steady: Callable[[], int] | None = None  # from the end of the trouble on

    def rule(self, touched: Touched, complain: Complain) -> None:
        if not self._rates:
            return
        self._follow_clock()
        for tag, attempt in _started(touched):
            if tag in self._rates and attempt not in self._counted:
                self._counted.add(attempt)
                self._waited_since.pop(tag, None)
                self._count(tag, attempt, touched.now, complain)
        if self.steady is not None:
            for tag, rate in self._rates.items():
                self._wait(touched.db, tag, rate, self.steady(), complain)

    def _follow_clock(self) -> None:
        """Set back, it makes no start younger. Set forward, it makes them older: nobody can know better."""
        back = self._offset() - self._offset_seen
        self._offset_seen += back
        if back < 0:
            self._starts = {tag: [at + back for at in starts] for tag, starts in self._starts.items()}

    def _count(self, tag: str, attempt: AttemptKey, now: int, complain: Complain) -> None:
        rate, begun = self._rates[tag], self._starts[tag]
        begun[:] = [at for at in begun if at > now - rate.millis]
        begun.append(now)
        if len(begun) > rate.starts:
            complain(f"I10: {attempt} is start {len(begun)} under {tag}, within {rate.millis} ms")

    def _wait(self, db: Database, tag: str, rate: Rate, now: int, complain: Complain) -> None:
        if not _waits_for_rate(db, tag):
            self._waited_since.pop(tag, None)
        elif now - self._waited_since.setdefault(tag, now) > rate.millis + TAKE_OVER:
            complain(f"I20: nobody started under {tag} for {rate.millis + TAKE_OVER} ms, and somebody waits")
            self._waited_since[tag] = now


def _waits_for_rate(db: Database, tag: str) -> bool:
    """Whether the first in line for a rate is first for all its other tags, too, and nobody holds those."""
    line = db.waiters[tag]
    if not line:
        return False
    attempt, _tag = min(line, key=lambda at: (rank(db.permits[at]), at))
    others = [other for _attempt, other in db.permits_of[attempt] if other != tag]
    return not any(
        db.holders[other] or len(db.waiters[other]) > 1 or _is_closed(db, other) for other in others
    )


def _is_closed(db: Database, tag: str) -> bool:
    own = db.tags.get(tag)
    return own is not None and own.max_allowed == 0


def _started(touched: Touched) -> Iterator[tuple[str, AttemptKey]]:
    for (attempt, tag), before, after in touched.of("permits"):
        if after is not None and after.granted and not (before is not None and before.granted):
            yield tag, attempt
    for key, before, after in touched.of("attempts"):
        began = after is not None and after.record.start_time is not None
        if began and (before is None or before.record.start_time is None):
            run = touched.db.runs.get(key.run)
            if run is not None:
                yield rate_tag(run.root.workflow_id, key.step_id), key


def _rated(steps: Iterable[AnyStep]) -> Iterator[tuple[str, Rate]]:
    for step in steps:
        rate = None if step.rate is None else parse_rate(step.rate)
        if rate is not None:
            yield step.id, rate
        if isinstance(step, ForeachStep | WhileStep):
            yield from _rated(step.steps)
