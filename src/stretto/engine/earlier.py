"""What a run takes over from the runs before it, told from their rows.

earlier_key(workflow, instance, below)  -> EarlierRun    an instance below one of its runs; None: so far
iterations_key(inline id, attempt)      -> EarlierLoop   what a restarted loop has had, by its inline id

Both are keys of the effect `Fetch`. Whoever opens a run may hand in its `EarlierRun`; else it is fetched if
it is needed. None as the answer: there is nothing earlier.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import msgspec

from stretto.engine.intervals import Intervals, Row
from stretto.engine.records import NO_PARAMS, AttemptKey, RunKey
from stretto.model.param import Parameter
from stretto.model.status import RunStatus, StepStatus
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
    leaves: Mapping[StepStatus, int] = {}  # of an iteration: what its loop has counted for it


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


def earlier_key(workflow_id: str, instance_id: int, below: int | None = None) -> object:
    """An instance over the runs below one; None: over all that it has had."""
    return ("earlier", workflow_id, instance_id, below)


def iterations_key(inline_id: str, attempt: AttemptKey) -> object:
    """The iterations of a loop before an attempt of its step. What they came to may change with each."""
    return ("iterations", inline_id, attempt.number)
