"""The definition that a run follows."""

import msgspec

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.flows import load_run
from stretto.engine.compensation import undo_steps
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.machine.undo import undo_order
from stretto.engine.permits import limited_by_tree
from stretto.engine.records import RunKey, run_above
from stretto.model.errors import NotFound
from stretto.model.initiator import UpstreamFields
from stretto.model.run_config import RunPolicy
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import RunReader, read_run


async def definition_of(reader: RunReader, row: RunRow) -> Workflow:
    """What a run carries out: the steps of its instance, or those that undo them."""
    workflow = await instance_definition(reader, row)
    if row.record.policy is not RunPolicy.UNDO or row.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        return workflow
    steps = undo_steps(workflow.steps, row.record.covers or ())
    return msgspec.structs.replace(workflow, steps=steps)


async def instance_definition(reader: RunReader, row: RunRow) -> Workflow:
    """That of its version. An iteration follows the steps of its loop; what a step added, or what undoes a
    run from inside, is told from the rows of the run around it.
    """
    root = row.root.workflow_id
    version = await reader.version(root, row.record.version_id)
    if version is None:
        raise NotFound(f"Cannot find workflow version [{root}][{row.record.version_id}]")
    initiator = row.record.initiator
    limited = limited_by_tree(version.workflow, row.record.tree_limit)
    if not is_inline(row.key.workflow_id) or not isinstance(initiator, UpstreamFields):
        return limited
    parent = initiator.parent
    around = run_above(parent)
    if row.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        return Workflow(id=row.key.workflow_id, steps=await _undo_steps(reader, around, row.record.covers))
    step = step_in(version.workflow.steps, parent.step_id) or await _added_step(
        reader, around, parent.step_id
    )
    limit = limited.instance_step_concurrency
    if isinstance(step, ForeachStep | WhileStep):  # all parameters of an iteration are handed down to it
        return Workflow(
            id=row.key.workflow_id,
            params={},
            steps=step.steps,
            tags=step.tags,
            instance_step_concurrency=limit,
        )
    loops = await reader.loops(around)
    added = next((loop.steps for loop in loops if loop.inline_id == row.key.workflow_id), ())
    return Workflow(id=row.key.workflow_id, steps=added, instance_step_concurrency=limit)


async def _added_step(reader: RunReader, around: RunKey, step_id: str) -> AnyStep | None:
    """A step that is not in the definition: of a template, or added while the run went on."""
    row = await read_run(reader, around)
    return None if row is None else step_in((await instance_definition(reader, row)).steps, step_id)


async def _undo_steps(
    reader: RunReader, around: RunKey, covers: tuple[str, ...] | None
) -> tuple[AnyStep, ...]:
    """Those that undo a run. Older releases have not stored which: the rows of the run say it."""
    row = await read_run(reader, around)
    if row is None:
        raise NotFound(f"Cannot find workflow instance run {around}")
    workflow = await definition_of(reader, row)
    if covers is None:
        covers = undo_order((await load_run(reader, workflow, row)).flow)
    return undo_steps(workflow.steps, covers)
