"""Runs, attempts and loops for readers. Everything here only reads, and sees what is committed."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

import msgspec

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.status import RunStatus
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import AttemptRow, RunRow, StepState
from stretto.ports.run_snapshot import AttemptSelection, RunSelection


class Above(msgspec.Struct, frozen=True, kw_only=True):
    """The run, the step or the attempt that has started others."""

    run: RunKey
    step_id: str | None = None
    attempt: int | None = None


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs a list shows; all that is set must hold. Times are of creation."""

    statuses: Collection[RunStatus] = ()
    since: int | None = None
    until: int | None = None  # not included
    workflow_id: str | None = None
    owner: str | None = None
    tag: str | None = None
    correlation_id: str | None = None
    uuid: str | None = None  # the request id
    initiator: str | None = None  # the type: MANUAL, TIME ...
    version_id: int | None = None
    parent: Above | None = None
    roots: bool = False  # only runs that no step has started


class Counted(NamedTuple):
    """How many there are. Not exact: at least so many; nobody has looked further."""

    value: int
    exact: bool = True


class RunTimes(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs were created when, by the begin of a time and by status.

    from_here   Nobody has looked at runs that were created before; None: at all of them.
    """

    counts: Mapping[int, Mapping[RunStatus, int]]
    from_here: int | None = None


class InstancesIn(NamedTuple):
    """The newest run of each instance, if it is in one of these statuses, by instance id, newest first. No
    statuses: in any.
    """

    workflow_id: str
    statuses: Collection[RunStatus]
    cut: Cut


class FilteredRuns(NamedTuple):
    """Runs of all workflows but iterations, by (create time, run key), newest first."""

    wanted: RunFilter
    cut: Cut


class ChildPage(NamedTuple):
    """Runs that an attempt waits for, or waited for, by key; iterations are not among them."""

    parent: AttemptKey
    cut: Cut


class QuarantinedRuns(NamedTuple):
    """Runs that were set aside, by key."""

    cut: Cut


class LongestRuns(NamedTuple):
    """The newest runs of the iterations of a loop, as far as they have begun, by (how long they took or take
    until now, instance id), longest first. All of them are looked at: not for a million.
    """

    workflow_id: str
    now: int
    cut: Cut


RunList = RunSelection | InstancesIn | FilteredRuns | ChildPage | QuarantinedRuns | LongestRuns


class AttemptsOfStep(NamedTuple):
    """All attempts of a step in a run, by number."""

    run: RunKey
    step_id: str


class NewestInInstance(NamedTuple):
    """The newest attempt of each step, or of one, in the newest run of an instance that has it."""

    workflow_id: str
    instance_id: int
    step_id: str | None = None


AttemptList = AttemptSelection | AttemptsOfStep | NewestInInstance


class History(Protocol):
    """What happened. Iterations are runs of their loop's inline workflow, and found under its id."""

    async def runs(self, selection: RunList) -> Slice[RunRow]:
        """The selected runs, in the order of the selection."""
        ...

    async def instance_ids(self, workflow_id: str) -> Span | None:
        """The lowest and the highest instance id that has a run."""
        ...

    async def count_runs(self, wanted: RunFilter, *, most: int = 10_000) -> Counted:
        """How many runs `FilteredRuns` has with this filter. No more than `most` entries of an index are
        looked at for each value that is asked for, and fewer where the rows must be read, too.
        """
        ...

    async def run_times(self, wanted: RunFilter, width: int, *, most: int = 10_000) -> RunTimes:
        """When the runs of a filter, which says since when, were created, in times that are so long. No more
        than `most` entries of an index are looked at for each value that is asked for, the newest ones.
        """
        ...

    async def attempts(self, selection: AttemptList) -> list[AttemptRow]:
        """The selected attempts, in the order of the selection."""
        ...

    async def step_states(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepState]]:
        """The newest attempt of each step in each of these runs, by sequence: from columns alone, and in one
        statement. Runs without attempts are missing.
        """
        ...

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        """The loops of a run, of all attempts, by attempt."""
        ...
