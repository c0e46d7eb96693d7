"""Endings: a step that is complete frees its successors; a step that failed for good ends its branch."""

from typing import Final

from stretto.engine.attempt_params import evaluated_params, needs_params_at_end
from stretto.engine.context import answer_key, condition_holds, edge_to
from stretto.engine.early_answers import drop_early
from stretto.engine.effects import AnnounceSignals, RunEnded
from stretto.engine.events import SignalsAnnounced
from stretto.engine.flow import Flow
from stretto.engine.live_rollup import ended_leaves
from stretto.engine.machine.holds import release_undos_below
from stretto.engine.machine.undo import compensate, note_undone, undo_order, undoes
from stretto.engine.outcome import worst_end
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, failure_event
from stretto.engine.signals import announced_signals
from stretto.engine.turn import Task, Turn
from stretto.model.details import ErrorStatus
from stretto.model.errors import Internal, StrettoError
from stretto.model.moves import STEP_MOVES
from stretto.model.run_config import RunPolicy
from stretto.model.signal_instance import SignalOutputs
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogEvent, LogLevel
from stretto.params import MissingKeys, merge_outputs
from stretto.sel import SelError

S = StepStatus
OURS: Final = Internal.status  # errors from here on are not the user's
OUTPUTS_COMPLETED: Final = "Signal step outputs have been completed."


def finish(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """The work is done: take over its outputs, announce its signals, and go on once they are stored."""
    turn.touch(attempt, flow)
    if attempt.outputs:
        limits, maestro = flow.tree.settings.params, flow.tree.workflow.follows_maestro
        attempt.params = merge_outputs(
            attempt.params or {}, attempt.outputs, turn.now, limits, follows_maestro=maestro
        )
        attempt.outputs = {}
    if attempt.announced or not _announces(turn, flow, plan, attempt):
        complete(turn, flow, plan, attempt, S.SUCCEEDED)


def _announces(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Ask for what a step announces, or for a value that it lacks to do so; False if there is nothing."""
    outputs = announced_signals(flow, plan.step, attempt, attempt.finish_time or turn.now)
    if isinstance(outputs, MissingKeys):
        turn.fetch(flow, attempt, outputs)
        return True
    if outputs:
        attempt.asked_at = None  # it waits for something else now
        carries_payload = not flow.tree.workflow.follows_maestro
        turn.act(
            AnnounceSignals(
                attempt=attempt.key,
                outputs=outputs,
                step_instance_id=attempt.sequence,
                carries_payload=carries_payload,
            )
        )
    return bool(outputs)


def signals_announced(turn: Turn, flow: Flow, event: SignalsAnnounced) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is not None and attempt.status is S.FINISHING and not attempt.announced:
        turn.touch(attempt, flow)
        attempt.announced = True
        info = LogEvent(timestamp=turn.now, message=OUTPUTS_COMPLETED)
        attempt.signal_outputs = SignalOutputs(outputs=list(event.outputs), info=info)
        turn.later(Task.ADVANCE, flow, flow.plan.numbers[event.attempt.step_id])


def complete(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> bool:
    """End an attempt well, once all its edges are decided; False if that must wait, or went wrong."""
    turn.touch(attempt, flow)
    if status is S.COMPLETED_WITH_ERROR and attempt.decided is not status:
        attempt.decided = status  # a failure from here on can not be ignored once more
        for edge in plan.edges:  # what was evaluated elsewhere was for another end
            flow.fetched.pop(answer_key(attempt, edge_to(flow.plan.steps[edge.target].id)), None)
    try:
        edges = _decided_edges(turn, flow, plan, attempt, status)
    except (StrettoError, SelError) as error:
        fail_internally(turn, flow, plan, attempt, str(error), error)
        return False
    if edges is None:
        if status is not S.SUCCEEDED:  # FINISHING comes here again by itself
            attempt.decided = status
        return False
    end_attempt(turn, flow, plan, attempt, status)
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
    if not _has_params(turn, flow, plan, attempt, status):
        return None
    edges: dict[str, bool] = {}
    before, attempt.status = attempt.status, status  # a condition may ask how the step ended
    try:
        for edge in plan.edges:
            target = steps[edge.target].id
            taken = edge.condition is None or condition_holds(
                flow, attempt, edge_to(target), edge.condition, turn.now
            )
            if isinstance(taken, MissingKeys):
                turn.fetch(flow, attempt, taken)
                return None
            edges[target] = taken
    finally:
        attempt.status = before
    return edges


def _has_params(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> bool:
    """A step that is skipped before its parameters were evaluated gets them now: its conditions read them."""
    if not needs_params_at_end(flow, plan, attempt, status):
        return True
    found = evaluated_params(flow, plan, attempt, turn.now)
    if isinstance(found, MissingKeys):
        turn.fetch(flow, attempt, found)
        return False
    turn.touch(attempt, flow)
    attempt.params = found
    return True


def free_successors(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """Count down what each successor waits for; who waits for nothing more begins."""
    edges = attempt.edges or {}
    waiting, satisfied, steps = flow.waiting, flow.satisfied, flow.plan.steps
    for edge in plan.edges:
        target = edge.target
        waiting[target] -= 1
        if edges[steps[target].id]:
            satisfied[target] = True
        # After a redirect, what lies beside the way back has begun already and does not begin again.
        if not waiting[target] and not flow.has_begun(target):
            turn.schedule(flow, target)
    turn.later(Task.LOOK, flow)


# ---------------------------------------------------------------------------------------------- bad ends
def fail(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    message: str | None,
    status: StepStatus = S.FATALLY_FAILED,
) -> None:
    """End an attempt badly for good; what that means for the run is the step's failure mode."""
    turn.touch(attempt, flow)
    attempt.reason = message
    mode = FailureMode.FAIL_AFTER_RUNNING if attempt.heedless else plan.step.failure_mode
    ignores = mode is FailureMode.IGNORE_FAILURE and attempt.decided is not S.COMPLETED_WITH_ERROR
    if ignores and S.COMPLETED_WITH_ERROR in STEP_MOVES[attempt.status]:
        complete(turn, flow, plan, attempt, S.COMPLETED_WITH_ERROR)
        return
    _end_badly(turn, flow, plan, attempt, status)
    if mode is FailureMode.FAIL_IMMEDIATELY:
        _stop_others(turn, flow, plan)


def _end_badly(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> None:
    end_attempt(turn, flow, plan, attempt, status)
    _blame(turn, flow, plan, attempt.reason)
    turn.later(Task.LOOK, flow)


def _stop_others(turn: Turn, flow: Flow, plan: StepPlan) -> None:
    """What runs is stopped, and nothing begins any more."""
    run, reason = flow.run, f"step {plan.id} failed"
    turn.touch(run, flow)
    run.ending, run.ended_by = RunStatus.FAILED, reason
    flow.held = []
    release_undos_below(turn, flow, reason, run_outcome)
    for other in flow.plan.steps:
        if other.index != plan.index:
            turn.later(Task.END_STEP, flow, other.index, S.STOPPED, reason)


def fail_internally(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    message: str,
    cause: Exception | None = None,
) -> None:
    """A step that can not be decided. It is not retried, and in Maestro its failure mode does not count.
    Outside of Maestro it is FATALLY_FAILED if the definition is to blame, and not we. The timeline has the
    error with what the `cause` says about it.
    """
    details = cause.details if isinstance(cause, StrettoError) else ()
    if flow.tree.workflow.follows_maestro:
        turn.add_events(flow, attempt, (failure_event(turn.now, message, details or (message,)),))
        attempt.reason = message
        _end_badly(turn, flow, plan, attempt, S.INTERNALLY_FAILED)
        return
    blamed = _blamed_on_user(cause)
    status = S.INTERNALLY_FAILED if blamed is None else S.FATALLY_FAILED
    event = failure_event(turn.now, message, details or (message,), blamed or ErrorStatus.INTERNAL_ERROR)
    turn.add_events(flow, attempt, (event,))
    fail(turn, flow, plan, attempt, message, status)


def _blamed_on_user(cause: Exception | None) -> ErrorStatus | None:
    """The class of an error in what somebody wrote, such as a name that nothing has; None for our faults."""
    if isinstance(cause, SelError):
        return ErrorStatus.BAD_REQUEST
    if isinstance(cause, StrettoError) and cause.status < OURS:
        return ErrorStatus(cause.maestro_status)
    return None


def _blame(turn: Turn, flow: Flow, plan: StepPlan, message: str | None) -> None:
    """The first failure is kept with the run, so that one need not look for it."""
    ends = (S.FATALLY_FAILED, S.INTERNALLY_FAILED, *((S.TIMED_OUT,) if timeouts_fail(flow) else ()))
    if sum(flow.counts.get(status, 0) for status in ends) == 1:
        text = f"Step [{plan.id}] failed" + (f": {message}" if message else "")
        turn.note(flow, flow.run, text, LogLevel.ERROR)


def end_step(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> None:
    """An attempt whose work is over ends as it was asked to."""
    if status is S.SKIPPED:
        complete(turn, flow, plan, attempt, S.SKIPPED)
    elif status is S.FATALLY_FAILED:
        fail(turn, flow, plan, attempt, attempt.reason)
    elif status is S.INTERNALLY_FAILED:
        fail_internally(turn, flow, plan, attempt, attempt.reason or "it could not be decided")
    elif status is S.TIMED_OUT and timeouts_fail(flow):
        fail(turn, flow, plan, attempt, attempt.reason, S.TIMED_OUT)
    else:
        end_attempt(turn, flow, plan, attempt, status)
        turn.later(Task.LOOK, flow)


def end_attempt(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> None:
    """The last move of an attempt: nothing is awaited any more, and its permits are free."""
    turn.touch(attempt, flow)
    if attempt.wake_at is not None and attempt.status.is_terminal:
        flow.active -= 1
    attempt.wake_at = attempt.wake_reason = attempt.timeout_at = attempt.launch = None
    attempt.ending = attempt.decided = attempt.function_wait = None
    turn.move(flow, attempt, status)
    loop = turn.drop_loop(flow, plan.index)
    if loop is not None:
        attempt.leaves = ended_leaves(loop).record()
    turn.release_permits(attempt)


# ---------------------------------------------------------------------------------------------------- runs
def timeouts_fail(flow: Flow) -> bool:
    """Whether a step that times out has failed: not in Maestro, and not if the run itself times out."""
    return not flow.tree.workflow.follows_maestro and flow.run.ending is not RunStatus.TIMED_OUT


def run_outcome(flow: Flow) -> RunStatus:
    """How a run ends in which nothing more can happen: the worst of what its steps came to."""
    counts = {status: count for status, count in flow.counts.items() if count}
    shut = dict.fromkeys(flow.run.shut.values(), 1)
    worst = worst_end({**counts, **shut}, timeouts_fail=timeouts_fail(flow))
    if worst is not None:
        return worst
    if flow.run.ending is not None:
        return flow.run.ending
    if flow.plan.steps and not counts:
        return RunStatus.FAILED  # no step was ever made
    return _with_what_is_left(flow)


def _with_what_is_left(flow: Flow) -> RunStatus:
    """How a run ends that did all it was to do. The step that waits for it goes by its instance: if a restart
    of one step left others alone that did not end well, that ends as before.
    """
    before = flow.run.before
    if before is None or None not in flow.attempts:
        return RunStatus.SUCCEEDED
    return before


def look(turn: Turn, flow: Flow) -> None:
    """End the run if nothing is active, nothing is held, and nothing else is about to begin."""
    if flow.active or flow.held or flow.is_over or flow.run.start_time is None:
        return
    following = flow.next_in_order if flow.plan.undoes is not None and flow.run.ending is None else None
    if following is not None:
        turn.schedule(flow, following)
        return
    status = run_outcome(flow)
    to_undo = undo_order(flow) if undoes(flow, status) else ()
    if to_undo:
        if not _is_held_up(turn, flow):
            compensate(turn, flow, to_undo)
        return
    end_run(turn, flow, status)  # a paused one, too: nothing is left that a pause could hold


def _is_held_up(turn: Turn, flow: Flow) -> bool:
    """Whether a run that is to be undone waits, because it is paused. A stop ends the pause."""
    run = flow.run
    if run.is_paused and run.ending is not None:
        turn.move_run(flow, RunStatus.IN_PROGRESS)
        run.paused = run.held = False
    return run.is_paused


def end_run(turn: Turn, flow: Flow, status: RunStatus) -> None:
    turn.move_run(flow, status)
    run = flow.run
    if run.policy is RunPolicy.UNDO:
        note_undone(turn, flow)
    run.end_time = turn.now
    run.timeout_at = None
    run.paused = run.held = False
    drop_early(turn, flow)
    if flow.parent is None:
        turn.act(RunEnded(run=run.key, status=status))
    else:
        turn.later(Task.ITERATION_ENDED, flow)
