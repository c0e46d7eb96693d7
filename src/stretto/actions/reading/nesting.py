"""Places inside loops and subworkflows: how they are written, and where they are.

load[41].copy        the step `copy` in the 41st iteration of the loop `load`
load[41]             that iteration
clean.copy           the step `copy` of the run that the subworkflow step `clean` started
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_newest_run, find_run, find_workflow
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.iterations import loop_of, newest_attempt_up_to
from stretto.actions.reading.lines import RunRef, run_ref
from stretto.engine.inline_ids import Loop, inline_workflow_id, readable_path, steps_around
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.initiator import Ancestor, PathNode, UpstreamFields
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, WhileStep
from stretto.model.suggest import did_you_mean
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_newest_run, read_run
from stretto.ports.store import Store

INDEX: Final = re.compile(r"\[([0-9]{1,18})\]")


class Nested(msgspec.Struct, frozen=True, kw_only=True):
    """Where a path leads: a run, and a step of it with its newest attempt, if it names one that is there.

    root   The run that holds it and is no iteration itself.
    path   The way from there.
    """

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str | None = None
    step_attempt_id: int | None = None
    root: RunRef
    path: str


async def resolve_path(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str, path: str
) -> Nested:
    """Where a path leads from a run on; `NotFound` says how far it goes. An empty one leads to the run."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    left = path.strip()
    while left:
        step, left = _first_step(await definition_of(store, row), left, path)
        inside = INDEX.match(left)
        if inside is not None:
            row = await _iteration(store, row.key, step, int(inside[1]), path)
            left = left[inside.end() :]
        elif left:
            row = await _child(store, row.key, step, path)
            await check_access(store, caller, Right.VIEW, row.key.workflow_id)
        else:
            attempt = await newest_attempt_up_to(store, row.key, step.id)
            return _place(row, step.id, None if attempt is None else attempt.key.number)
        left = left.removeprefix(".")
    return _place(row)


async def get_inline_path(
    store: Store, caller: Caller, workflow_id: str, instance_id: int
) -> tuple[PathNode, ...]:
    """The step attempts around an iteration, from the workflow that is no iteration down, and the iteration
    itself (Maestro's `inline-path`).
    """
    above = await _steps_above(store, caller, workflow_id, instance_id)
    nodes = (
        PathNode(
            workflow_id=each.workflow_id,
            instance_id=each.instance_id,
            run_id=each.run_id,
            step_id=each.step_id,
            step_attempt_id=each.step_attempt_id,
        )
        for each in above
    )
    return (*nodes, PathNode(workflow_id=workflow_id, instance_id=instance_id))


async def _steps_above(
    store: Store, caller: Caller, workflow_id: str, instance_id: int
) -> tuple[Ancestor, ...]:
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    above = steps_around(row.key.workflow_id, row.record.initiator)
    if not above:
        raise InvalidRequest(f"Instance [{workflow_id}][{instance_id}] is not an iteration of a loop")
    return above


async def get_readable_path(store: Store, caller: Caller, workflow_id: str, instance_id: int) -> str:
    """The same as a path that `resolve_path` reads."""
    above = await _steps_above(store, caller, workflow_id, instance_id)
    return readable_path(above, workflow_id, instance_id)


def path_below(row: RunRow, above: RunKey) -> str | None:
    """The path from a run to a run below it, as `resolve_path` reads it; None if it is not below that run."""
    initiator = row.record.initiator
    ancestors = initiator.ancestors if isinstance(initiator, UpstreamFields) else ()
    for place, each in enumerate(ancestors):
        if (each.workflow_id, each.instance_id, each.run_id) == above:
            return readable_path(ancestors[place:], row.key.workflow_id, row.key.instance_id)
    return None


def outermost(row: RunRow) -> RunKey:
    """The run at the top of the tree that a run is in: itself, if no step started it."""
    initiator = row.record.initiator
    if not isinstance(initiator, UpstreamFields):
        return row.key
    top = initiator.ancestors[0]
    return RunKey(top.workflow_id, top.instance_id, top.run_id)


async def get_inline_workflow_id(store: Store, caller: Caller, path: Sequence[PathNode]) -> str:
    """The id of the inline workflow that the last step of a path is in (Maestro's `inline-workflow-id`). The
    path leads from a workflow through its loops to a step inside of them; each node has the instance that its
    step is in.
    """
    if not path:
        raise InvalidRequest(
            "A path must name a step", hint="the first node is the workflow around the loops"
        )
    root = path[0]
    await check_access(store, caller, Right.VIEW, root.workflow_id)
    known = await find_workflow(store, root.workflow_id)
    row = await find_newest_run(store, root.workflow_id, root.instance_id)
    found = _steps_to((await definition_of(store, row)).steps, path[-1].step_id)
    if len(found) < 2 or len(found) != len(path):
        names = ", ".join(each.id for each in found)
        nodes = ", ".join(f"[{each.workflow_id}][{each.instance_id}][{each.step_id}]" for each in path)
        raise InvalidRequest(
            f"Inline workflow step path [[{names}]] is invalid for the input path [{nodes}]",
            hint="the last node names a step inside a loop, and there is a node for each loop around it",
        )
    inline_id = root.workflow_id
    for node, step in zip(path, found[:-1], strict=False):
        loop = Loop.FOREACH if isinstance(step, ForeachStep) else Loop.WHILE
        inline_id = inline_workflow_id(
            loop, known.internal_id, inline_id, node.instance_id, step.id, root.instance_id
        )
    return inline_id


def _steps_to(steps: Sequence[AnyStep], step_id: str | None) -> tuple[AnyStep, ...]:
    """The loops around a step, from the outside in, and the step; nothing, if there is no such step."""
    for step in steps:
        if step.id == step_id:
            return (step,)
        below = _steps_to(step.steps, step_id) if isinstance(step, ForeachStep | WhileStep) else ()
        if below:
            return (step, *below)
    return ()


# ------------------------------------------------------------------------------------------------- going down
def _first_step(workflow: Workflow, left: str, path: str) -> tuple[AnyStep, str]:
    """The step that a path begins with, and the rest. Ids may have dots: the longest that fits counts."""
    fits = [
        step
        for step in workflow.steps
        if left.startswith(step.id) and left[len(step.id) : len(step.id) + 1] in {"", ".", "["}
    ]
    if not fits:
        hint = did_you_mean(re.split(r"[.\[]", left, maxsplit=1)[0], [step.id for step in workflow.steps])
        raise NotFound(f"Cannot find [{left}] of the path [{path}] in workflow [{workflow.id}]", hint=hint)
    step = max(fits, key=lambda each: len(each.id))
    return step, left[len(step.id) :]


async def _iteration(store: Store, run: RunKey, step: AnyStep, number: int, path: str) -> RunRow:
    loop = await loop_of(store, run, step.id)
    row = None if loop is None else await read_newest_run(store, loop.inline_id, number)
    if row is None:
        raise NotFound(
            f"Cannot find iteration [{number}] of step [{step.id}] on the path [{path}] in run {run}"
        )
    return row


async def _child(store: Store, run: RunKey, step: AnyStep, path: str) -> RunRow:
    attempt = await newest_attempt_up_to(store, run, step.id)
    child = None if attempt is None or not isinstance(step, SubworkflowStep) else attempt.record.child
    row = None if child is None else await read_run(store, child)
    if row is None:
        raise NotFound(f"Step [{step.id}] on the path [{path}] has started no run in {run}")
    return row


def _place(row: RunRow, step_id: str | None = None, attempt: int | None = None) -> Nested:
    key, above = row.key, steps_around(row.key.workflow_id, row.record.initiator)
    path = [readable_path(above, key.workflow_id, key.instance_id)] if above else []
    return Nested(
        workflow_id=key.workflow_id,
        workflow_instance_id=key.instance_id,
        workflow_run_id=key.run_id,
        step_id=step_id,
        step_attempt_id=attempt,
        root=run_ref(row.root),
        path=".".join([*path, *([] if step_id is None else [step_id])]),
    )
