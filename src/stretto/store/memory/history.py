"""Runs, attempts and loops for readers."""

from collections import Counter
from collections.abc import Collection
from copy import copy
from itertools import islice

from stretto.engine.records import LoopRecord, RunKey
from stretto.model.initiator import UpstreamFields
from stretto.model.status import RunStatus
from stretto.ports.history import (
    Above,
    AttemptList,
    AttemptsOfStep,
    ChildPage,
    Counted,
    FilteredRuns,
    InstancesIn,
    LongestRuns,
    NewestInInstance,
    QuarantinedRuns,
    RunFilter,
    RunList,
    RunTimes,
)
from stretto.ports.paging import Slice, Span
from stretto.ports.rows import (
    AttemptRow,
    Parent,
    RunRow,
    StepState,
    took_until,
)
from stretto.ports.run_snapshot import (
    InstancePage,
    NamedAttempts,
    NamedRuns,
    NewestAttempts,
    NewestRun,
    RunPage,
)
from stretto.store.memory.database import Part, own
from stretto.store.memory.loading import newest_of_each_step, state_of
from stretto.store.memory.paging import Selected, select, slice_of, under
from stretto.store.memory.run_rows import runs_of_instance
from stretto.store.memory.schema import ALL


class MemoryHistory(Part):
    """See `ports.history`."""

    async def runs(self, selection: RunList) -> Slice[RunRow]:
        db = self._db
        with db.transaction():
            match selection:
                case NamedRuns(keys):
                    return Slice(elements=tuple(own(db.runs[key]) for key in keys if key in db.runs))
                case NewestRun():
                    newest = db.instances.get(selection)
                    return Slice(elements=() if newest is None else (own(db.runs[newest]),))
                case InstancePage(workflow_id, cut):
                    page = select(db.instances_of[workflow_id], under(cut, workflow_id), newest_first=True)
                    return slice_of(page, lambda at: own(db.runs[db.instances[at]]))
                case InstancesIn(workflow_id, statuses, cut):
                    page = select(
                        db.instances_of[workflow_id],
                        under(cut, workflow_id),
                        lambda at: not statuses or db.runs[db.instances[at]].record.status in statuses,
                        newest_first=True,
                    )
                    return slice_of(page, lambda at: own(db.runs[db.instances[at]]))
                case FilteredRuns(wanted, cut):
                    page = select(
                        db.runs_by_time[ALL],
                        cut,
                        lambda entry: is_wanted(db.runs[entry[1]], wanted),
                        newest_first=True,
                    )
                    return slice_of(page, lambda entry: own(db.runs[entry[1]]))
                case LongestRuns():
                    return self._longest(selection)
                case _:
                    return slice_of(self._keys(selection), lambda key: own(db.runs[key]))

    def _keys(self, selection: RunPage | ChildPage | QuarantinedRuns) -> Selected:
        match selection:
            case RunPage(workflow_id, instance_id, cut):
                runs = runs_of_instance(self._db, workflow_id, instance_id)
                return select(runs, under(cut, workflow_id, instance_id), newest_first=True)
            case ChildPage(parent, cut):
                return select(self._db.children_of[parent], cut)
            case QuarantinedRuns(cut):
                return select(self._db.quarantine[ALL], cut)

    def _longest(self, wanted: LongestRuns) -> Slice[RunRow]:
        db = self._db
        newest = [db.runs[db.instances[at]] for at in db.instances_of[wanted.workflow_id]]
        begun = {took_until(row, wanted.now): row for row in newest if row.record.start_time is not None}
        return slice_of(select(sorted(begun), wanted.cut, newest_first=True), lambda key: own(begun[key]))

    async def instance_ids(self, workflow_id: str) -> Span | None:
        with self._db.transaction():
            ids = self._db.instances_of[workflow_id]
            return Span(ids[0][1], ids[-1][1]) if ids else None

    async def count_runs(self, wanted: RunFilter, *, most: int = 10_000) -> Counted:
        db = self._db
        with db.transaction():
            value = sum(is_wanted(db.runs[key], wanted) for _time, key in db.runs_by_time[ALL])
            return Counted(min(value, most), value <= most)

    async def run_times(self, wanted: RunFilter, width: int, *, most: int = 10_000) -> RunTimes:
        db, since = self._db, wanted.since or 0
        with db.transaction():
            newest = (db.runs[key] for _time, key in reversed(db.runs_by_time[ALL]))
            found = list(islice((row.record for row in newest if is_wanted(row, wanted)), most + 1))
            counts: dict[int, Counter[RunStatus]] = {}
            for record in reversed(found):
                begin = record.create_time - (record.create_time - since) % width
                counts.setdefault(begin, Counter())[record.status] += 1
            return RunTimes(
                counts={begin: dict(each) for begin, each in counts.items()},
                from_here=found[-1].create_time if len(found) > most else None,
            )

    async def attempts(self, selection: AttemptList) -> list[AttemptRow]:
        db = self._db
        with db.transaction():
            match selection:
                case NamedAttempts(keys):
                    return [own(db.attempts[key]) for key in keys if key in db.attempts]
                case AttemptsOfStep(run, step_id):
                    return [own(db.attempts[key]) for key in db.attempts_of[run] if key.step_id == step_id]
                case NewestAttempts(runs, step_id):
                    newest = (row for run in sorted(set(runs)) for row in self._newest(run))
                    return [row for row in newest if step_id in {None, row.key.step_id}]
                case NewestInInstance(workflow_id, instance_id, step_id):
                    found: dict[str, AttemptRow] = {}
                    for key in reversed(runs_of_instance(db, workflow_id, instance_id)):
                        for row in newest_of_each_step(db, key):
                            if step_id in {None, row.key.step_id}:
                                found.setdefault(row.key.step_id, row)
                    return sorted(found.values(), key=_by_sequence)

    def _newest(self, run: RunKey) -> list[AttemptRow]:
        return sorted(newest_of_each_step(self._db, run), key=_by_sequence)

    async def step_states(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepState]]:
        with self._db.transaction():
            found = {run: self._newest(run) for run in runs}
            return {
                run: [state_of(self._db, row.record) for row in rows] for run, rows in found.items() if rows
            }

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        with self._db.transaction():
            return [copy(self._db.loops[key]) for key in self._db.loops_of[run]]


def _by_sequence(row: AttemptRow) -> tuple[int, str]:
    return row.record.sequence, row.key.step_id


def _is_below(parent: Parent | None, above: Above) -> bool:
    return (
        parent is not None
        and parent.attempt.run == above.run
        and above.step_id in {None, parent.attempt.step_id}
        and above.attempt in {None, parent.attempt.number}
    )


def is_wanted(row: RunRow, wanted: RunFilter) -> bool:
    """Whether a filter lets a run through."""
    record = row.record
    return (
        (not wanted.statuses or record.status in wanted.statuses)
        and (wanted.since is None or record.create_time >= wanted.since)
        and (wanted.until is None or record.create_time < wanted.until)
        and wanted.workflow_id in {None, row.key.workflow_id}
        and wanted.owner in {None, record.owner}
        and wanted.correlation_id in {None, record.correlation_id}
        and wanted.uuid in {None, record.uuid}
        and wanted.initiator in {None, record.initiator.__struct_config__.tag}
        and wanted.version_id in {None, record.version_id}
        and (wanted.parent is None or _is_below(row.parent, wanted.parent))
        and (wanted.tag is None or any(tag.name == wanted.tag for tag in record.tags))
        and not (wanted.roots and isinstance(record.initiator, UpstreamFields))
    )
