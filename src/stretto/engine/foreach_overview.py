"""How far a foreach step has come: counters and rows of iterations, never a list of them.

    progress.add(iteration, status)            it was launched
    progress.move(iteration, before, after)    it went on, or ended
    progress.restart(iteration, rollup)        it has ended and starts again while the others still run
    kept_from(previous, iteration)             where a restarted foreach begins

What has ended and what runs are counted apart. The checkpoint says up to where all have ended; it does not go
back when one of them starts again. Each operation costs as much as finding a row.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Self

from stretto.engine.intervals import ENDED, Details
from stretto.engine.rollup import Rollup
from stretto.model.actions import StepAction
from stretto.model.errors import Internal, InvalidRequest
from stretto.model.foreach import ForeachOverview
from stretto.model.pending_action import PendingForeachAction
from stretto.model.run_config import RestartConfig
from stretto.model.status import InstanceStatus
from stretto.model.user import User

I = InstanceStatus  # noqa: E741 - as short as in the tables of moves
Stats = dict[InstanceStatus, int]
_ENDED: Final = frozenset(ENDED)


class ForeachProgress:
    """The live form of a `ForeachOverview`."""

    __slots__ = ("checkpoint", "details", "restarted", "rollup", "running_rollup", "running_stats", "stats")

    def __init__(self) -> None:
        self.checkpoint = 0
        self.stats: Stats = {}  # of ended iterations
        self.running_stats: Stats = {}
        self.rollup = Rollup()
        self.running_rollup = Rollup()
        self.details = Details()
        self.restarted: set[int] = set()  # start again, and have not ended since

    @classmethod
    def of(cls, record: ForeachOverview) -> Self:
        progress = cls()
        progress.checkpoint = record.checkpoint
        progress.stats = dict(record.stats)
        progress.running_stats = dict(record.running_stats)
        progress.rollup = Rollup.of(record.rollup)
        progress.running_rollup = Rollup.of(record.running_rollup)
        progress.details = Details(record.details)
        progress.restarted = set(record.restart_info)
        return progress

    def record(self) -> ForeachOverview:
        return ForeachOverview(
            checkpoint=self.checkpoint,
            stats=dict(self.stats),
            running_stats=dict(self.running_stats),
            rollup=self.rollup.record(),
            running_rollup=self.running_rollup.record() if self.running_stats else None,
            details=self.details.record(),
            restart_info=sorted(self.restarted),
        )

    # ----------------------------------------------------------------------------------------- what happens
    def add(self, iteration: int, status: InstanceStatus, rollup: Rollup | None = None) -> None:
        """An iteration that was not counted yet, with the leaves under it."""
        self._count(status, 1)
        self.details.of(status).add(iteration)
        if rollup is not None:
            (self.rollup if status in _ENDED else self.running_rollup).merge(rollup)
        if status in _ENDED:
            self._advance(iteration)

    def move(
        self, iteration: int, before: InstanceStatus, after: InstanceStatus, rollup: Rollup | None = None
    ) -> None:
        """An iteration that runs goes on; when it ends, `rollup` is what is under it in the end."""
        self.details.reset(iteration, before, after)
        self._count(before, -1)
        self._count(after, 1)
        if after in _ENDED:
            self.restarted.discard(iteration)
            if rollup is not None:
                self.running_rollup.subtract(rollup)
                self.rollup.merge(rollup)
            self._advance(iteration)

    def restart(self, iteration: int, rollup: Rollup | None = None) -> None:
        """An ended iteration starts again; `rollup` is what was under it and is counted no more."""
        before = self.details.status_of(iteration)
        if before is None or not self.is_restartable(iteration):
            message = f"Invalid: pending action tries to restart a non-restartable iteration: {iteration}"
            raise InvalidRequest(message)
        self.details.reset(iteration, before, I.CREATED)
        self._count(before, -1)
        self._count(I.CREATED, 1)
        self.restarted.add(iteration)
        if rollup is not None:
            self.rollup.subtract(rollup)

    def reset_running(self) -> None:
        """Forget what is known of running iterations, to count them again from their rows."""
        self.running_stats = {}
        self.running_rollup = Rollup()
        ended = {status: rows for status, rows in self.details.record().items() if status.is_terminal}
        self.details = Details(ended)

    def _count(self, status: InstanceStatus, change: int) -> None:
        stats = self.stats if status in _ENDED else self.running_stats
        count = stats.get(status, 0) + change
        if count < 0:
            raise Internal(f"there is no iteration in status {status} to take away")
        if count:
            stats[status] = count
        else:
            stats.pop(status, None)

    def _advance(self, ended: int) -> None:
        if ended == self.checkpoint + 1:
            self.checkpoint = self.details.ended_up_to(self.checkpoint)

    # ------------------------------------------------------------------------------------------ what is known
    def is_restartable(self, iteration: int) -> bool:
        """Whether one iteration can start again while the step runs: it has ended, and not asked twice."""
        return iteration not in self.restarted and self.details.is_restartable(iteration)

    def has(self, status: InstanceStatus) -> bool:
        """Whether any iteration is in a status."""
        return status in self.stats or status in self.running_stats

    def running_count(self) -> int:
        return sum(self.running_stats.values())

    def ordered_count(self, launched: int) -> int:
        """The running count under strict ordering: all up to the last one launched, from the oldest that
        has not ended on. So a slow iteration holds back those that come after it.
        """
        lowest = self.details.lowest_running
        return 0 if lowest is None else launched - lowest + 1

    def overall_rollup(self) -> Rollup:
        return Rollup().merge(self.rollup).merge(self.running_rollup)

    def next_to_launch(self, iteration: int) -> int:
        """The first iteration, from the given one on, that is not known: what was kept is passed over."""
        while (row := self.details.row_of(iteration)) is not None:
            iteration = row[1] + 1
        return iteration


# --------------------------------------------------------------------------------------------- starting again
def kept_from(previous: ForeachProgress, iteration: int | None = None) -> ForeachProgress:
    """What a restarted foreach keeps: iterations that succeeded, or all that ended if one is named.

    Never-launched iterations and those that are not kept run (again). The rollup is `base_rollup`.
    """
    kept = ForeachProgress()
    rows = {
        status: rows
        for status, rows in previous.details.record().items()
        if status is I.SUCCEEDED or (iteration is not None and status.is_terminal)
    }
    kept.details = Details(rows)
    kept.stats = {status: len(kept.details.of(status)) for status in rows}
    kept.checkpoint = kept.details.ended_up_to(0)
    return kept


def runs_again(previous: ForeachProgress, kept: ForeachProgress) -> Iterator[int]:
    """The iterations that ran before and are not kept: their old rollups count no more."""
    for status in previous.details.record():
        for iteration in previous.details.of(status):
            if kept.details.status_of(iteration) is None:
                yield iteration


def batches(iterations: Iterable[int], size: int) -> Iterator[list[int]]:
    """The iterations in lists of at most `size`: reading a million old rollups must not be one query."""
    source = iter(iterations)
    while batch := list(islice(source, size)):
        yield batch


def base_rollup(previous: Rollup, again: Rollup) -> Rollup:
    """What stays of the previous rollup when some of its iterations run again."""
    if previous.total < again.total:
        raise Internal(
            f"Rollup of the previous run cannot have less steps [{previous.total}] than rollup of the"
            f" previous steps that are also expected to execute in the new run [{again.total}]."
        )
    return Rollup().merge(previous).subtract(again)


def restart_action(config: RestartConfig, iteration: int, now: int) -> PendingForeachAction:
    """The system's own request to start one iteration again, at the end of the way down a restart path."""
    return PendingForeachAction(
        instance_id=iteration,
        instance_run_id=0,  # the newest
        restart_config=config,
        action=StepAction.RESTART,
        user=User(name="maestro"),
        create_time=now,
    )


# ------------------------------------------------------------------------------------------- how many at once
def derived_concurrency(workflow: int | None, instance: int | None, default: int) -> int:
    """How many steps a run may have at once: the smaller of what is set, or the setting's default."""
    return min((limit for limit in (workflow, instance) if limit is not None), default=default)


def allowance(concurrency: int | None, derived: int, running: int) -> int:
    """How many more iterations may be launched now; `concurrency` is the step's own."""
    return max(0, (derived if concurrency is None else min(concurrency, derived)) - running)
