"""Runs of all workflows, for readers."""

from functools import partial

from stretto.actions.caller import Caller
from stretto.actions.reading.lines import RunLine, run_line
from stretto.actions.reading.listing import Listing, page_of_list, shown_as
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.ports.history import RunFilter
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


async def list_all_runs(
    store: Store, caller: Caller, wanted: RunFilter, request: PageRequest
) -> Page[RunLine]:
    """Runs that fit the filter, newest first; iterations are found under the loop that they belong to."""
    listing = Listing(
        fetch=lambda cut: store.all_runs(cut, wanted),
        key=_by_time,
        key_type=tuple[int, RunKey],
        newest_first=True,
        workflow=_workflow,
    )
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(run_line, page.elements))


async def list_children(
    store: Store, caller: Caller, attempt: AttemptKey, request: PageRequest
) -> Page[RunLine]:
    """Runs that a step attempt waits for, or waited for, by id."""
    listing = Listing(
        fetch=partial(store.children, attempt), key=lambda row: row.key, key_type=RunKey, workflow=_workflow
    )
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(run_line, page.elements))


async def list_quarantined(store: Store, caller: Caller, request: PageRequest) -> Page[RunLine]:
    """Runs that were set aside because nodes died at them, by id; `release.release_run` lets one go on."""
    listing = Listing(fetch=store.quarantined, key=lambda row: row.key, key_type=RunKey, workflow=_workflow)
    page = await page_of_list(store, caller, request, listing)
    return shown_as(page, map(run_line, page.elements))


def _by_time(row: RunRow) -> tuple[int, RunKey]:
    return row.record.create_time, row.key


def _workflow(row: RunRow) -> str:
    return row.key.workflow_id
