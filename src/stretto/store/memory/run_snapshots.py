"""Snapshots of runs for views."""

from collections.abc import Sequence
from copy import copy

from stretto.engine.records import RunKey
from stretto.ports.loading import FlowRows
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import (
    WITH_STEPS,
    FoundSteps,
    Heads,
    InstancePage,
    NamedRuns,
    NewestRun,
    PropertiesTime,
    RunDetail,
    RunPage,
    RunRange,
    RunSelection,
    RunSnapshot,
    VersionNumber,
    WantedSteps,
)
from stretto.store.memory.database import Database, Part, own
from stretto.store.memory.loading import flow_rows, newest_of_each_step
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.run_rows import runs_of_instance
from stretto.store.memory.runs import workflow_row
from stretto.store.run_snapshots import take_snapshot


class MemoryRunSnapshots(Part):
    """See `ports.run_snapshot`."""

    async def read_runs(self, selection: RunSelection, detail: RunDetail = WITH_STEPS) -> RunSnapshot:
        with self._db.transaction():
            return await take_snapshot(_Rows(self._db), selection, detail)


class _Rows:
    """See `SnapshotSource`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def page(self, selection: RunSelection) -> tuple[Slice[RunRow], Span | None]:
        db = self._db
        match selection:
            case NamedRuns(keys):
                return Slice(elements=tuple(self._rows(keys))), None
            case NewestRun(workflow_id, instance_id):
                key = db.instances.get((workflow_id, instance_id))
                return Slice(elements=() if key is None else (own(db.runs[key]),)), None
            case InstancePage(workflow_id, cut):
                newest = {at[1]: db.instances[at] for at in db.instances_of[workflow_id]}
                return self._page(newest, cut)
            case RunPage(workflow_id, instance_id, cut):
                runs = runs_of_instance(db, workflow_id, instance_id)
                return self._page({run.run_id: run for run in runs}, cut)

    def _page(self, keys: dict[int, RunKey], cut: Cut) -> tuple[Slice[RunRow], Span | None]:
        """A page of a list of runs, by their numbers in it."""
        numbers = list(keys)
        page = slice_of(
            select(numbers, cut, newest_first=True), lambda number: own(self._db.runs[keys[number]])
        )
        return page, Span(numbers[0], numbers[-1]) if numbers else None

    async def runs(self, ranges: Sequence[RunRange]) -> list[RunRow]:
        return self._rows([key for each in ranges for key in each.runs()])

    async def steps(self, wanted: WantedSteps) -> FoundSteps:
        db = self._db
        return FoundSteps(
            [row for run in wanted.runs for row in newest_of_each_step(db, run)],
            [own(db.attempts[key]) for key in wanted.attempts if db.attempts.get(key) is not None],
            [copy(db.loops[key]) for run in wanted.loops for key in db.loops_of[run]],
        )

    async def flows(self, roots: Sequence[RunRow]) -> list[FlowRows]:
        return [flow_rows(self._db, row) for row in roots]

    async def heads(self, versions: Sequence[VersionNumber], properties: Sequence[PropertiesTime]) -> Heads:
        db = self._db
        alive = {each[0]: workflow_row(db, each[0]) for each in (*versions, *properties)}
        there = {workflow_id: row for workflow_id, row in alive.items() if row is not None}
        return Heads(
            versions={
                at: version
                for at in versions
                if at[0] in there and (version := db.versions.get(at)) is not None
            },
            properties={
                at: found
                for at in properties
                if at[0] in there and (found := db.snapshots.get(at)) is not None
            },
            internal_ids={workflow_id: row.internal_id for workflow_id, row in there.items()},
        )

    def _rows(self, keys: Sequence[RunKey]) -> list[RunRow]:
        return [own(row) for key in keys if (row := self._db.runs.get(key)) is not None]
