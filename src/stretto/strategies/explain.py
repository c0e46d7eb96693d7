"""Why a queued run waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from stretto.model.errors import WrongState
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.response import Hold
from stretto.model.runs import RunCounts, RunKey
from stretto.strategies.rules import RULES
from stretto.strategies.runs import name_runs, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The answer as data, and as a sentence."""

    run: RunKey
    strategy: RunStrategy
    hold: Hold
    ahead: tuple[RunKey, ...]  # queued before it
    running: tuple[RunKey, ...]
    failed: tuple[RunKey, ...]  # those that block it
    paused: tuple[RunKey, ...] = ()  # queued before it, and paused, if it waits for them

    @property
    def position(self) -> int:
        """1 for the front of the queue."""
        return len(self.ahead) + len(self.paused) + 1

    @property
    def has_no_slot(self) -> bool:
        """Whether it waits for one of several: others have them, or get them first."""
        several = self.strategy.rule is RunStrategyRule.PARALLEL
        return several and self.hold in {Hold.BUSY, Hold.BEHIND}

    @property
    def in_the_way(self) -> tuple[RunKey, ...]:
        """The runs that it waits for, if it is they that hold it."""
        match self.hold:
            case Hold.BLOCKED:
                return self.failed
            case Hold.BEHIND_PAUSED:
                return self.paused
            case Hold.REPLACING | Hold.BUSY:
                return self.running
            case Hold.BEHIND:
                return self.ahead
            case Hold.PAUSED | Hold.NOTHING:
                return ()
        assert_never(self.hold)

    @property
    def sentence(self) -> str:
        place = f"{text_of(self.run)} is number {self.position} in the queue"
        rule = self.strategy.rule
        match self.hold:
            case Hold.PAUSED:
                return f"{place}: the workflow is paused, because its concurrency is 0"
            case Hold.BLOCKED:
                return f"{place}: {rule} is blocked until a restart or unblock of {name_runs(self.failed)}"
            case Hold.BEHIND_PAUSED:
                return (
                    f"{place}: {rule} keeps the order, and {name_runs(self.paused)} before it is paused: "
                    "resume or stop that one"
                )
            case Hold.REPLACING:
                return f"{place}: {name_runs(self.running)} is being stopped to make room for it"
            case Hold.BUSY:
                return f"{place}: every slot of {rule} is taken, by {name_runs(self.running)}"
            case Hold.BEHIND:
                return f"{place}: the free slots go first to {name_runs(self.ahead)}"
            case Hold.NOTHING:
                return f"{place}: nothing holds it, it is admitted next"
        assert_never(self.hold)


def explain(
    strategy: RunStrategy,
    run: RunKey,
    queue: Sequence[RunKey],
    running: Sequence[RunKey],
    failed: Sequence[RunKey],
    paused: Sequence[RunKey] = (),
) -> Waiting:
    """Why this run is still queued; `failed` are the runs with the raw status FAILED, `paused` those that are
    paused in the queue.
    """
    if run not in queue:
        raise WrongState(f"{text_of(run)} is not queued")
    ahead = tuple(queue[: queue.index(run)])
    counts = RunCounts(len(queue), len(running), len(failed), len(paused))
    rule = RULES[strategy.rule]
    blocked = rule.is_blocked(counts)
    in_front = tuple(each for each in paused if each < run) if rule.keeps_order else ()
    return Waiting(
        run=run,
        strategy=strategy,
        hold=hold_of(strategy, counts, len(ahead), len(in_front)),
        ahead=ahead,
        running=tuple(running),
        failed=tuple(failed) if blocked else (),
        paused=in_front,
    )


def explain_paused(strategy: RunStrategy) -> str:
    """What a run that is paused in its queue is there, in a few words."""
    return RULES[strategy.rule].when_paused


def hold_of(strategy: RunStrategy, counts: RunCounts, ahead: int, paused_ahead: int = 0) -> Hold:
    """Why a queued run is not admitted, with so many runs before it in the queue, and so many paused ones."""
    rule = RULES[strategy.rule]
    free = rule.free(strategy.workflow_concurrency, counts)
    if rule.slots(strategy.workflow_concurrency) <= 0:
        return Hold.PAUSED
    if rule.is_blocked(counts):
        return Hold.BLOCKED
    if paused_ahead and rule.keeps_order:
        return Hold.BEHIND_PAUSED
    if free == 0:
        return Hold.REPLACING if rule.name is RunStrategyRule.LAST_ONLY else Hold.BUSY
    return Hold.BEHIND if ahead >= free else Hold.NOTHING
