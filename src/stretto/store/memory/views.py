"""Many runs at once for live views."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice

import msgspec

from stretto.engine.records import AttemptRecord, RunKey
from stretto.model.status import StepStatus
from stretto.ports.history import RunFilter
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import NO_SUMMARY, Phase, RunGlance, RunRow, glance_of
from stretto.ports.run_snapshot import InstancePage, NamedRuns
from stretto.ports.views import (
    BucketCount,
    EndedSince,
    GlanceSelection,
    NewestIn,
    RecentRuns,
    RunsByNumber,
    StepMark,
    StepMarks,
    StepTime,
)
from stretto.store.memory.database import Part
from stretto.store.memory.history import is_wanted
from stretto.store.memory.loading import newest_of_each_step, state_of
from stretto.store.memory.paging import select, slice_of, under
from stretto.store.memory.schema import ALL


class MemoryViews(Part):
    """See `ports.views`."""

    async def glances(self, selection: GlanceSelection) -> Slice[RunGlance]:
        db = self._db
        with db.transaction():
            match selection:
                case NamedRuns(keys):
                    return self._seen(key for key in keys if key in db.runs)
                case InstancePage(workflow_id, cut):
                    page = select(db.instances_of[workflow_id], under(cut, workflow_id), newest_first=True)
                    return slice_of(page, lambda at: glance_of(db.runs[db.instances[at]]))
                case RunsByNumber(workflow_id, cut):
                    page = select(db.runs_of[workflow_id], _whole(cut, workflow_id), newest_first=True)
                    return slice_of(page, lambda key: glance_of(db.runs[key]))
                case RecentRuns(workflow_ids, most):
                    named = dict.fromkeys(workflow_ids)
                    return self._seen(key for each in named for key in reversed(db.runs_of[each][-most:]))
                case NewestIn(status, since, most):
                    wanted = RunFilter(statuses=[status], since=since)
                    newest = (key for _time, key in reversed(db.runs_by_time[ALL]))
                    found = self._seen(
                        islice((key for key in newest if is_wanted(db.runs[key], wanted)), most)
                    )
                    return found if selection.summaries else _bare(found)
                case EndedSince(workflow_id, since, most):
                    rows = [db.runs[key] for key in db.runs_of[workflow_id]]
                    ended = [row for row in rows if row.phase is Phase.ENDED and _end(row) >= since]
                    return self._seen(row.key for row in sorted(ended, key=_end, reverse=True)[:most])

    def _seen(self, keys: Iterable[RunKey]) -> Slice[RunGlance]:
        return Slice(elements=tuple(glance_of(self._db.runs[key]) for key in keys))

    async def step_marks(self, run: RunKey) -> StepMarks:
        with self._db.transaction():
            records = [row.record for row in newest_of_each_step(self._db, run)]
            below = [each for each in records if each.child is not None or each.key in self._db.loops]
            return StepMarks(
                {each.key.step_id: _mark(each) for each in records},
                {each.key.step_id: state_of(self._db, each) for each in below},
            )

    async def status_counts(self, runs: Collection[RunKey]) -> dict[RunKey, dict[StepStatus, int]]:
        found = await self.step_times(runs)
        return {run: dict(Counter(each.status for each in times)) for run, times in found.items()}

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

    async def step_times(self, runs: Collection[RunKey]) -> dict[RunKey, list[StepTime]]:
        with self._db.transaction():
            found = {
                run: [_time(row.record) for row in newest_of_each_step(self._db, run)] for run in set(runs)
            }
            return {run: times for run, times in found.items() if times}


def _bare(found: Slice[RunGlance]) -> Slice[RunGlance]:
    bare = (msgspec.structs.replace(each, summary=NO_SUMMARY) for each in found.elements)
    return Slice(elements=tuple(bare))


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
