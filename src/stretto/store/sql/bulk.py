"""Bulk jobs."""

from collections.abc import Sequence
from typing import Final

import msgspec

from stretto.ports.bulk import BulkChange, BulkItem, BulkJob, BulkProgress, BulkState, ItemState
from stretto.ports.paging import Cut, Slice
from stretto.store.sql.codec import BULK_ITEM, BULK_JOB
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import TEXT_LENGTH, fitting
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.statement import Bulk, Row, Statement, Way, ints, texts

JOB: Final = (
    *texts("job_id"),
    *ints("create_time"),
    *texts("state"),
    *ints("held_until"),
    *texts("doc"),
)
ITEM: Final = (*texts("job_id"), *ints("number"), *texts("state", "doc"))
MAKE: Final = Statement(lambda d: d.missing("bulk_job", JOB))
MAKE_ITEMS: Final = Bulk(way=Way.INSERT, table="bulk_item", key=2, fields=ITEM)
NOTE_ITEMS: Final = Bulk(way=Way.UPDATE, table="bulk_item", key=2, fields=ITEM)
FREE: Final = Statement(
    lambda d: (
        "SELECT job_id, held_until, doc FROM bulk_job WHERE state = 'RUNNING' "
        f"AND (held_until <= {d.clock} OR held_until > {d.clock} + :hold) ORDER BY held_until LIMIT 1"
    )
)
TAKE: Final = Statement(
    "UPDATE bulk_job SET held_until = :until "
    "WHERE job_id = :job_id AND state = 'RUNNING' AND held_until = :seen"
)
HOLD: Final = Statement("UPDATE bulk_job SET held_until = :until WHERE job_id = :job_id")
ONE: Final = Statement("SELECT doc FROM bulk_job WHERE job_id = :job_id")
LOCKED: Final = Statement(lambda d: f"SELECT doc FROM bulk_job WHERE job_id = :job_id {d.exclusive}")
END: Final = Statement("UPDATE bulk_job SET state = :state, doc = :doc WHERE job_id = :job_id")
CANCEL_ITEMS: Final = Statement(
    "UPDATE bulk_item SET state = 'CANCELLED' WHERE job_id = :job_id AND state = 'WAITING'"
)
COUNTS: Final = Statement("SELECT state, COUNT(*) FROM bulk_item WHERE job_id = :job_id GROUP BY state")
JOBS: Final = Listing("create_time, job_id, doc", "bulk_job", ["create_time", "job_id"], newest_first=True)
ITEMS: Final = Listing("number, state, doc", "bulk_item WHERE job_id = :job_id", ["number"])
ITEMS_IN: Final = Listing(
    "number, state, doc", "bulk_item WHERE job_id = :job_id AND state = :state", ["number"]
)


class SqlBulks(Part):
    """See `ports.bulk`."""

    async def put_bulk(self, job: BulkJob, items: Sequence[BulkItem]) -> bool:
        job_id = fitting(job.job_id, TEXT_LENGTH, "the id of a bulk job")
        rows = [_row(job_id, item) for item in items]
        doc = BULK_JOB.write(job)

        async def work(tx: Transaction) -> bool:
            made = await tx.run(
                MAKE, job_id=job_id, create_time=job.create_time, state=job.state.value, held_until=0, doc=doc
            )
            if made:
                await tx.bulk(MAKE_ITEMS, rows)
            return bool(made)

        return await self._db.write(work)

    async def take_bulk(self, hold: int) -> BulkJob | None:
        async def look(tx: Transaction) -> Row | None:
            return await tx.one(FREE, hold=hold)

        free = await self._look(look)  # most of the time there is none: then nothing is locked
        if free is None:
            return None
        job_id, seen, doc = free

        async def work(tx: Transaction) -> int:
            return await tx.run(TAKE, job_id=job_id, seen=seen, until=await tx.now() + hold)

        return BULK_JOB.read(doc) if await self._db.write(work) else None

    async def change_bulk(self, job_id: str, change: BulkChange) -> BulkJob | None:
        rows = [_row(job_id, item) for item in change.items]

        async def work(tx: Transaction) -> BulkJob | None:
            found = await tx.one(LOCKED, job_id=job_id)
            if found is None:
                return None
            job = BULK_JOB.read(found[0])
            await tx.bulk(NOTE_ITEMS, rows)
            if change.hold is not None:
                await tx.run(HOLD, job_id=job_id, until=await tx.now() + change.hold)
            if change.ends is None or job.state is not BulkState.RUNNING:
                return job
            ended = msgspec.structs.replace(job, state=change.ends, end_time=await tx.now())
            await tx.run(END, job_id=job_id, state=ended.state.value, doc=BULK_JOB.write(ended))
            await tx.run(CANCEL_ITEMS, job_id=job_id)
            return ended

        return await self._db.write(work)

    async def bulk_progress(self, job_id: str) -> BulkProgress | None:
        async def work(tx: Transaction) -> BulkProgress | None:
            row = await tx.one(ONE, job_id=job_id)
            if row is None:
                return None
            counts = {ItemState(state): int(count) for state, count in await tx.all(COUNTS, job_id=job_id)}
            return BulkProgress(job=BULK_JOB.read(row[0]), counts=counts)

        return await self._db.read(work)

    async def bulk_jobs(self, cut: Cut) -> Slice[BulkJob]:
        async def work(tx: Transaction) -> Slice[BulkJob]:
            return (await JOBS.page(tx, cut)).of(lambda row: BULK_JOB.read(row[2]))

        return await self._db.read(work)

    async def bulk_items(self, job_id: str, cut: Cut, state: ItemState | None = None) -> Slice[BulkItem]:
        async def work(tx: Transaction) -> Slice[BulkItem]:
            if state is None:
                return (await ITEMS.page(tx, cut, job_id=job_id)).of(_item)
            return (await ITEMS_IN.page(tx, cut, job_id=job_id, state=state.value)).of(_item)

        return await self._db.read(work)


def _row(job_id: str, item: BulkItem) -> Row:
    return (job_id, item.number, item.state.value, BULK_ITEM.write(item))


def _item(columns: Row) -> BulkItem:
    """The state is that of the column: who cancels a job does not write all its items anew."""
    return msgspec.structs.replace(BULK_ITEM.read(columns[2]), state=ItemState(columns[1]))
