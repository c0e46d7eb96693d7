"""Where the breakpoints of a step are kept."""

from typing import Final

from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.breakpoints import stored_id, unknown_step
from stretto.engine.inline_ids import Loop
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.ports.breakpoints import BreakpointsAt, PausedAt
from stretto.ports.paging import Cut
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow

AROUND: Final = (None, Loop.FOREACH, Loop.WHILE)  # what a step can stand in


async def kept_under(store: Store, workflow_id: str, step_id: str) -> str:
    """The workflow itself, or for a step inside a loop the prefix of the loop's inline workflows.

    The default version decides; a step that it does not have is refused.
    """
    row = await find_workflow(store, workflow_id)
    kept = await _by_default(store, row, step_id)
    if kept is None:
        raise unknown_step(workflow_id, step_id)
    return kept


async def found_under(store: Store, workflow_id: str, step_id: str) -> list[str]:
    """Every place where breakpoints of a step are kept, or attempts are held that paused for one.

    An older version may have had the step where the default version has none: who set a breakpoint then must
    be able to find it, and to take it away.
    """
    row = await find_workflow(store, workflow_id)
    kept = await _by_default(store, row, step_id)
    others = [stored_id(workflow_id, row.internal_id, loop) for loop in AROUND]
    places = [each for each in others if each == kept or await _is_used(store, each, step_id)]
    if not places:
        raise unknown_step(workflow_id, step_id)
    return places


async def _by_default(store: Store, row: WorkflowRow, step_id: str) -> str | None:
    _number, version = await find_version(store, row, "default")
    found, loop = innermost_loop(version.workflow.steps, step_id)
    return stored_id(row.workflow_id, row.internal_id, loop) if found else None


async def _is_used(store: Store, kept: str, step_id: str) -> bool:
    if (await store.breakpoints(BreakpointsAt(kept, step_id))).elements:
        return True
    return bool((await store.paused(PausedAt(kept, step_id, Cut(most=1)))).elements)


def innermost_loop(
    steps: tuple[AnyStep, ...], step_id: str, around: Loop | None = None
) -> tuple[bool, Loop | None]:
    """Whether there is such a step, and the kind of the loop that it stands in."""
    for step in steps:
        if step.id == step_id:
            return True, around
        if isinstance(step, ForeachStep | WhileStep):
            loop = Loop.FOREACH if isinstance(step, ForeachStep) else Loop.WHILE
            found = innermost_loop(step.steps, step_id, loop)
            if found[0]:
                return found
    return False, None
