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
from stretto.actions.parts.finding import find_newest_run, find_run, find_workflow, step_in
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.iterations import loop_of, newest_attempt_up_to
from stretto.actions.reading.lines import RunRef, run_ref
from stretto.engine.inline_ids import Loop, inline_workflow_id, is_inline
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.initiator import Ancestor, UpstreamFields
from stretto.model.step import AnyStep, ForeachStep, SubworkflowStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
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
) -> tuple[Ancestor, ...]:
    """The step attempts around an iteration, from the workflow that is no iteration down (Maestro's
    `inline-path`).
    """
    await check_access(store, caller, Right.VIEW, workflow_id)
    above = _around(await find_newest_run(store, workflow_id, instance_id))
    if not above:
        raise InvalidRequest(f"Instance [{workflow_id}][{instance_id}] is no iteration of a loop")
    return above


async def get_readable_path(store: Store, caller: Caller, workflow_id: str, instance_id: int) -> str:
    """The same as a path that `resolve_path` reads."""
    return _readable(await get_inline_path(store, caller, workflow_id, instance_id), instance_id)


def _around(row: RunRow) -> tuple[Ancestor, ...]:
    """The step attempts around an iteration, from the workflow that is none down; other runs have none."""
    initiator = row.record.initiator
    if not is_inline(row.key.workflow_id) or not isinstance(initiator, UpstreamFields):
        return ()
    outer = max(place for place, each in enumerate(initiator.ancestors) if not is_inline(each.workflow_id))
    return initiator.ancestors[outer:]


def _readable(above: Sequence[Ancestor], instance_id: int) -> str:
    iterations = (*(each.instance_id for each in above[1:]), instance_id)
    return ".".join(f"{each.step_id}[{number}]" for each, number in zip(above, iterations, strict=True))


async def get_inline_workflow_id(store: Store, caller: Caller, path: Sequence[Ancestor]) -> str:
    """The id under which the iterations of the last step of a path are found (Maestro's
    `inline-workflow-id`). The first node names the workflow; of the others only instance and step count.
    """
    if not path:
        raise InvalidRequest(
            "A path must name a step", hint="the first node is the workflow around the loops"
        )
    root = path[0]
    await check_access(store, caller, Right.VIEW, root.workflow_id)
    known = await find_workflow(store, root.workflow_id)
    row = await find_newest_run(store, root.workflow_id, root.instance_id)
    steps = (await definition_of(store, row)).steps
    inline_id = root.workflow_id
    for node in path:
        step = step_in(steps, node.step_id)
        if not isinstance(step, ForeachStep | WhileStep):
            raise InvalidRequest(f"Step [{node.step_id}] of workflow [{root.workflow_id}] is no loop")
        loop = Loop.FOREACH if isinstance(step, ForeachStep) else Loop.WHILE
        inline_id = inline_workflow_id(
            loop, known.internal_id, inline_id, node.instance_id, node.step_id, root.instance_id
        )
    return inline_id


# ------------------------------------------------------------------------------------------------- going down
def _first_step(workflow: Workflow, left: str, path: str) -> tuple[AnyStep, str]:
    """The step that a path begins with, and the rest. Ids may have dots: the longest that fits counts."""
    fits = [
        step
        for step in workflow.steps
        if left.startswith(step.id) and left[len(step.id) : len(step.id) + 1] in {"", ".", "["}
    ]
    if not fits:
        raise NotFound(f"Cannot find [{left}] of the path [{path}] in workflow [{workflow.id}]")
    step = max(fits, key=lambda each: len(each.id))
    return step, left[len(step.id) :]


async def _iteration(store: Store, run: RunKey, step: AnyStep, number: int, path: str) -> RunRow:
    loop = await loop_of(store, run, step.id)
    row = None if loop is None else await store.newest_run(loop.inline_id, number)
    if row is None:
        raise NotFound(
            f"Cannot find iteration [{number}] of step [{step.id}] on the path [{path}] in run {run}"
        )
    return row


async def _child(store: Store, run: RunKey, step: AnyStep, path: str) -> RunRow:
    attempt = await newest_attempt_up_to(store, run, step.id)
    child = None if attempt is None or not isinstance(step, SubworkflowStep) else attempt.record.child
    row = None if child is None else await store.run(child)
    if row is None:
        raise NotFound(f"Step [{step.id}] on the path [{path}] has started no run in {run}")
    return row


def _place(row: RunRow, step_id: str | None = None, attempt: int | None = None) -> Nested:
    key, above = row.key, _around(row)
    path = [_readable(above, key.instance_id)] if above else []
    return Nested(
        workflow_id=key.workflow_id,
        workflow_instance_id=key.instance_id,
        workflow_run_id=key.run_id,
        step_id=step_id,
        step_attempt_id=attempt,
        root=run_ref(row.root),
        path=".".join([*path, *([] if step_id is None else [step_id])]),
    )
