"""Where the breakpoints of a step are kept."""

from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.breakpoints import stored_id, unknown_step
from stretto.engine.inline_ids import Loop
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.ports.store import Store


async def kept_under(store: Store, workflow_id: str, step_id: str) -> str:
    """The workflow itself, or for a step inside a loop the prefix of the loop's inline workflows.

    The default version decides; a step that it does not have is refused.
    """
    row = await find_workflow(store, workflow_id)
    _number, version = await find_version(store, row, "default")
    found, loop = innermost_loop(version.workflow.steps, step_id)
    if not found:
        raise unknown_step(workflow_id, step_id)
    return stored_id(workflow_id, row.internal_id, loop)


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
