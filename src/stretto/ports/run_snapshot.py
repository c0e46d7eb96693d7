"""Runs with all that views of them need, read in one transaction: as of one moment.

    snapshot = await store.read_runs(NewestRun("etl", 5))
    for row in snapshot.page.elements:
        workflow = await definition_of(snapshot, row)

A snapshot answers in memory what a view would otherwise ask the store (`RunReader`), so the code of a view
does not know which of them it reads. Asking it for something that was not read with it raises `LookupError`:
that is a defect of the code that asks, not of the data.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.properties import PropertiesSnapshot
from stretto.model.workflow import WorkflowVersion
from stretto.ports.loading import FlowRows
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import AttemptRow, RunRow

VersionNumber = tuple[str, int]  # workflow id and number of a version
PropertiesTime = tuple[str, int]  # workflow id and create time of its properties
InstanceKey = tuple[str, int]  # workflow id and instance id


class NamedRuns(NamedTuple):
    """These runs, in this order, as far as they are there."""

    keys: tuple[RunKey, ...]


class NewestRun(NamedTuple):
    """The run of an instance with the highest id; none also while it is being forgotten."""

    workflow_id: str
    instance_id: int


class InstancePage(NamedTuple):
    """The newest run of each instance of a workflow, by instance id, newest first."""

    workflow_id: str
    cut: Cut


class RunPage(NamedTuple):
    """The runs of an instance, by run id, newest first."""

    workflow_id: str
    instance_id: int
    cut: Cut


RunSelection = NamedRuns | NewestRun | InstancePage | RunPage


class RunDetail(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of each selected run, beside its row and its definition.

    steps      The newest attempt of each step, in it and in the runs of its instance before it. A restarted
               run has them in any case.
    attempts   Attempts that are read whether they are the newest of their steps or not.
    below      Steps whose loops and children are read, too; None: those of all steps.
    over_runs  `below` is about the newest attempt of each step over all runs of the instance.
    """

    steps: bool = True
    attempts: tuple[AttemptKey, ...] = ()
    below: Collection[str] | None = ()
    over_runs: bool = False

    def has_below(self, step_id: str) -> bool:
        """Whether what a step has started is read."""
        return self.below is None or step_id in self.below


WITH_STEPS: Final = RunDetail()


class NamedAttempts(NamedTuple):
    """These attempts, in any order, as far as they are there."""

    keys: tuple[AttemptKey, ...]


class NewestAttempts(NamedTuple):
    """The newest attempt of each step, or of one, in each of these runs: by run, sequence and step."""

    runs: tuple[RunKey, ...]
    step_id: str | None = None


AttemptSelection = NamedAttempts | NewestAttempts


class RunReader(Protocol):
    """What views read of runs: from a store, or from a snapshot. See `History` and `Workflows`."""

    async def runs(self, selection: RunSelection) -> Slice[RunRow]: ...

    async def attempts(self, selection: AttemptSelection) -> list[AttemptRow]: ...

    async def loops(self, run: RunKey) -> list[LoopRecord]: ...

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None: ...


async def read_run(reader: RunReader, key: RunKey) -> RunRow | None:
    """One run."""
    return next(iter((await reader.runs(NamedRuns((key,)))).elements), None)


async def read_newest_run(reader: RunReader, workflow_id: str, instance_id: int) -> RunRow | None:
    """The run of an instance with the highest id."""
    return next(iter((await reader.runs(NewestRun(workflow_id, instance_id))).elements), None)


async def read_attempt(reader: RunReader, key: AttemptKey) -> AttemptRow | None:
    """One attempt."""
    return next(iter(await reader.attempts(NamedAttempts((key,)))), None)


class RunSnapshot:
    """Some runs, and what was read with them.

    page    The selected runs that were read.
    span    Of a page: the lowest and the highest number of the whole list.
    left    Selected runs that were not read, because the steps of those before them are many.
    flows   What is alive in the runs below whose steps somebody looks, by the run that holds it.
    """

    def __init__(self, page: Slice[RunRow], span: Span | None) -> None:
        self.page = page
        self.span = span
        self.left: tuple[RunKey, ...] = ()
        self.flows: dict[RunKey, FlowRows] = {}
        self._runs: dict[RunKey, RunRow] = {}
        self._sought: dict[InstanceKey, set[int]] = {}
        self._steps: dict[RunKey, list[AttemptRow]] = {}
        self._attempts: dict[AttemptKey, AttemptRow | None] = {}
        self._loops: dict[RunKey, list[LoopRecord]] = {}
        self._heads = Heads()

    # -------------------------------------------------------------------------------------------- reading
    async def runs(self, selection: RunSelection) -> Slice[RunRow]:
        """Runs by their keys, or those of an instance below a number, which are all there at once."""
        match selection:
            case NamedRuns(keys):
                pass
            case RunPage(workflow_id, instance_id, Cut(below=int(below), above=None)):
                keys = tuple(RunKey(workflow_id, instance_id, each) for each in range(below - 1, 0, -1))
            case _:
                raise LookupError(f"a snapshot has not all of {selection}")
        for key in keys:
            self._check_sought(key)
        return Slice(elements=tuple(self._runs[key] for key in keys if key in self._runs))

    async def attempts(self, selection: AttemptSelection) -> list[AttemptRow]:
        match selection:
            case NamedAttempts(keys):
                return [found for found in (self._attempts[key] for key in keys) if found is not None]
            case NewestAttempts(runs, None):
                return [row for run in runs for row in self._steps[run]]
            case _:
                raise LookupError(f"a snapshot has no {selection}")

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        return self._loops[run]

    async def version(self, workflow_id: str, version_id: int) -> WorkflowVersion | None:
        return self._heads.versions.get((workflow_id, version_id))

    def internal_id(self, workflow_id: str) -> int | None:
        """That of the workflow of a selected run; None: it is deleted."""
        return self._heads.internal_ids.get(workflow_id)

    def properties_of(self, root: RunRow) -> PropertiesSnapshot | None:
        """The properties that held when a run was made. An iteration goes by those of the run around it."""
        at = root.record.properties_at
        return None if at is None else self._heads.properties.get((root.key.workflow_id, at))

    # ------------------------------------------------------------------------------------ for who fills it
    def known(self, key: RunKey) -> RunRow | None:
        """A run, if it was read."""
        return self._runs.get(key)

    def is_sought(self, key: RunKey) -> bool:
        """Whether a run was read, or is known to be missing."""
        return key.run_id in self._sought.get(key[:2], ())

    def has_steps(self, run: RunKey) -> bool:
        return run in self._steps

    def has_attempt(self, key: AttemptKey) -> bool:
        return key in self._attempts

    def has_loops(self, run: RunKey) -> bool:
        return run in self._loops

    def steps_of(self, run: RunKey) -> Sequence[AttemptRow]:
        """The newest attempts of a run, as far as they were read."""
        return self._steps.get(run, ())

    def attempt_of(self, key: AttemptKey) -> AttemptRow | None:
        """An attempt that was named, if it is there and was read."""
        return self._attempts.get(key)

    def loops_of(self, run: RunKey) -> Sequence[LoopRecord]:
        """The loops of a run, as far as they were read."""
        return self._loops.get(run, ())

    def add_runs(self, sought: Iterable[RunKey], rows: Iterable[RunRow]) -> None:
        """Runs that were looked for, and those of them that are there."""
        for key in sought:
            self._sought.setdefault(key[:2], set()).add(key.run_id)
        self._runs.update((row.key, row) for row in rows)

    def add_steps(self, wanted: "WantedSteps", found: "FoundSteps") -> None:
        """Attempts and loops that were looked for, and those that are there."""
        for run in wanted.runs:
            self._steps[run] = []
        for run in wanted.loops:
            self._loops[run] = []
        self._attempts.update(dict.fromkeys(wanted.attempts))
        for row in sorted(found.newest, key=_by_sequence):
            self._steps[row.key.run].append(row)
        self._attempts.update((row.key, row) for row in found.named)
        for loop in sorted(found.loops, key=_by_attempt):
            self._loops[loop.key.run].append(loop)

    def add_heads(self, heads: "Heads") -> None:
        self._heads = heads

    def drain(self) -> list[AttemptRow]:
        """All attempts that were read, for a reader that is done: the snapshot has none afterwards."""
        rows = [row for newest in self._steps.values() for row in newest]
        rows += [row for row in self._attempts.values() if row is not None]
        rows += [row for flow in self.flows.values() for row in flow.attempts]
        self._steps, self._attempts, self.flows = {}, {}, {}
        return rows

    def _check_sought(self, key: RunKey) -> None:
        if not self.is_sought(key):
            raise LookupError(f"the run {key} was not read with its snapshot")


class RunRange(NamedTuple):
    """Runs of an instance with ids from one to another."""

    workflow_id: str
    instance_id: int
    lowest: int
    highest: int

    def runs(self) -> list[RunKey]:
        """All that may be there."""
        ids = range(self.lowest, self.highest + 1)
        return [RunKey(self.workflow_id, self.instance_id, each) for each in ids]


class WantedSteps(NamedTuple):
    """Runs whose newest attempts are wanted, single attempts, and runs whose loops are."""

    runs: Sequence[RunKey]
    attempts: Sequence[AttemptKey]
    loops: Sequence[RunKey]


class FoundSteps(NamedTuple):
    """What there is of these, in no order."""

    newest: Sequence[AttemptRow]
    named: Sequence[AttemptRow]
    loops: Sequence[LoopRecord]


class Heads(msgspec.Struct, frozen=True, kw_only=True):
    """Versions, properties, and the internal ids of the workflows that they are of; none of deleted ones."""

    versions: Mapping[VersionNumber, WorkflowVersion] = {}
    properties: Mapping[PropertiesTime, PropertiesSnapshot] = {}
    internal_ids: Mapping[str, int] = {}


class SnapshotSource(Protocol):
    """One transaction of a store: how a snapshot reads rows, a statement or two each time."""

    async def page(self, selection: RunSelection) -> tuple[Slice[RunRow], Span | None]:
        """The selected runs; named ones in any order. A page of a list also has the span of that list."""
        ...

    async def runs(self, ranges: Sequence[RunRange]) -> Sequence[RunRow]: ...

    async def steps(self, wanted: WantedSteps) -> FoundSteps: ...

    async def flows(self, roots: Sequence[RunRow]) -> Sequence[FlowRows]:
        """What is alive in these runs."""
        ...

    async def heads(
        self, versions: Sequence[VersionNumber], properties: Sequence[PropertiesTime]
    ) -> Heads: ...


class RunSnapshots(Protocol):
    """Reads for views."""

    async def read_runs(self, selection: RunSelection, detail: RunDetail = WITH_STEPS) -> RunSnapshot:
        """The selected runs, with all that views of them need: in one transaction, and in a number of
        statements that depends neither on the runs nor on their steps.
        """
        ...


def _by_sequence(row: AttemptRow) -> tuple[int, str]:
    return row.record.sequence, row.key.step_id


def _by_attempt(loop: LoopRecord) -> tuple[str, int]:
    return loop.key.step_id, loop.key.number
