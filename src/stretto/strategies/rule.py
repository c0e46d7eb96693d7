"""What tells one run strategy from another."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from stretto.model.properties import RunStrategyRule
from stretto.strategies.runs import RunKey


class Crowd(NamedTuple):
    """How many runs of the workflow have not ended, and how many failures stand."""

    queued: int
    running: int
    failed: int
    paused: int = 0  # queued, and passed over until they are resumed

    @property
    def pending(self) -> int:
        return self.queued + self.paused

    @property
    def unfinished(self) -> int:
        return self.pending + self.running


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


Verdict = Joins | Drops | Replaces | Refuses


class Rule(ABC):
    """One run strategy. Rules keep nothing; each has its own file and overrides only what makes it differ."""

    name: ClassVar[RunStrategyRule]
    replaces_queued: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = False  # a run that is paused in the queue holds up those behind it
    when_paused: ClassVar[str] = "passed over"  # what a run that is paused in the queue is

    @abstractmethod
    def receive(self, run: RunKey, crowd: Crowd) -> Verdict:
        """What becomes of a new run, and of those that it finds."""

    def slots(self, concurrency: int) -> int:
        """How many may run at once. 0 pauses the workflow, whatever the rule."""
        return min(concurrency, 1)

    def is_blocked(self, crowd: Crowd) -> bool:  # noqa: ARG002 - strict_sequential looks at it
        """Whether nothing may be admitted until a user acts."""
        return False

    def free(self, concurrency: int, crowd: Crowd) -> int:
        """How many queued runs may be admitted now."""
        return 0 if self.is_blocked(crowd) else max(0, self.slots(concurrency) - crowd.running)

    def in_turn(self, queue: Sequence[RunKey], paused: Sequence[RunKey]) -> Sequence[RunKey]:
        """The queued runs that may be admitted before any of the paused ones; all of these are sorted."""
        return queue[: bisect_left(queue, paused[0])] if self.keeps_order and paused else queue

    def barrier(self, crowd: Crowd) -> str | None:  # noqa: ARG002 - the rules that have one look at it
        """Why the workflow can not be switched to this rule now."""
        return None

    def because_of(self, newer: RunKey, verb: str) -> str:
        """The note on the timeline of a run that gives way to a newer one."""
        return (
            f"The run strategy {self.name} {verb}, "
            f"because new instance {newer.instance_id} with run {newer.run_id} arrived."
        )
