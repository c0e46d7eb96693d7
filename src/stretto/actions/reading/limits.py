"""Tags with limits, and who holds or waits for them, for readers."""

from typing import NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.blocked import BlockedBy, blocked_by
from stretto.actions.reading.listing import Listing, page_of_list, shown_as
from stretto.engine.permits import rank_of
from stretto.engine.records import AttemptKey
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import HoldersOf, LineFor, PermitRow, PermitsOf, TagUse
from stretto.ports.store import Store


async def list_tags(store: Store, caller: Caller, request: PageRequest) -> Page[TagUse]:
    """Tags that have a limit or are in use, by name."""
    listing = Listing(fetch=store.tags, key=lambda use: use.tag, key_type=str)
    return await page_of_list(store, caller, request, listing)


async def list_holders(store: Store, caller: Caller, tag: str, request: PageRequest) -> Page[PermitRow]:
    """Who holds a tag, by attempt."""
    listing = Listing(
        fetch=lambda cut: store.permits(HoldersOf(tag, cut)),
        key=_attempt,
        key_type=AttemptKey,
        workflow=_workflow,
    )
    return await page_of_list(store, caller, request, listing)


class InLine(NamedTuple):
    """Who waits, how many go before, and itself, and what is in its way."""

    place: int
    row: PermitRow
    blocked_by: tuple[BlockedBy, ...] = ()


async def list_waiters(store: Store, caller: Caller, tag: str, request: PageRequest) -> Page[InLine]:
    """Who waits for a tag, the first to go first. Places are counted from where a page began: who comes or
    goes meanwhile moves none.
    """

    async def fetch(cut: Cut) -> Slice[InLine]:
        beside = cut.above if cut.below is None else cut.below
        before, key = (0, None) if beside is None else (beside[0], beside[1:])
        sides = {"below": key} if cut.below is not None else {"above": key}
        found = await store.permits(LineFor(tag, Cut(most=cut.most, **sides)))
        first = before - len(found.elements) if cut.below is not None else before + 1
        elements = tuple(InLine(place, row) for place, row in enumerate(found.elements, first))
        return Slice(elements=elements, before=found.before, after=found.after)

    listing = Listing(
        fetch=fetch,
        key=_in_line,
        key_type=tuple[int, int, int, AttemptKey],
        workflow=lambda each: _workflow(each.row),
    )
    page = await page_of_list(store, caller, request, listing)
    waiting: dict[AttemptKey, list[str]] = {each.row.attempt: [] for each in page.elements}
    for permit in (await store.permits(PermitsOf(waiting))).elements:
        waiting[permit.attempt].append(permit.tag)
    found = await blocked_by(store, caller, waiting)
    return shown_as(page, (each._replace(blocked_by=found.by[each.row.attempt]) for each in page.elements))


def _in_line(each: InLine) -> tuple[int, int, int, AttemptKey]:
    return each.place, rank_of(each.row.criticality), each.row.since, each.row.attempt


def _attempt(row: PermitRow) -> AttemptKey:
    return row.attempt


def _workflow(row: PermitRow) -> str:
    return row.attempt.run.workflow_id
