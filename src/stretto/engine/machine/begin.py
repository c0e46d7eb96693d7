"""A step begins: its first attempt, or the next one."""

from stretto.engine.attempt_params import is_overridden
from stretto.engine.flow import Flow
from stretto.engine.machine.advance import advance
from stretto.engine.machine.finish import complete, free_successors
from stretto.engine.plan import StepPlan
from stretto.engine.policies import own_permits
from stretto.engine.records import AttemptKey, AttemptRecord, copy_of
from stretto.engine.skips import SKIPPED_MESSAGE
from stretto.engine.turn import Task, Turn
from stretto.model.param import Params
from stretto.model.run_config import RestartConfig
from stretto.model.status import StepStatus


def begin(turn: Turn, flow: Flow, index: int) -> None:
    """All predecessors of a step are complete: make an attempt, unless the run is held or ending."""
    run = flow.run
    if flow.end_to_come is not None:  # once it is here, the run ends so, and not as if nothing was left to do
        turn.later(Task.REACH, flow)
        turn.later(Task.BEGIN, flow, index)
        return
    flow.active -= 1  # counted since it was scheduled
    plan = flow.plan.steps[index]
    if run.ending is not None or plan.id in run.shut:
        turn.later(Task.LOOK, flow)
        return
    if flow.holds_back(plan):
        flow.held.append(index)
        return
    if not flow.satisfied[index] or flow.attempts[index] is not None:
        begin_anew(turn, flow, index)
    elif plan.plain and _passes_freely(flow, plan) and _has_permits(turn, flow, plan):
        _pass_through(turn, flow, plan)
    elif _begins_freely(flow, plan):
        _begin_freely(turn, flow, plan)
    else:
        begin_anew(turn, flow, index)


def begin_anew(
    turn: Turn,
    flow: Flow,
    index: int,
    *,
    manual: bool = False,
    params: Params | None = None,
    restart: RestartConfig | None = None,
) -> None:
    """An attempt that owes nothing to one before it: there is none, or a redirect made it run again."""
    before = flow.attempts[index]
    number = 1 if before is None else before.key.number + 1
    attempt = AttemptRecord(
        key=AttemptKey(flow.run.key, flow.plan.steps[index].id, number),
        sequence=flow.sequence + 1,
        create_time=turn.now,
        manual=manual,
        step_run_params=params or {},
        restart=restart,
        loop_run=None if before is None else before.loop_run,
        undoable=before is not None and before.undoable,
        delivered=before is not None and before.has_delivered,
    )
    turn.add_attempt(flow, index, attempt)
    advance(turn, flow, index)


def begin_again(
    turn: Turn,
    flow: Flow,
    index: int,
    *,
    manual: bool = False,
    params: Params | None = None,
    restart: RestartConfig | None = None,
    skip: bool = False,
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
        restart=restart,
        earlier_child=before.child or before.earlier_child,
        earlier_leaves=before.leaves or before.earlier_leaves,
        loop_run=before.loop_run,
        undoable=before.undoable,
        delivered=before.has_delivered,
        failed_before=None if manual else before.reason or before.failed_before,
    )
    turn.add_attempt(flow, index, attempt)
    if skip:
        turn.note(flow, attempt, SKIPPED_MESSAGE)
        complete(turn, flow, flow.plan.steps[index], attempt, StepStatus.SKIPPED)
    else:
        advance(turn, flow, index)


def _passes_freely(flow: Flow, plan: StepPlan) -> bool:
    """Whether a plain step has nothing added to it by this run."""
    run, tree = flow.run, flow.tree
    return run.restart is None and plan.id not in tree.breakpoints and not is_overridden(flow, plan.id)


def _begins_freely(flow: Flow, plan: StepPlan) -> bool:
    """Whether nothing is before the parameters of a step: no breakpoint, no signal, no timeout to be read."""
    return (
        flow.run.restart is None
        and plan.id not in flow.tree.breakpoints
        and plan.sure_timeout
        and not plan.step.signal_dependencies
    )


def _has_permits(turn: Turn, flow: Flow, plan: StepPlan) -> bool:
    """Whether a step that ends at once needs no permit, or can take all that it needs."""
    limits = own_permits(flow, plan)
    if not limits:
        return True
    if not flow.tree.permits.has_room(limits, turn.taken):
        return False
    turn.use_permits(limits)
    return True


def _begin_freely(turn: Turn, flow: Flow, plan: StepPlan) -> None:
    """Nothing is before its parameters: the statuses up to them at once, as `advance` would pass them."""
    attempt = copy_of(turn.begun)
    attempt.key = AttemptKey(flow.run.key, plan.id, 1)
    attempt.sequence = flow.sequence + 1
    turn.add_attempt(flow, plan.index, attempt)
    advance(turn, flow, plan.index)


def _pass_through(turn: Turn, flow: Flow, plan: StepPlan) -> None:
    """All statuses at once, each with its time: what `advance` does one by one, at a quarter of the cost."""
    attempt = copy_of(turn.passed)
    attempt.key = AttemptKey(flow.run.key, plan.id, 1)
    attempt.sequence = flow.sequence + 1
    attempt.edges = plan.all_taken
    turn.add_attempt(flow, plan.index, attempt)
    free_successors(turn, flow, plan, attempt)
