"""The run strategies: what tells one rule from another, and every rule by its name."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.runs import RunCounts, RunKey
from stretto.strategies.runs import text_of

MOST_ADMITTED: Final = 50  # in one pass: keeps the transaction, and so the lock, short


@dataclass(frozen=True, slots=True)
class Joins:
    """The new run is queued."""


@dataclass(frozen=True, slots=True)
class Drops:
    """The new run is STOPPED at birth."""

    note: str


@dataclass(frozen=True, slots=True)
class Replaces:
    """The new run is queued, and every queued one before it is STOPPED."""

    note: str
    stops_running: bool = False  # running ones get `stop` too


@dataclass(frozen=True, slots=True)
class Refuses:
    """There is no new run: the workflow is in a state that the rule can not work from."""

    message: str


Placement = Joins | Drops | Replaces | Refuses


class Rule(ABC):
    """One run strategy. Rules keep nothing; each overrides only what makes it differ."""

    name: ClassVar[RunStrategyRule]
    replaces_queued: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = False  # a run that is paused in the queue holds up those behind it
    when_paused: ClassVar[str] = "passed over"  # what a run that is paused in the queue is

    @abstractmethod
    def receive(self, run: RunKey, counts: RunCounts) -> Placement:
        """What becomes of a new run, and of those that it finds."""

    def slots(self, concurrency: int) -> int:
        """How many may run at once. 0 pauses the workflow, whatever the rule."""
        return min(concurrency, 1)

    def is_blocked(self, counts: RunCounts) -> bool:  # noqa: ARG002 - strict_sequential looks at it
        """Whether nothing may be admitted until a user acts."""
        return False

    def free(self, concurrency: int, counts: RunCounts) -> int:
        """How many queued runs may be admitted now."""
        return 0 if self.is_blocked(counts) else max(0, self.slots(concurrency) - counts.running)

    def in_turn(self, queue: Sequence[RunKey], paused: Sequence[RunKey]) -> Sequence[RunKey]:
        """The queued runs that may be admitted before any of the paused ones; all of these are sorted."""
        return queue[: bisect_left(queue, paused[0])] if self.keeps_order and paused else queue

    def barrier(self, counts: RunCounts) -> str | None:  # noqa: ARG002 - the rules that have one look at it
        """Why the workflow can not be switched to this rule now."""
        return None

    def because_of(self, newer: RunKey, verb: str) -> str:
        """The note on the timeline of a run that gives way to a newer one."""
        return (
            f"The run strategy {self.name} {verb}, "
            f"because new instance {newer.instance_id} with run {newer.run_id} arrived."
        )


class Sequential(Rule):
    """One at a time and in order, however the one before it ended: the default."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.SEQUENTIAL

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:  # noqa: ARG002 - everybody may queue
        return Joins()


class StrictSequential(Rule):
    """One at a time and in order; a failure holds up the rest until a user deals with it.

    Only raw FAILED blocks: a stopped or timed out run does not, a killed one does, even if only queued.
    """

    name: ClassVar[RunStrategyRule] = RunStrategyRule.STRICT_SEQUENTIAL
    when_paused: ClassVar[str] = "in its place, so that those behind it wait"
    keeps_order: ClassVar[bool] = True

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:  # noqa: ARG002 - everybody may queue
        return Joins()

    def is_blocked(self, counts: RunCounts) -> bool:
        return counts.failed > 0

    def barrier(self, counts: RunCounts) -> str | None:
        """Old failures were no obstacle so far; suddenly they would be one."""
        if counts.failed == 0:
            return None
        return f"{counts.failed} failed run{'s' if counts.failed > 1 else ''} would block the queue at once"


class FirstOnly(Rule):
    """While a run is unfinished, new ones are dropped: a dropped run keeps its ids and is seen as STOPPED."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.FIRST_ONLY
    when_paused: ClassVar[str] = "the first, so that new runs are dropped"

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:
        if counts.unfinished > 1:
            return Refuses(
                f"finding more than 1 non-terminal runs beside {text_of(run)}: {self.name} allows one"
            )
        if counts.unfinished == 1:
            return Drops(f"The run strategy {self.name} dropped it, because another run has not ended.")
        return Joins()

    def barrier(self, counts: RunCounts) -> str | None:
        if counts.unfinished <= 1:
            return None
        return f"{counts.unfinished} runs have not ended, and it allows one"


class LastOnly(Rule):
    """The newest run replaces the queued one at once, and the running one once that has stopped. At most one
    runs, being stopped if it is not the newest, and at most the newest is queued.
    """

    name: ClassVar[RunStrategyRule] = RunStrategyRule.LAST_ONLY
    when_paused: ClassVar[str] = "there until a newer run takes its place"
    replaces_queued: ClassVar[bool] = True

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:
        for count, kind in ((counts.pending, "pending"), (counts.running, "running")):
            if count > 1:
                return Refuses(
                    f"finding more than 1 {kind} runs beside {text_of(run)}: {self.name} allows one"
                )
        return Replaces(self.because_of(run, "stopped it"), stops_running=counts.running > 0)

    def barrier(self, counts: RunCounts) -> str | None:
        if counts.unfinished <= 1:
            return None
        return f"{counts.unfinished} runs have not ended, and it would have to choose one"


class Parallel(Rule):
    """Up to `workflow_concurrency` at once, admitted in order: the only rule with more than one slot."""

    name: ClassVar[RunStrategyRule] = RunStrategyRule.PARALLEL

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:  # noqa: ARG002 - everybody may queue
        return Joins()

    def slots(self, concurrency: int) -> int:
        return concurrency


class SerialLatestOnly(Rule):
    """One at a time; the running one is left alone, and only the newest waits behind it. For work where only
    the newest state counts, but that must not be interrupted.
    """

    name: ClassVar[RunStrategyRule] = RunStrategyRule.SERIAL_LATEST_ONLY
    when_paused: ClassVar[str] = "there until a newer run takes its place"
    replaces_queued: ClassVar[bool] = True

    def receive(self, run: RunKey, counts: RunCounts) -> Placement:  # noqa: ARG002 - whoever is queued goes
        return Replaces(self.because_of(run, "stopped it before it started"))


RULES: Final[Mapping[RunStrategyRule, Rule]] = {
    rule.name: rule
    for rule in (Sequential(), StrictSequential(), FirstOnly(), LastOnly(), Parallel(), SerialLatestOnly())
}


def paused_needed(strategy: RunStrategy) -> int | None:
    """How many of the queued runs that are paused `admit` looks at, the oldest first; None: all of them.

    Rules that pass paused runs over do not look at them. The rule that keeps the order must know the first,
    and the one that allows a single run whether there are more than one.
    """
    rule = RULES[strategy.rule]
    if rule.replaces_queued:
        return None
    return 2 if rule.keeps_order or rule.name is RunStrategyRule.FIRST_ONLY else 0


def queue_needed(strategy: RunStrategy) -> int | None:
    """How much of the front of the queue `admit` looks at; None: all of it.

    A backlog can be long, so it is read whole only by the rules that end queued runs, where it is short.
    The one more than a pass admits tells whether there is `more`.
    """
    return None if RULES[strategy.rule].replaces_queued else MOST_ADMITTED + 1
