"""Bulk jobs."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from stretto.ports.bulk import BulkChange, BulkItem, BulkJob, BulkProgress, BulkState, ItemState
from stretto.ports.paging import Cut, Slice
from stretto.store.memory.database import Part
from stretto.store.memory.paging import select, slice_of


class MemoryBulks(Part):
    """See `ports.bulk`."""

    async def put_bulk(self, job: BulkJob, items: Sequence[BulkItem]) -> bool:
        with self._db.transaction():
            if job.job_id in self._db.bulk_jobs:
                return False
            self._db.bulk_jobs.put(job.job_id, job)
            self._db.bulk_held.put(job.job_id, 0)
            self._db.bulk_items.put(job.job_id, tuple(items))
            return True

    async def take_bulk(self, hold: int) -> BulkJob | None:
        with self._db.transaction() as now:
            free = [
                (self._db.bulk_held[job_id], job_id)
                for job_id in self._db.bulk_jobs
                if not now < self._db.bulk_held[job_id] <= now + hold
                and self._db.bulk_jobs[job_id].state is BulkState.RUNNING
            ]
            if not free:
                return None
            _until, job_id = min(free)
            self._db.bulk_held.put(job_id, now + hold)
            return self._db.bulk_jobs[job_id]

    async def change_bulk(self, job_id: str, change: BulkChange) -> BulkJob | None:
        with self._db.transaction() as now:
            job = self._db.bulk_jobs.get(job_id)
            if job is None:
                return None
            self._put(job_id, change.items)
            if change.hold is not None:
                self._db.bulk_held.put(job_id, now + change.hold)
            if change.ends is None or job.state is not BulkState.RUNNING:
                return job
            ended = msgspec.structs.replace(job, state=change.ends, end_time=now)
            self._db.bulk_jobs.put(job_id, ended)
            left = [item for item in self._db.bulk_items[job_id] if item.state is ItemState.WAITING]
            self._put(job_id, [msgspec.structs.replace(item, state=ItemState.CANCELLED) for item in left])
            return ended

    async def bulk_progress(self, job_id: str) -> BulkProgress | None:
        with self._db.transaction():
            job = self._db.bulk_jobs.get(job_id)
            if job is None:
                return None
            return BulkProgress(job=job, counts=Counter(item.state for item in self._db.bulk_items[job_id]))

    async def bulk_jobs(self, cut: Cut) -> Slice[BulkJob]:
        with self._db.transaction():
            keys = sorted((self._db.bulk_jobs[job_id].create_time, job_id) for job_id in self._db.bulk_jobs)
            return slice_of(select(keys, cut, newest_first=True), lambda key: self._db.bulk_jobs[key[1]])

    async def bulk_items(self, job_id: str, cut: Cut, state: ItemState | None = None) -> Slice[BulkItem]:
        with self._db.transaction():
            items = self._db.bulk_items.get(job_id) or ()
            chosen = select(range(len(items)), cut, lambda number: state in {None, items[number].state})
            return slice_of(chosen, lambda number: items[number])

    def _put(self, job_id: str, items: Sequence[BulkItem]) -> None:
        new = {item.number: item for item in items}
        kept = tuple(new.get(item.number, item) for item in self._db.bulk_items[job_id])
        self._db.bulk_items.put(job_id, kept)
