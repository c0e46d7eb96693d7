"""Tags with limits, and who holds or waits for them, for readers."""

from functools import partial

from stretto.actions.caller import Caller
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.engine.records import AttemptKey
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.ports.permits import PermitRow, TagUse
from stretto.ports.store import Store


async def list_tags(store: Store, caller: Caller, request: PageRequest) -> Page[TagUse]:
    """Tags that have a limit or are in use, by name."""
    listing = Listing(fetch=store.tags, key=lambda use: use.tag, key_type=str)
    return await page_of_list(store, caller, request, listing)


async def list_holders(store: Store, caller: Caller, tag: str, request: PageRequest) -> Page[PermitRow]:
    """Who holds a tag, by attempt."""
    listing = Listing(
        fetch=partial(store.holders, tag), key=_attempt, key_type=AttemptKey, workflow=_workflow
    )
    return await page_of_list(store, caller, request, listing)


async def list_waiters(store: Store, caller: Caller, tag: str, request: PageRequest) -> Page[PermitRow]:
    """Who waits for a tag, by attempt."""
    listing = Listing(
        fetch=partial(store.waiters, tag), key=_attempt, key_type=AttemptKey, workflow=_workflow
    )
    return await page_of_list(store, caller, request, listing)


def _attempt(row: PermitRow) -> AttemptKey:
    return row.attempt


def _workflow(row: PermitRow) -> str:
    return row.attempt.run.workflow_id
