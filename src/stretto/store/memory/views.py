"""Many runs at once for live views."""

from collections import Counter
from collections.abc import Collection

from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.status import StepStatus
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Phase, RunGlance, RunRow, glance_of
from stretto.ports.views import BucketCount, StepMark, StepMarks, StepTime
from stretto.store.memory.database import Part
from stretto.store.memory.loading import newest_of_each_step, state_of
from stretto.store.memory.paging import select, slice_of, under


class MemoryViews(Part):
    """See `ports.views`."""

    async def glances(self, runs: Collection[RunKey]) -> dict[RunKey, RunGlance]:
        with self._db.transaction():
            rows = {key: self._db.runs.get(key) for key in runs}
            return {key: glance_of(row) for key, row in rows.items() if row is not None}

    async def step_marks(self, run: RunKey) -> StepMarks:
        with self._db.transaction():
            records = [row.record for row in newest_of_each_step(self._db, run)]
            below = [each for each in records if each.child is not None or each.key in self._db.loops]
            return StepMarks(
                {each.key.step_id: _mark(each) for each in records},
                {each.key.step_id: state_of(self._db, each) for each in below},
            )

    async def glances_of(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        with self._db.transaction():
            keys = self._db.runs_of[workflow_id]
            page = select(keys, _whole(cut, workflow_id), newest_first=True)
            return slice_of(page, lambda key: glance_of(self._db.runs[key]))

    async def glances_of_instances(self, workflow_id: str, cut: Cut) -> Slice[RunGlance]:
        db = self._db
        with db.transaction():
            page = select(db.instances_of[workflow_id], under(cut, workflow_id), newest_first=True)
            return slice_of(page, lambda at: glance_of(db.runs[db.instances[at]]))

    async def step_statuses(self, runs: Collection[RunKey]) -> dict[RunKey, dict[str, StepStatus]]:
        with self._db.transaction():
            found = {
                run: {row.key.step_id: row.record.status for row in newest_of_each_step(self._db, run)}
                for run in runs
            }
            return {run: statuses for run, statuses in found.items() if statuses}

    async def status_counts(self, runs: Collection[RunKey]) -> dict[RunKey, dict[StepStatus, int]]:
        found = await self.step_statuses(runs)
        return {run: dict(Counter(statuses.values())) for run, statuses in found.items()}

    async def iteration_counts(
        self, workflow_id: str, width: int, *, run_id: int | None = None
    ) -> list[BucketCount]:
        db = self._db
        with db.transaction():
            newest = [db.instances[at] for at in db.instances_of[workflow_id]]
            counts = Counter(
                (key.instance_id - (key.instance_id - 1) % width, db.runs[key].record.status)
                for key in newest
                if run_id in {None, key.run_id}
            )
            return [BucketCount(first, status, counts[first, status]) for first, status in sorted(counts)]

    async def ended_since(self, workflow_id: str, since: int, *, most: int) -> list[RunGlance]:
        with self._db.transaction():
            rows = [self._db.runs[key] for key in self._db.runs_of[workflow_id]]
            ended = [row for row in rows if row.phase is Phase.ENDED and _end(row) >= since]
            return [glance_of(row) for row in sorted(ended, key=_end, reverse=True)[:most]]

    async def step_times(self, runs: Collection[RunKey]) -> list[StepTime]:
        with self._db.transaction():
            rows = [row for run in set(runs) for row in newest_of_each_step(self._db, run)]
            return [_time(row.record) for row in rows]


def _end(row: RunRow) -> int:
    return row.record.end_time or 0


def _mark(record: AttemptRecord) -> StepMark:
    child = None if record.child is None else record.child.workflow_id
    key = record.key
    return key.step_id, key.number, record.status.value, record.start_time, record.end_time, child


def _time(record: AttemptRecord) -> StepTime:
    began, ended = record.start_time, record.end_time
    took = None if began is None or ended is None else ended - began
    return StepTime(record.key.step_id, record.status, took)


def _whole(cut: Cut, workflow_id: str) -> Cut:
    return Cut(
        most=cut.most,
        below=None if cut.below is None else (workflow_id, *cut.below),
        above=None if cut.above is None else (workflow_id, *cut.above),
    )
