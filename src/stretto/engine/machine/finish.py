"""Endings: a step that is complete frees its successors; a step that failed for good ends its branch."""

from stretto.engine.context import condition_holds
from stretto.engine.effects import AnnounceSignals, Fetch, ReleasePermits, RunEnded
from stretto.engine.flow import Flow
from stretto.engine.machine.undo import compensate
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.engine.signals import announced_signals
from stretto.engine.turn import Task, Turn
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogLevel
from stretto.params import MissingKeys, ParamError, merge_outputs
from stretto.sel import SelError

S = StepStatus


def finish(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """The work is done: take over its outputs, announce its signals, and go on."""
    turn.touch(attempt, flow)
    if attempt.outputs:
        attempt.params = merge_outputs(attempt.params or {}, attempt.outputs, turn.now)
        attempt.outputs = {}
    outputs = announced_signals(flow, plan.step, attempt, turn.now)
    if isinstance(outputs, MissingKeys):
        turn.act(Fetch(attempt=attempt.key, keys=outputs.keys))
        return
    if complete(turn, flow, plan, attempt, S.SUCCEEDED) and outputs:
        turn.act(AnnounceSignals(attempt=attempt.key, outputs=outputs))


def complete(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> bool:
    """End an attempt well, once all its edges are decided; False if that must wait for a value."""
    edges = _decided_edges(turn, flow, plan, attempt, status)
    if edges is None:
        return False
    _end(turn, flow, attempt, status)
    attempt.edges = edges
    free_successors(turn, flow, plan, attempt)
    return True


def _decided_edges(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus
) -> dict[str, bool] | None:
    """Each successor and whether its edge is taken. A step that did not run takes none of its edges."""
    steps = flow.plan.steps
    if status is S.UNSATISFIED:
        return {steps[edge.target].id: False for edge in plan.edges}
    edges: dict[str, bool] = {}
    before, attempt.status = attempt.status, status  # a condition may ask how the step ended
    try:
        for edge in plan.edges:
            target = steps[edge.target].id
            taken = edge.condition is None or condition_holds(flow, attempt, target, edge.condition, turn.now)
            if isinstance(taken, MissingKeys):
                turn.act(Fetch(attempt=attempt.key, keys=taken.keys))
                return None
            edges[target] = taken
    finally:
        attempt.status = before
    return edges


def free_successors(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """Count down what each successor waits for; who waits for nothing more begins."""
    edges = attempt.edges or {}
    waiting, satisfied, steps = flow.waiting, flow.satisfied, flow.plan.steps
    for edge in plan.edges:
        target = edge.target
        waiting[target] -= 1
        if edges[steps[target].id]:
            satisfied[target] = True
        if not waiting[target]:
            turn.schedule(flow, target)
    turn.later(Task.LOOK, flow)


def fail(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, message: str | None) -> None:
    """End an attempt badly for good; what that means for the run is the step's failure mode."""
    turn.touch(attempt, flow)
    attempt.reason = message
    mode = plan.step.failure_mode or FailureMode.FAIL_AFTER_RUNNING
    if mode is FailureMode.IGNORE_FAILURE and not attempt.heedless:
        if not complete(turn, flow, plan, attempt, S.COMPLETED_WITH_ERROR):
            turn.later(Task.LOOK, flow)
        return
    _end(turn, flow, attempt, S.FATALLY_FAILED)
    if mode is FailureMode.FAIL_IMMEDIATELY and not attempt.heedless:
        for other in flow.plan.steps:
            if other.index != plan.index:
                turn.later(Task.END_STEP, flow, other.index, S.STOPPED, f"step {plan.id} failed")
    turn.later(Task.LOOK, flow)


def fail_internally(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord, message: str) -> None:
    """A step that can not be decided. It is not retried, and its failure mode does not count."""
    turn.note(flow, attempt, message, LogLevel.ERROR)
    attempt.reason = message
    _end(turn, flow, attempt, S.INTERNALLY_FAILED)
    turn.later(Task.LOOK, flow)


def end_step(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> None:
    """An attempt whose work is over ends as it was asked to."""
    if status is S.SKIPPED:
        try:
            complete(turn, flow, plan, attempt, S.SKIPPED)
        except (ParamError, SelError) as error:
            fail_internally(turn, flow, plan, attempt, str(error))
    elif status is S.FATALLY_FAILED:
        fail(turn, flow, plan, attempt, attempt.reason)
    else:
        _end(turn, flow, attempt, status)
        turn.later(Task.LOOK, flow)


def _end(turn: Turn, flow: Flow, attempt: AttemptRecord, status: StepStatus) -> None:
    turn.touch(attempt, flow)
    if attempt.wake_at is not None and attempt.status.is_terminal:
        flow.active -= 1
    attempt.wake_at = attempt.wake_reason = attempt.timeout_at = attempt.ending = None
    turn.move(flow, attempt, status)
    if attempt.permits:
        turn.act(ReleasePermits(attempt=attempt.key, tags=attempt.permits))
        attempt.permits, attempt.granted = (), False


# ---------------------------------------------------------------------------------------------------- runs
_FAILED = (S.FATALLY_FAILED, S.INTERNALLY_FAILED, S.USER_FAILED, S.PLATFORM_FAILED, S.TIMEOUT_FAILED)


def run_outcome(flow: Flow) -> RunStatus:
    """How a run ends in which nothing more can happen: the worst of what its steps came to."""
    counts = flow.counts
    if any(counts.get(status) for status in _FAILED):
        return RunStatus.FAILED
    if counts.get(S.TIMED_OUT):
        return RunStatus.TIMED_OUT
    if counts.get(S.STOPPED):
        return RunStatus.STOPPED
    if flow.run.ending is not None:
        return flow.run.ending
    if flow.plan.steps and not any(counts.values()):
        return RunStatus.FAILED  # no step was ever made
    return RunStatus.SUCCEEDED


def look(turn: Turn, flow: Flow) -> None:
    """End the run if nothing is active, nothing is held, and nothing else is about to begin."""
    if flow.active or flow.held or flow.is_over:
        return
    if flow.run.status is RunStatus.CREATED:
        return
    if flow.run.paused and flow.run.ending is None:
        turn.touch(flow.run, flow)
        flow.run.paused = False
        turn.move_run(flow, RunStatus.IN_PROGRESS)
    status = run_outcome(flow)
    if status is RunStatus.FAILED and flow.run.compensation is None and compensate(turn, flow):
        return
    end_run(turn, flow, status)


def end_run(turn: Turn, flow: Flow, status: RunStatus) -> None:
    turn.move_run(flow, status)
    run = flow.run
    run.end_time = turn.now
    run.timeout_at = None
    run.paused = False
    if flow.parent is None:
        turn.act(RunEnded(run=run.key, status=status))
    else:
        turn.later(Task.ITERATION_ENDED, flow)
