"""Runs of all workflows, for readers."""

from collections.abc import Collection
from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.reading.histogram import Histogram, histogram, width_of
from stretto.actions.reading.lines import RunLine, run_line
from stretto.actions.reading.listing import Listing, counted_as, page_of_list, shown_as
from stretto.actions.reading.run_filters import RunSort, check_indexed, is_led
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.model.words import Word
from stretto.ports.history import ChildPage, FilteredRuns, QuarantinedRuns, RunFilter
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunRow
from stretto.ports.store import Store

MOST_BUCKETS: Final = 500
BEFORE_ALL: Final = (-1, RunKey("", 0, 0))


class RunExtra(Word):
    """What a list of runs shows besides."""

    COUNT = "count"  # how many runs fit the filter; also those that the caller may not see


async def list_all_runs(
    store: Store,
    caller: Caller,
    wanted: RunFilter,
    request: PageRequest,
    *,
    sort: RunSort = RunSort.NEWEST,
    include: Collection[RunExtra] = (),
) -> Page[RunLine]:
    """Runs that fit the filter, by time; iterations are found under the loop that they belong to."""
    check_indexed(wanted)
    newest_first = sort is RunSort.NEWEST

    async def fetch(cut: Cut) -> Slice[RunRow]:
        if newest_first:
            return await store.runs(FilteredRuns(wanted, cut))
        from_the_oldest = cut.above is None and cut.below is None
        return _reversed(
            await store.runs(
                FilteredRuns(wanted, Cut(most=cut.most, above=BEFORE_ALL) if from_the_oldest else cut)
            )
        )

    listing = Listing(
        fetch=fetch,
        key=_by_time,
        key_type=tuple[int, RunKey],
        newest_first=newest_first,
        workflow=_workflow,
    )
    found = await page_of_list(store, caller, request, listing)
    page = shown_as(found, map(run_line, found.elements))
    return counted_as(page, caller, await store.count_runs(wanted)) if RunExtra.COUNT in include else page


async def get_run_histogram(
    store: Store, caller: Caller, wanted: RunFilter, span: tuple[int, int], buckets: int
) -> Histogram:
    """When runs that fit the filter were created, by status. Without a filter that has an index of its own,
    each status is looked for along its index.
    """
    check_role(caller, Role.VIEWER, "see lists")
    since, until = span
    if not 1 <= buckets <= MOST_BUCKETS:
        raise InvalidRequest(f"There are 1 to {MOST_BUCKETS} buckets, not [{buckets}]")
    if since >= until:
        raise InvalidRequest(f"The time ends [{until}] before it begins [{since}]")
    wanted = msgspec.structs.replace(wanted, since=since, until=until)
    check_indexed(wanted)
    if not is_led(wanted):
        wanted = msgspec.structs.replace(wanted, statuses=tuple(RunStatus))
    width = width_of(until - since, buckets)
    found = await store.run_times(wanted, width)
    return histogram(since, width, buckets, found.counts.items(), found.from_here)


async def list_children(
    store: Store, caller: Caller, attempt: AttemptKey, request: PageRequest
) -> Page[RunLine]:
    """Runs that a step attempt waits for, or waited for, by id."""
    listing = Listing(
        fetch=lambda cut: store.runs(ChildPage(attempt, cut)),
        key=lambda row: row.key,
        key_type=RunKey,
        workflow=_workflow,
    )
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(run_line, page.elements))


async def list_quarantined(store: Store, caller: Caller, request: PageRequest) -> Page[RunLine]:
    """Runs that were set aside because nodes died at them, by id; `release.release_run` lets one go on."""
    listing = Listing(
        fetch=lambda cut: store.runs(QuarantinedRuns(cut)),
        key=lambda row: row.key,
        key_type=RunKey,
        workflow=_workflow,
    )
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(run_line, page.elements))


def _reversed(found: Slice[RunRow]) -> Slice[RunRow]:
    return Slice(elements=found.elements[::-1], before=found.after, after=found.before)


def _by_time(row: RunRow) -> tuple[int, RunKey]:
    return row.record.create_time, row.key


def _workflow(row: RunRow) -> str:
    return row.key.workflow_id
