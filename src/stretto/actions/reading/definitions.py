"""The definition that a run follows."""

from stretto.actions.parts.finding import step_in
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.flows import flow_of
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.machine.undo import undo_plan
from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.model.initiator import UpstreamFields
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.model.workflow import Workflow
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


async def definition_of(store: Store, row: RunRow) -> Workflow:
    """That of its version. An iteration follows the steps of its loop; what a step added, or what undoes a
    run, is told from the rows of the run around it.
    """
    root = row.root.workflow_id
    version = await store.version(root, row.record.version_id)
    if version is None:
        raise NotFound(f"Cannot find workflow version [{root}][{row.record.version_id}]")
    initiator = row.record.initiator
    if not is_inline(row.key.workflow_id) or not isinstance(initiator, UpstreamFields):
        return version.workflow
    parent = initiator.parent
    around = RunKey(parent.workflow_id, parent.instance_id, parent.run_id)
    if row.key.workflow_id.startswith(Loop.COMPENSATION.tag):
        return Workflow(id=row.key.workflow_id, steps=await _undoing(store, around))
    step = step_in(version.workflow.steps, parent.step_id)
    if isinstance(step, ForeachStep | WhileStep):
        return Workflow(id=row.key.workflow_id, steps=step.steps)
    loops = await store.loops(around)
    added = next((loop.steps for loop in loops if loop.inline_id == row.key.workflow_id), ())
    return Workflow(id=row.key.workflow_id, steps=added)


async def _undoing(store: Store, around: RunKey) -> tuple[AnyStep, ...]:
    row = await store.run(around)
    if row is None:
        raise NotFound(f"Cannot find workflow instance run {around}")
    workflow = await definition_of(store, row)
    flow = flow_of(await aggregate(store, workflow, row), workflow)
    return tuple(plan.step for plan in undo_plan(flow).steps)
