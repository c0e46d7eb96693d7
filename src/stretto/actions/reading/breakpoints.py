"""Breakpoints, and the attempts that they hold, for readers."""

from collections.abc import AsyncIterator
from typing import Final

from stretto.actions.parts.breakpoint_place import kept_under
from stretto.engine.breakpoints import Where, find_breakpoints
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.ports.paging import Cut
from stretto.ports.store import Store

BATCH: Final = 100


async def list_breakpoints(store: Store, workflow_id: str, step_id: str) -> list[StepBreakpoint]:
    """Those of a step, under the workflow that was asked for."""
    kept = await kept_under(store, workflow_id, step_id)
    stored = await store.breakpoints(kept, step_id)
    return find_breakpoints(stored, workflow_id, step_id, Where(), kept)


async def list_paused(store: Store, workflow_id: str, step_id: str) -> list[PausedStepAttempt]:
    """The attempts of a step that are held, in whichever run or iteration."""
    kept = await kept_under(store, workflow_id, step_id)
    return [each async for each in all_paused(store, kept, step_id)]


async def all_paused(
    store: Store, kept: str, step_id: str, *, batch: int = BATCH
) -> AsyncIterator[PausedStepAttempt]:
    """Page after page; who is resumed meanwhile moves no page."""
    cut = Cut(most=batch)
    while True:
        page = await store.paused(kept, step_id, cut)
        for each in page.elements:
            yield each
        if not page.after:
            return
        last = page.elements[-1]
        place = (last.workflow_id, last.workflow_instance_id, last.workflow_run_id, last.step_attempt_id)
        cut = Cut(most=batch, above=place)
