"""A batch of steps inside a step: those of a template, those that running work added, those that undo a run.

A batch is one iteration of an inline workflow whose steps are given when it begins.
"""

from collections.abc import Sequence

from stretto.definition.graph import Graph
from stretto.engine.effects import Fetch
from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop, is_inline
from stretto.engine.kinds.loops import Body, ancestors_of, inline_id, loop_result, open_iteration, too_deep
from stretto.engine.plan import Plan, StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import DefaultArtifact
from stretto.model.initiator import TemplateInitiator
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, TemplateStep
from stretto.model.workflow import Workflow

SUBSTEPS = "maestro_substeps"
_BAD = (StepStatus.COMPLETED_WITH_ERROR, StepStatus.FATALLY_FAILED, StepStatus.INTERNALLY_FAILED)


def launch_template(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """The steps of another workflow, run as if they stood here. Its definition is fetched first."""
    step = plan.step
    assert isinstance(step, TemplateStep)  # noqa: S101 - the kind says so
    key = ("workflow", step.sub_type, step.sub_type_version or "default")
    if key not in flow.fetched:
        turn.act(Fetch(attempt=attempt.key, keys=(key,)))
        return False
    turn.move(flow, attempt, StepStatus.RUNNING)
    found: Workflow | None = flow.fetched[key]
    refused = too_deep(flow, plan)
    if found is None:
        refused = f"there is no workflow {step.sub_type} to be the template of step {plan.id}"
    if refused is not None or found is None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, refused)
        return False
    _open(turn, flow, plan, attempt, found.steps, Loop.TEMPLATE)
    return False


def add_steps(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, steps: Sequence[AnyStep], tolerance: float
) -> None:
    """Steps that the work of a step asks for: all of them, or none and the step has failed."""
    refused = _refusal(flow, steps)
    if refused is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, refused)
        return
    if attempt.status is StepStatus.STARTING:
        turn.move(flow, attempt, StepStatus.RUNNING)
    turn.note(flow, attempt, f"Added {len(steps)} sub-steps: {', '.join(step.id for step in steps)}")
    _open(turn, flow, plan, attempt, steps, Loop.SUBSTEPS, tolerance)


def _refusal(flow: Flow, steps: Sequence[AnyStep]) -> str | None:
    ids = [step.id for step in steps]
    if is_inline(flow.run.key.workflow_id) and Loop.SUBSTEPS.tag in flow.run.key.workflow_id:
        return "a sub-step can not add sub-steps; none was added"
    taken = sorted({each for each in ids if each in flow.plan.numbers or ids.count(each) > 1})
    if taken:
        return f"sub-step ids must be new in the run: {', '.join(taken)}; none was added"
    cycles = Graph.of(steps).cycles(1)
    return f"the sub-steps form a cycle: {' -> '.join(cycles[0])}; none was added" if cycles else None


def _open(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    steps: Sequence[AnyStep],
    kind: Loop,
    tolerance: float = 0.0,
) -> None:
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline_id(flow, attempt, kind),
        run_id=flow.run.key.run_id,
        total=1,
        next_index=1,
        steps=tuple(steps),
        tolerance=tolerance,
    )
    flow.loops[plan.index] = loop
    turn.add(loop, flow)
    initiator = TemplateInitiator(ancestors=ancestors_of(flow, attempt))
    body = Body(Plan(loop.steps), initiator, dict(attempt.params or {}))
    open_iteration(turn, flow, plan.index, loop, 0, body)


def run_batch(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """When the batch has ended: how many of its steps failed, and is that too many?"""
    if flow.children.get(plan.index):
        return
    if isinstance(plan.step, TemplateStep):
        turn.later(Task.CONCLUDE, flow, plan.index, loop_result(loop), None)
        return
    total = len(loop.steps)
    failed = sum(loop.leaves.get(status, 0) for status in _BAD)
    turn.touch(attempt, flow)
    summary = DefaultArtifact(data={"total": total, "failed": failed, "succeeded": total - failed})
    attempt.artifacts = {**attempt.artifacts, SUBSTEPS: summary}
    stopped = loop.ended.get(RunStatus.STOPPED) or loop.ended.get(RunStatus.TIMED_OUT)
    if stopped:
        turn.later(Task.CONCLUDE, flow, plan.index, loop_result(loop), None)
    elif failed <= loop.tolerance * total:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.DONE, None)
    else:
        message = f"{failed} of {total} sub-steps failed, {loop.tolerance:.0%} may"
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, message)
