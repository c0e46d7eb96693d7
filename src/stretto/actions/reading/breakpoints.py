"""Breakpoints, and the attempts that they hold, for readers."""

from collections.abc import AsyncIterator
from typing import Final

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.breakpoint_place import found_under
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.engine.breakpoints import Where, find_breakpoints
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.ports.breakpoints import BreakpointPage, BreakpointsAt, PausedAt, PausedPage
from stretto.ports.paging import Cut
from stretto.ports.store import Store

BATCH: Final = 100


async def list_breakpoints(
    store: Store, caller: Caller, workflow_id: str, step_id: str
) -> list[StepBreakpoint]:
    """Those of a step, under the workflow that was asked for."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    found: list[StepBreakpoint] = []
    for kept in await found_under(store, workflow_id, step_id):
        stored = (await store.breakpoints(BreakpointsAt(kept, step_id))).elements
        found += find_breakpoints(stored, workflow_id, step_id, Where(), kept)
    return found


async def list_all_breakpoints(store: Store, caller: Caller, request: PageRequest) -> Page[StepBreakpoint]:
    """Those of all workflows, as they are kept. One inside a loop stands under the prefix of its inline
    workflows, which does not tell whose it is: only admins see it here.
    """
    listing = Listing(
        fetch=lambda cut: store.breakpoints(BreakpointPage(cut)),
        key=_key,
        key_type=tuple[str, str, int, int, int, int],
        workflow=lambda each: each.workflow_id,
    )
    return await page_of_list(store, caller, request, listing)


def _key(each: StepBreakpoint) -> tuple[str, str, int, int, int, int]:
    narrow = (each.workflow_version_id, each.workflow_instance_id, each.workflow_run_id, each.step_attempt_id)
    version, instance, run, attempt = (number or 0 for number in narrow)
    return each.workflow_id, each.step_id, version, instance, run, attempt


async def list_paused(
    store: Store, caller: Caller, workflow_id: str, step_id: str
) -> list[PausedStepAttempt]:
    """The attempts of a step that are held, in whichever run or iteration."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    places = await found_under(store, workflow_id, step_id)
    return [each for kept in places async for each in all_paused(store, kept, step_id)]


async def list_all_paused(store: Store, caller: Caller, request: PageRequest) -> Page[PausedStepAttempt]:
    """The attempts of all workflows that are held, by step."""
    listing = Listing(
        fetch=lambda cut: store.paused(PausedPage(cut)),
        key=_held_key,
        key_type=tuple[str, str, int, int, int],
        workflow=lambda each: each.workflow_id,
    )
    return await page_of_list(store, caller, request, listing)


def _held_key(each: PausedStepAttempt) -> tuple[str, str, int, int, int]:
    run = each.workflow_id, each.workflow_instance_id, each.workflow_run_id
    return each.step_id, *run, each.step_attempt_id


async def all_paused(
    store: Store, kept: str, step_id: str, *, batch: int = BATCH
) -> AsyncIterator[PausedStepAttempt]:
    """Page after page; who is resumed meanwhile moves no page."""
    cut = Cut(most=batch)
    while True:
        page = await store.paused(PausedAt(kept, step_id, cut))
        for each in page.elements:
            yield each
        if not page.after:
            return
        last = page.elements[-1]
        place = (last.workflow_id, last.workflow_instance_id, last.workflow_run_id, last.step_attempt_id)
        cut = Cut(most=batch, above=place)
