"""What a run takes over from the runs before it, told from their rows.

earlier_key(workflow, instance, below)  -> EarlierRun    an instance below one of its runs; None: so far
iterations_key(inline id, attempt)      -> EarlierLoop   what a restarted loop has had, by its inline id;
                                                         `undone`: some of it may be undone
undo_key(inline id, below)              -> UndoPage      iterations that can be undone, the newest first

These are keys of the effect `Fetch`. Whoever opens a run may hand in its `EarlierRun`; else it is fetched if
it is needed. None as the answer: there is nothing earlier.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.engine.intervals import Intervals, Row
from stretto.engine.outcome import worst_end
from stretto.engine.records import NO_PARAMS, AttemptKey, Compensation, RunKey
from stretto.model.param import Parameter
from stretto.model.rollup import RollupOverview
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep
from stretto.params import StepFacts

Rows = tuple[Row, ...]


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """An instance over its runs so far; what only the newest of them can say stands last."""

    statuses: Mapping[str, StepStatus] = {}  # of each step, the newest
    steps: Mapping[str, StepFacts] = {}  # those that are complete
    loop_runs: Mapping[str, int] = {}  # steps with iterations -> the highest run id that one of them had
    children: Mapping[str, RunKey] = {}  # subworkflow steps -> the run that they started last
    run_id: int = 0
    status: RunStatus = RunStatus.CREATED
    params: Mapping[str, Parameter] = NO_PARAMS
    rollups: Mapping[str, RollupOverview] = {}  # what each step counts, with all that is below it
    loops: Mapping[str, RollupOverview] = {}  # steps with iterations -> what these count, over all runs
    undo: tuple[str, ...] = ()  # ids of the steps that would undo what stands, in order
    undone: Collection[str] = ()  # steps that one of the runs has undone, also if they ran again since
    compensation: Compensation | None = None

    def end(self, *, timeouts_fail: bool) -> RunStatus:
        """How the instance ended, with what its newest run left alone."""
        worst = worst_end(Counter(self.statuses.values()), timeouts_fail=timeouts_fail)
        return self.status if worst is None else worst


NO_EARLIER: Final = EarlierRun()


class Taken(NamedTuple):
    """The iterations of a restarted loop: those that stay, how they ended, and those that run again."""

    kept: Rows
    ended: dict[RunStatus, int]
    again: Rows


class EarlierLoop(msgspec.Struct, frozen=True, kw_only=True):
    """The iterations that a loop has had: the newest run of each has ended so. None of them is listed."""

    rows: Mapping[RunStatus, Rows] = {}

    @property
    def highest(self) -> int:
        return max((last for rows in self.rows.values() for _, last in rows), default=0)

    @property
    def first_bad(self) -> int | None:
        """The first iteration that did not succeed, or that was undone."""
        bad = (rows[0][0] for status, rows in self.rows.items() if status is not RunStatus.SUCCEEDED and rows)
        return min(bad, default=None)

    def taken(self, keep: Collection[RunStatus], but: int | None = None) -> Taken:
        """Keep what ended in one of these statuses, but for one iteration."""
        kept, again = Intervals(), Intervals()
        ended: dict[RunStatus, int] = {}
        for status, rows in self.rows.items():
            mine = kept if status in keep else again
            before = len(mine)
            for first, last in rows:
                mine.add_row(first, last)
            if but is not None and mine is kept and kept.remove(but):
                again.add(but)
            ended[status] = len(mine) - before if mine is kept else 0
        counts = {status: count for status, count in ended.items() if count}
        return Taken(tuple(kept.rows()), counts, tuple(again.rows()))


class UndoPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some iterations of a loop that can be undone, the newest first; there are no others from `below` up."""

    iterations: tuple[tuple[int, EarlierRun], ...] = ()
    below: int = 1  # what comes next begins below this iteration
    steps: tuple[AnyStep, ...] = ()  # of one iteration


def earlier_key(workflow_id: str, instance_id: int, below: int | None = None) -> object:
    """An instance over the runs below one; None: over all that it has had."""
    return ("earlier", workflow_id, instance_id, below)


def undo_key(inline_id: str, below: int) -> object:
    """Iterations below one that can be undone; 0: from the last on."""
    return ("undo", inline_id, below)


def iterations_key(inline_id: str, attempt: AttemptKey, *, undone: bool = False) -> object:
    """The iterations of a loop before an attempt of its step. What they came to may change with each."""
    return ("undone iterations" if undone else "iterations", inline_id, attempt.number)
