"""Runs, attempts and loops for readers."""

from collections.abc import Collection, Sequence
from copy import copy

from stretto.engine.records import AttemptKey, AttemptRecord, LoopRecord, RunKey
from stretto.model.initiator import UpstreamFields
from stretto.model.status import RunStatus
from stretto.ports.history import RunFilter
from stretto.ports.paging import Cut, Slice, Span
from stretto.ports.rows import AttemptRow, RunRow, StepState, ended_of
from stretto.store.memory.database import Part, own
from stretto.store.memory.loading import newest_of_each_step
from stretto.store.memory.paging import select, slice_of, under
from stretto.store.memory.run_rows import runs_of_instance
from stretto.store.memory.schema import ALL


class MemoryHistory(Part):
    """See `ports.history`."""

    async def run(self, key: RunKey) -> RunRow | None:
        with self._db.transaction():
            row = self._db.runs.get(key)
            return None if row is None else own(row)

    async def newest_run(self, workflow_id: str, instance_id: int) -> RunRow | None:
        with self._db.transaction():
            key = self._db.instances.get((workflow_id, instance_id))
            return None if key is None else own(self._db.runs[key])

    async def instances(
        self, workflow_id: str, cut: Cut, statuses: Collection[RunStatus] = ()
    ) -> Slice[RunRow]:
        db = self._db
        with db.transaction():
            page = select(
                db.instances_of[workflow_id],
                under(cut, workflow_id),
                lambda at: not statuses or db.runs[db.instances[at]].record.status in statuses,
                newest_first=True,
            )
            return slice_of(page, lambda at: own(db.runs[db.instances[at]]))

    async def instance_ids(self, workflow_id: str) -> Span | None:
        with self._db.transaction():
            ids = self._db.instances_of[workflow_id]
            return Span(ids[0][1], ids[-1][1]) if ids else None

    async def runs_of(self, workflow_id: str, instance_id: int, cut: Cut) -> Slice[RunRow]:
        with self._db.transaction():
            keys = runs_of_instance(self._db, workflow_id, instance_id)
            page = select(keys, under(cut, workflow_id, instance_id), newest_first=True)
            return slice_of(page, lambda key: own(self._db.runs[key]))

    async def run_ids(self, workflow_id: str, instance_id: int) -> Span | None:
        with self._db.transaction():
            keys = runs_of_instance(self._db, workflow_id, instance_id)
            return Span(keys[0].run_id, keys[-1].run_id) if keys else None

    async def all_runs(self, cut: Cut, wanted: RunFilter) -> Slice[RunRow]:
        db = self._db
        with db.transaction():
            page = select(
                db.runs_by_time[ALL],
                cut,
                lambda entry: _is_wanted(db.runs[entry[1]], wanted),
                newest_first=True,
            )
            return slice_of(page, lambda entry: own(db.runs[entry[1]]))

    async def recent(self, workflow_ids: Sequence[str], *, most: int = 14) -> dict[str, list[RunRow]]:
        with self._db.transaction():
            newest = {each: reversed(self._db.runs_of[each][-most:]) for each in workflow_ids}
            return {each: [own(self._db.runs[key]) for key in keys] for each, keys in newest.items()}

    async def children(self, parent: AttemptKey, cut: Cut) -> Slice[RunRow]:
        with self._db.transaction():
            return slice_of(select(self._db.children_of[parent], cut), lambda key: own(self._db.runs[key]))

    async def attempt(self, key: AttemptKey) -> AttemptRow | None:
        with self._db.transaction():
            row = self._db.attempts.get(key)
            return None if row is None else own(row)

    async def attempts(self, run: RunKey, step_id: str) -> list[AttemptRow]:
        with self._db.transaction():
            keys = [key for key in self._db.attempts_of[run] if key.step_id == step_id]
            return [own(self._db.attempts[key]) for key in keys]

    async def newest_attempts(self, run: RunKey) -> list[AttemptRow]:
        with self._db.transaction():
            return sorted(newest_of_each_step(self._db, run), key=_by_sequence)

    async def step_states(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepState]]:
        with self._db.transaction():
            found = {run: sorted(newest_of_each_step(self._db, run), key=_by_sequence) for run in runs}
            return {run: [self._state(row.record) for row in rows] for run, rows in found.items() if rows}

    def _state(self, record: AttemptRecord) -> StepState:
        loop = self._db.loops.get(record.key)
        return StepState(
            key=record.key,
            sequence=record.sequence,
            status=record.status,
            create_time=record.create_time,
            start_time=record.start_time,
            end_time=record.end_time,
            child=record.child,
            total=record.loop_total,
            ended={} if loop is None else ended_of(loop),
        )

    async def newest_of_step(self, runs: Collection[RunKey], step_id: str) -> dict[RunKey, AttemptRow]:
        with self._db.transaction():
            newest = {
                key.run: key for run in runs for key in self._db.attempts_of[run] if key.step_id == step_id
            }
            return {run: own(self._db.attempts[key]) for run, key in newest.items()}

    async def newest_in_instance(
        self, workflow_id: str, instance_id: int, step_id: str | None = None
    ) -> list[AttemptRow]:
        with self._db.transaction():
            found: dict[str, AttemptRow] = {}
            for key in reversed(runs_of_instance(self._db, workflow_id, instance_id)):
                for row in newest_of_each_step(self._db, key):
                    if step_id in {None, row.key.step_id}:
                        found.setdefault(row.key.step_id, row)
            return sorted(found.values(), key=_by_sequence)

    async def loops(self, run: RunKey) -> list[LoopRecord]:
        with self._db.transaction():
            return [copy(self._db.loops[key]) for key in self._db.loops_of[run]]


def _by_sequence(row: AttemptRow) -> tuple[int, str]:
    return row.record.sequence, row.key.step_id


def _is_wanted(row: RunRow, wanted: RunFilter) -> bool:
    record = row.record
    return (
        (not wanted.statuses or record.status in wanted.statuses)
        and (wanted.since is None or record.create_time >= wanted.since)
        and (wanted.until is None or record.create_time < wanted.until)
        and wanted.workflow_id in {None, row.key.workflow_id}
        and wanted.owner in {None, record.owner}
        and wanted.correlation_id in {None, record.correlation_id}
        and (wanted.tag is None or any(tag.name == wanted.tag for tag in record.tags))
        and not (wanted.roots and isinstance(record.initiator, UpstreamFields))
    )
