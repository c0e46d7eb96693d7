"""Bulk jobs: one action on many runs or steps."""

from typing import Annotated, Final

import msgspec
from litestar.params import QueryParameter

from stretto.actions.bulk import (
    BulkRequest,
    BulkView,
    cancel_bulk,
    get_bulk,
    list_bulk_items,
    list_bulks,
    start_bulk,
)
from stretto.api.routing import (
    LONGEST_REASON,
    Asks,
    Calling,
    Given,
    Name,
    Paging,
    acts,
    checked_text,
    gets,
    posts,
    word_in,
)
from stretto.model.page import Page
from stretto.ports.bulk import BulkItem, BulkJob, ItemState


@posts("/bulk", reads=BulkRequest)
async def begin(call: Calling, given: Given[BulkRequest], asking: Asks) -> BulkView:
    """Stop, kill, restart, unblock or skip many at once, by `ids` or by a `filter` of runs that is looked up
    now: a job, which is carried out in the background. With `dry_run` nothing is done. What stands in the
    query may stand in the body, too, which counts.
    """
    request = msgspec.structs.replace(
        given,
        reason=checked_text("reason", given.reason, LONGEST_REASON) or asking.reason,
        request_id=given.request_id or asking.request_id,
        dry_run=given.dry_run or asking.dry_run,
    )
    made = await start_bulk(call.store, call.caller, request, evaluate=call.desk.evaluate)
    call.desk.bulk.ring()
    return made


@gets("/bulk")
async def read_jobs(call: Calling, part: Paging) -> Page[BulkJob]:
    """All bulk jobs of the last weeks, newest first."""
    return await list_bulks(call.store, call.reader, part)


@gets("/bulk/{job_id}")
async def read_job(call: Calling, job_id: Name) -> BulkView:
    """A bulk job, and how many of its items are in which state."""
    return await get_bulk(call.store, call.reader, job_id)


@gets("/bulk/{job_id}/items")
async def read_items(
    call: Calling,
    job_id: Name,
    part: Paging,
    chosen: Annotated[str | None, QueryParameter(name="state")] = None,
) -> Page[BulkItem]:
    """The items of a bulk job, and what became of each; `state` chooses."""
    wanted = None if chosen is None else word_in(ItemState, chosen, "state")
    return await list_bulk_items(call.store, call.reader, job_id, part, wanted)


@acts("/bulk/{job_id}/actions/cancel")
async def cancel(call: Calling, job_id: Name) -> BulkView:
    """Leave undone what has not been done."""
    return await cancel_bulk(call.store, call.caller, job_id)


ROUTES: Final = (begin, read_jobs, read_job, read_items, cancel)
