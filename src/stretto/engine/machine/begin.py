"""A step begins: its first attempt, or the next one."""

from stretto.engine.flow import Flow
from stretto.engine.machine.advance import advance
from stretto.engine.machine.finish import free_successors
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.param import Params
from stretto.model.status import StepStatus


def begin(turn: Turn, flow: Flow, index: int) -> None:
    """All predecessors of a step are complete: make its first attempt, unless the run is held or ending."""
    run = flow.run
    flow.active -= 1  # counted since it was scheduled
    if run.ending is not None or flow.is_over:
        turn.later(Task.LOOK, flow)
        return
    plan = flow.plan.steps[index]
    if run.paused or plan.id in run.suspended:
        flow.held.append(index)
        return
    turn.touch(run, flow)
    run.sequence += 1
    before = flow.attempts[index]
    number = 1 if before is None else before.key.number + 1  # a redirect made it run again
    if plan.plain and flow.satisfied[index] and number == 1 and _passes_freely(flow, plan):
        _pass_through(turn, flow, plan)
        return
    attempt = AttemptRecord(
        key=AttemptKey(run.key, plan.id, number), sequence=run.sequence, create_time=turn.now
    )
    turn.add_attempt(flow, index, attempt)
    advance(turn, flow, index)


def begin_again(
    turn: Turn, flow: Flow, index: int, *, manual: bool = False, params: Params | None = None
) -> None:
    """The next attempt of a step. Signals that were matched stay matched; a user's restart is not retried."""
    before = flow.attempts[index]
    if before is None:
        message = f"step {flow.plan.steps[index].id} has no attempt to follow"
        raise LookupError(message)
    turn.touch(before, flow)
    if before.wake_at is not None:
        before.wake_at = before.wake_reason = None
        flow.active -= 1
    attempt = AttemptRecord(
        key=before.key._replace(number=before.key.number + 1),
        sequence=before.sequence,
        create_time=turn.now,
        error_retries=before.error_retries + (before.status is StepStatus.USER_FAILED),
        platform_retries=before.platform_retries + (before.status is StepStatus.PLATFORM_FAILED),
        timeout_retries=before.timeout_retries + (before.status is StepStatus.TIMEOUT_FAILED),
        manual=manual or before.manual,
        signals=before.signals,
        step_run_params=before.step_run_params if params is None else params,
    )
    turn.add_attempt(flow, index, attempt)
    advance(turn, flow, index)


def _passes_freely(flow: Flow, plan: StepPlan) -> bool:
    """Whether a plain step has nothing added to it by this run."""
    run, tree = flow.run, flow.tree
    return (
        plan.id not in tree.breakpoints
        and plan.id not in run.step_run_params
        and not run.tags
        and run.restart is None
        and tree.workflow.instance_step_concurrency is None
    )


def _pass_through(turn: Turn, flow: Flow, plan: StepPlan) -> None:
    """All statuses at once, each with its time: what `advance` does one by one, at a tenth of the cost."""
    now = turn.now
    attempt = AttemptRecord(
        key=AttemptKey(flow.run.key, plan.id, 1),
        sequence=flow.run.sequence,
        status=StepStatus.SUCCEEDED,
        create_time=now,
        initialize_time=now,
        wait_signal_time=now,
        evaluate_param_time=now,
        wait_permit_time=now,
        start_time=now,
        execute_time=now,
        finish_time=now,
        end_time=now,
        edges={flow.plan.steps[edge.target].id: True for edge in plan.edges},
    )
    turn.add_attempt(flow, plan.index, attempt)
    free_successors(turn, flow, plan, attempt)
