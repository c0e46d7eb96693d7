"""Rows of runs and attempts: the engine's records, and the columns around them that the engine never sees."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, NewType

import msgspec

from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunKey, RunRecord
from stretto.model.rollup import RollupOverview
from stretto.model.status import FailureMark, RunStatus, StepStatus
from stretto.model.words import Word

NodeId = NewType("NodeId", str)  # new at each start of a process, never used again


class Lease(NamedTuple):
    """A flow group and the generation under which somebody owns it: what a write for the group must name."""

    group: int
    generation: int


class Parent(NamedTuple):
    """The step attempt that waits for a run, and the group where it is told of the run's end."""

    group: int
    attempt: AttemptKey


class Phase(Word):
    """Who may write a run: its workflow's lock while QUEUED or ENDED, its group's owner in between.

    QUEUED -> ADMITTED or ENDED and the marks of ENDED ones: workflow transactions.
    ADMITTED -> LIVE or ENDED, LIVE -> ENDED: group commits. Nothing leaves ENDED.
    """

    QUEUED = "QUEUED"
    ADMITTED = "ADMITTED"  # the row is its own launch message
    LIVE = "LIVE"
    ENDED = "ENDED"


def mark_of(status: RunStatus) -> FailureMark | None:
    """How a run that ends now is marked."""
    return FailureMark.STANDING if status is RunStatus.FAILED else None


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """What a run waits for, for lists: the oldest of its waits."""

    kind: str
    ref: str | None = None
    since: int


class FirstError(msgspec.Struct, frozen=True, kw_only=True):
    """The first step of a run that ended badly."""

    step_id: str
    status: StepStatus
    text: str | None = None


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What lists and live views show of a run: kept beside it, never computed when it is read."""

    counts: Mapping[StepStatus, int] = {}
    first_error: FirstError | None = None
    wait: Wait | None = None
    rollup: RollupOverview | None = None


NO_SUMMARY = RunSummary()


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is stored. The record's `uuid` is its request id: no two runs of a workflow share one."""

    record: RunRecord
    group: int
    phase: Phase
    failure: FailureMark | None = None  # of a FAILED run
    root: RunKey  # the run whose flow holds it: itself, unless it is an iteration
    parent: Parent | None = None
    due_at: int | None = None  # see `commit.Decided`
    quarantined: str | None = None  # why it was set aside
    summary: RunSummary = NO_SUMMARY
    modify_time: int = 0

    @property
    def key(self) -> RunKey:
        return self.record.key


def took_until(row: RunRow, now: int) -> tuple[int, int]:
    """How long a run that has begun took, or takes until now; and the id of its instance."""
    record = row.record
    end = now if record.end_time is None else record.end_time
    return end - (record.start_time or 0), row.key.instance_id


class RunGlance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands, without its record: from columns alone."""

    key: RunKey
    version_id: int
    status: RunStatus
    create_time: int
    start_time: int | None = None
    end_time: int | None = None
    summary: RunSummary = NO_SUMMARY

    @property
    def counts(self) -> Mapping[StepStatus, int]:
        """Of its steps, as far as they were created."""
        return self.summary.counts

    @property
    def duration(self) -> int | None:
        """From its start to its end; None, as long as one of them is missing."""
        if self.start_time is None or self.end_time is None:
            return None
        return self.end_time - self.start_time


def glance_of(row: RunRow) -> RunGlance:
    """What a glance shows of a run that was read whole."""
    record = row.record
    return RunGlance(
        key=row.key,
        version_id=record.version_id,
        status=record.status,
        create_time=record.create_time,
        start_time=record.start_time,
        end_time=record.end_time,
        summary=row.summary,
    )


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as it is stored."""

    record: AttemptRecord
    runs_on: NodeId | None = None  # the node that was to do the work of the recorded launch
    modify_time: int = 0

    @property
    def key(self) -> AttemptKey:
        return self.record.key


class StepState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The newest attempt of a step as live views show it, without its record.

    is_loop        It has iterations, or steps that it brought along.
    total, ended   Of a loop: how many iterations it has, if that is known, and how many have ended how. Kept
                   beside it; load counts anew.
    """

    key: AttemptKey
    sequence: int
    status: StepStatus
    create_time: int | None = None
    start_time: int | None = None
    end_time: int | None = None
    child: RunKey | None = None
    is_loop: bool = False
    total: int | None = None
    ended: Mapping[RunStatus, int] = {}


def ended_of(loop: LoopRecord) -> dict[RunStatus, int]:
    """How many iterations of a loop have ended how: its own, and those that others counted."""
    counts = Counter(loop.ended)
    counts.update(loop.apart)
    return {status: count for status, count in sorted(counts.items()) if count}


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a run, without its record: what a decision under the workflow's lock looks at."""

    key: RunKey
    uuid: str
    version_id: int
    group: int
    phase: Phase
    status: RunStatus
    failure: FailureMark | None = None
    paused: bool = False  # by a user
    held: bool = False  # by the run whose step waits for it
    parent: Parent | None = None
