"""What users and timeouts ask of a step: end it, let it go on, start it again.

Work that others do is terminated first: the attempt keeps its status, with `ending` noted, until the answer
comes. A result that was committed before wins.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from stretto.engine.early_answers import answer_in, answered_by, is_early, keep_early, said_in
from stretto.engine.effects import TerminateWork
from stretto.engine.events import BreakpointGone, CalledBack, ResultState, StepActed
from stretto.engine.flow import Flow, is_active
from stretto.engine.kinds.again import is_below, restart_iteration
from stretto.engine.kinds.subworkflow import stop_child
from stretto.engine.machine.advance import wait_for_signals
from stretto.engine.machine.begin import begin_again, begin_anew
from stretto.engine.machine.finish import end_step
from stretto.engine.machine.report import conclude, fail_or_retry, may_retry
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.timeouts import TIMED_OUT
from stretto.engine.turn import Task, Turn
from stretto.model.actions import ENDS_IN, STEP_ACTIONS, StepAction
from stretto.model.errors import NotFound, WrongState
from stretto.model.signal_instance import SignalDependencies, SignalDependencyStatus
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode, SubworkflowStep
from stretto.model.timeline import LogEvent

S = StepStatus
_A = StepAction
_AT_WORK: Final = frozenset({S.STARTING, S.RUNNING})


def step_acted(turn: Turn, flow: Flow, event: StepActed) -> None:
    """Refused if the table of actions does not list it for the status that the step is in now."""
    plan = flow.step(event.attempt.step_id)
    where = f"[{flow.run.key.workflow_id}][{flow.run.key.instance_id}][{event.attempt.step_id}]"
    if plan is None:
        message = f"run {flow.run.key} has no step {event.attempt.step_id}"
        raise NotFound(message)
    attempt = flow.attempts[plan.index]
    action = event.action.value.lower()
    if attempt is None:
        if event.action is _A.RESTART and _is_waiting_root(flow, plan):
            _check_open(flow, plan)
            params = dict(event.params)
            begin_anew(turn, flow, plan.index, manual=True, params=params, restart=event.restart)
            return
        message = f"Cannot {action} step {where} before it is created. Please try it again."
        raise WrongState(message)
    if event.attempt.number not in {0, attempt.key.number}:
        message = f"Cannot {action} step {where}: attempt {event.attempt.number} is not the newest any more"
        raise WrongState(message)
    if event.action is _A.RESTART and is_below(attempt, event):
        restart_iteration(turn, flow, plan, attempt, event)
        return
    if event.action not in STEP_ACTIONS.get(attempt.status, ()):
        message = f"Cannot {action} step {where} because it is unsupported by the step action map"
        raise WrongState(message, hint=f"it is {attempt.status}")
    because = "" if event.reason is None else f": {event.reason}"
    turn.note(flow, attempt, f"User [{event.user}] take action [{event.action}] on the step{because}")
    _BY_ACTION[event.action](turn, flow, plan, attempt, event)


def _is_waiting_root(flow: Flow, plan: StepPlan) -> bool:
    """In a run that restarts another step, a root waits until a user starts it."""
    return not plan.before and not flow.begins_itself(plan) and flow.run.start_time is not None


def _end(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    if attempt.ending is not None:
        message = f"step {plan.id} is being ended already, as {attempt.ending}"
        raise WrongState(message)
    reason = f"{event.action.value.lower()} by {event.user}"
    turn.later(Task.END_STEP, flow, plan.index, ENDS_IN[event.action], reason)


def _skip(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    """What has not ended ends so; what ended badly gets an attempt that is skipped before it does a thing."""
    if attempt.status.is_wakeable:
        _end(turn, flow, plan, attempt, event)
        return
    _check_restartable(flow, plan, attempt)
    begin_again(turn, flow, plan.index, manual=True, skip=True)


def _restart(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    """The next attempt in the same run, for a step that ended badly for good."""
    _check_restartable(flow, plan, attempt)
    begin_again(turn, flow, plan.index, manual=True, params=dict(event.params), restart=event.restart)


def _check_restartable(flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    if not attempt.status.is_restartable:
        message = f"step {plan.id} is {attempt.status}; only one that failed can be restarted in the same run"
        raise WrongState(message, hint="restart the run from this step")
    mode = plan.step.failure_mode or FailureMode.FAIL_AFTER_RUNNING
    if mode is not FailureMode.FAIL_AFTER_RUNNING:
        message = f"step {plan.id} has the failure mode {mode}: it can not be restarted in the same run"
        raise WrongState(message, hint="restart the run from this step, once it has ended")
    _check_open(flow, plan)


def _check_open(flow: Flow, plan: StepPlan) -> None:
    if flow.run.ending is not None:
        message = f"step {plan.id} can not be started: the run is being ended ({flow.run.ended_by})"
        raise WrongState(message)
    if flow.run.compensation is not None:
        message = f"step {plan.id} can not be started: what the run did is being undone"
        raise WrongState(message, hint="restart the run, once it has ended")
    if flow.holds_back(plan):
        message = f"step {plan.id} can not be started: the run is paused, or the step is suspended"
        raise WrongState(message, hint="resume it first")


def _pause(_turn: Turn, _flow: Flow, plan: StepPlan, _attempt: AttemptRecord, _event: StepActed) -> None:
    message = f"step {plan.id} can not be paused by itself"
    raise WrongState(message, hint="set a breakpoint, or suspend the step before it begins")


def _resume(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, _event: StepActed) -> None:
    wait_for_signals(turn, flow, attempt)
    turn.later(Task.ADVANCE, flow, plan.index)


def _bypass(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    """Wait for no more signals: what is pending counts as skipped."""
    message = f"Signal step dependencies have been bypassed by user [{event.user}]"
    turn.touch(attempt, flow)
    info = LogEvent(timestamp=turn.now, message=message)
    attempt.signals = bypassed(attempt.signals or SignalDependencies(), info)
    turn.later(Task.ADVANCE, flow, plan.index)


def bypassed(signals: SignalDependencies, info: LogEvent) -> SignalDependencies:
    made = [
        each if each.status.is_done else msgspec.structs.replace(each, status=SignalDependencyStatus.SKIPPED)
        for each in signals.dependencies
    ]
    return SignalDependencies(dependencies=made, info=info)


_BY_ACTION: Final[Mapping[StepAction, Callable[[Turn, Flow, StepPlan, AttemptRecord, StepActed], None]]] = {
    _A.PAUSE: _pause,
    _A.STOP: _end,
    _A.KILL: _end,
    _A.SKIP: _skip,
    _A.RESTART: _restart,
    _A.RESUME: _resume,
    _A.BYPASS_STEP_DEPENDENCIES: _bypass,
}


# ------------------------------------------------------------------------------------------------- ending
def end_from_outside(turn: Turn, flow: Flow, index: int, status: StepStatus, reason: str) -> None:
    """Bring the newest attempt of a step to an end, after its work, if there is any, has ended."""
    attempt = flow.attempts[index]
    plan = flow.plan.steps[index]
    if attempt is None or not is_active(attempt) or attempt.ending is not None:
        return
    turn.touch(attempt, flow)
    attempt.reason = _with_failure(attempt, reason)
    if _must_wait(turn, flow, plan, attempt):
        attempt.ending = status
    else:
        end_step(turn, flow, plan, attempt, status)


def _with_failure(attempt: AttemptRecord, reason: str) -> str:
    """Why it ends; of one that waits for its retry or is retried, also what it has failed of."""
    failure = attempt.reason if attempt.wake_reason is WakeReason.BACK_OFF else attempt.failed_before
    return reason if failure is None else f"{reason}; before its retry it had failed: {failure}"


def _must_wait(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    """Ask whoever does the work to end it; True if an answer is to come."""
    if attempt.status not in _AT_WORK or attempt.decided is not None:
        return False
    if flow.children.get(plan.index):
        turn.later(Task.END_ITERATIONS, flow, plan.index)
        return True
    if attempt.function_wait is not None:
        return False  # nobody has started its work
    if attempt.launch is not None:
        turn.act(TerminateWork(attempt=attempt.key, launch=attempt.launch))
        return True
    if isinstance(plan.step, SubworkflowStep) and attempt.status is S.RUNNING:
        # What runs on its own is not stopped with the step; but whether it exists must be known first.
        if plan.step.sync or plan.kind is Kind.UNDO:
            turn.act(stop_child(attempt))
        return True
    return False


def step_timed_out(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """A step took too long: its work is ended before it is tried again."""
    turn.touch(attempt, flow)
    attempt.timeout_at = None
    if attempt.ending is not None or attempt.decided is not None:
        return
    attempt.reason = TIMED_OUT
    # If a value is missing to decide on the retry, it is looked at once more when the work has ended.
    again = may_retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED)
    status = S.TIMEOUT_FAILED if again else S.TIMED_OUT
    if _must_wait(turn, flow, plan, attempt):
        attempt.ending = status
    else:
        fail_or_retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED, attempt.reason)


# ------------------------------------------------------------------------------------------------- answers
def breakpoint_gone(turn: Turn, flow: Flow, event: BreakpointGone) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is not None and attempt.status is S.PAUSED:
        wait_for_signals(turn, flow, attempt)
        turn.later(Task.ADVANCE, flow, flow.plan.numbers[event.attempt.step_id])


def called_back(turn: Turn, flow: Flow, event: CalledBack) -> None:
    """A Wait step is answered. A refusal fails it for good: a person has decided.

    An answer to an attempt that does not ask yet is kept with the run until it does.
    """
    attempt = flow.attempt(event.attempt)
    plan = flow.step(event.attempt.step_id)
    if plan is None or plan.kind is not Kind.WAIT:
        raise _not_asked(event)
    newest = flow.attempts[plan.index]
    if newest is not None and newest.answer is not None and newest.key == event.attempt:
        if event.request_id is not None and newest.answer.request_id == event.request_id:
            return
        said = answered_by(newest.answer)
        raise WrongState(f"{event.attempt} does not wait for an answer: it is answered already{said}")
    if attempt is None or attempt.status is not S.RUNNING or attempt.decided is not None:
        if flow.run.ending is not None or not is_early(newest, event.attempt.number):
            raise _not_asked(event)
        keep_early(turn, flow, event)
        return
    turn.touch(attempt, flow)
    attempt.outputs = event.outputs
    attempt.answer = answer_in(event, turn.now)
    verb = "approved" if event.approved else "refused"
    turn.note(flow, attempt, f"User [{event.user or 'unknown'}] {verb} the step")
    state = ResultState.DONE if event.approved else ResultState.FATAL_ERROR
    conclude(turn, flow, plan, attempt, state, said_in(attempt.answer))


def _not_asked(event: CalledBack) -> WrongState:
    return WrongState(f"{event.attempt} does not wait for an answer")
