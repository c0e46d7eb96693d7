"""Foreach: its steps once for every combination of its loop parameters, some at a time."""

from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.loops import inline_id, launch_iteration, loop_result, too_deep
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode, ForeachStep
from stretto.params import iteration_count, iteration_values


def launch_foreach(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Count the iterations and begin; without any the step is done."""
    turn.move(flow, attempt, StepStatus.RUNNING)
    refused = too_deep(flow, plan)
    total = iteration_count((attempt.params or {})["loop_params"])
    if total > flow.tree.settings.iterations:
        limit = flow.tree.settings.iterations
        refused = f"the foreach has {total:,} iterations, the limit is {limit:,}"
    if refused is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, refused)
        return False
    earlier = flow.earlier_loops.get(plan.id)
    loop = LoopRecord(
        key=attempt.key,
        inline_id=inline_id(flow, attempt, Loop.FOREACH),
        run_id=earlier.run_id + 1 if earlier is not None else flow.run.key.run_id,
        total=total,
        kept=earlier.kept if earlier is not None else (),
        ended=dict(earlier.ended) if earlier is not None else {},
    )
    flow.loops[plan.index] = loop
    turn.add(loop, flow)
    turn.later(Task.LOOP, flow, plan.index)
    return False


def run_foreach(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, loop: LoopRecord) -> None:
    """Launch what may be launched; conclude when all is over."""
    step = plan.step
    assert isinstance(step, ForeachStep)  # noqa: S101 - the kind says so
    children = flow.children.setdefault(plan.index, {})
    if loop.ended.get(RunStatus.FAILED) and not loop.stopped:
        _stop_launching(turn, flow, plan, loop)
    total, limit = loop.total or 0, concurrency_of(flow, step)
    open_ended = not (
        loop.stopped or flow.run.paused or flow.run.ending is not None or attempt.ending is not None
    )
    _pass_kept(turn, flow, loop)
    while open_ended and loop.next_index < total and _running(step, loop, children) < limit:
        if turn.created >= flow.tree.settings.records_per_decision:
            # Too much for one commit: let this one happen, then go on.
            turn.resume_later(attempt)
            return
        values = iteration_values((attempt.params or {})["loop_params"], loop.next_index)
        launch_iteration(turn, flow, plan, attempt, loop, values)
        _pass_kept(turn, flow, loop)
    if not children and (loop.next_index >= total or loop.stopped or attempt.ending is not None):
        turn.later(Task.CONCLUDE, flow, plan.index, loop_result(loop), None)


def _pass_kept(turn: Turn, flow: Flow, loop: LoopRecord) -> None:
    """Go past iterations that an earlier run has done."""
    for first, last in loop.kept:
        if first <= loop.next_index + 1 <= last:
            turn.touch(loop, flow)
            loop.next_index = last


def concurrency_of(flow: Flow, step: ForeachStep) -> int:
    """How many iterations may run at once."""
    known = [flow.tree.settings.step_concurrency, flow.tree.workflow.instance_step_concurrency]
    allowed = min((each for each in known if each is not None), default=flow.tree.settings.loop_concurrency)
    return allowed if step.concurrency is None else min(step.concurrency, allowed)


def _running(step: ForeachStep, loop: LoopRecord, children: dict[int, Flow]) -> int:
    """Iterations that count as running: in strict order, all since the oldest that is not over."""
    if step.strict_ordering and children:
        return loop.next_index - min(children) + 1
    return len(children)


def _stop_launching(turn: Turn, flow: Flow, plan: StepPlan, loop: LoopRecord) -> None:
    """An iteration failed: the others may end, but none begins; or all are stopped, if that is the mode."""
    turn.touch(loop, flow)
    loop.stopped = True
    if plan.step.failure_mode is FailureMode.FAIL_IMMEDIATELY:
        turn.later(Task.END_STEP, flow, plan.index, StepStatus.FATALLY_FAILED, "an iteration failed")
