"""What users, timeouts and steps above ask: end a step, end a run, hold it, let it go on.

Work that others do is terminated first: the attempt keeps its status, with `ending` noted, until the answer
comes. A result that was committed before wins.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from stretto.engine.effects import StopChild, TerminateWork
from stretto.engine.events import BreakpointGone, CalledBack, ResultState, RunActed, RunAction, StepActed
from stretto.engine.flow import Flow
from stretto.engine.machine.begin import begin_again
from stretto.engine.machine.finish import end_run, end_step
from stretto.engine.machine.report import conclude, may_retry, retry
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import NotFound, WrongState
from stretto.model.signal_instance import SignalDependencies, SignalDependencyStatus
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogEvent

S = StepStatus
_A = StepAction

ENDS: Final = {_A.STOP: S.STOPPED, _A.KILL: S.FATALLY_FAILED, _A.SKIP: S.SKIPPED, _A.TIME_OUT: S.TIMED_OUT}
RUN_ENDS: Final = {
    RunAction.STOP: (S.STOPPED, RunStatus.STOPPED),
    RunAction.KILL: (S.FATALLY_FAILED, RunStatus.FAILED),
    RunAction.TIME_OUT: (S.TIMED_OUT, RunStatus.TIMED_OUT),
}


# ---------------------------------------------------------------------------------------------------- steps
def step_acted(turn: Turn, flow: Flow, event: StepActed) -> None:
    """Refused if the table of actions does not list it for the status that the step is in now."""
    plan = flow.step(event.attempt.step_id)
    attempt = None if plan is None else flow.attempts[plan.index]
    where = f"[{flow.run.key.workflow_id}][{flow.run.key.instance_id}][{event.attempt.step_id}]"
    action = event.action.value.lower()
    if plan is None or attempt is None:
        message = f"Cannot {action} step {where} before it is created. Please try it again."
        raise WrongState(message)
    if event.attempt.number not in {0, attempt.key.number}:
        message = f"Cannot {action} step {where}: attempt {event.attempt.number} is not the newest any more"
        raise WrongState(message)
    if event.action not in STEP_ACTIONS.get(attempt.status, ()):
        message = f"Cannot {action} step {where} because it is unsupported by the step action map"
        hint = f"it is {attempt.status}"
        raise WrongState(message, hint=hint)
    turn.note(flow, attempt, f"User [{event.user}] take action [{event.action}] on the step")
    _BY_ACTION[event.action](turn, flow, plan, attempt, event)


def _end(turn: Turn, flow: Flow, plan: StepPlan, _attempt: AttemptRecord, event: StepActed) -> None:
    reason = f"{event.action.value.lower()} by {event.user}"
    turn.later(Task.END_STEP, flow, plan.index, ENDS[event.action], reason)


def _skip(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    if attempt.status.is_wakeable:
        _end(turn, flow, plan, attempt, event)
        return
    message = f"step {plan.id} has ended {attempt.status}: skipping it needs a restart of the step"
    raise WrongState(message, hint="restart the step with skip")


def _restart(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    """The next attempt in the same run, for a step that ended badly for good."""
    if not attempt.status.is_restartable:
        message = f"step {plan.id} is {attempt.status}; only one that failed can be restarted in the same run"
        raise WrongState(message, hint="restart the run from this step")
    begin_again(turn, flow, plan.index, manual=True, params=dict(event.params))


def _resume(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, _event: StepActed) -> None:
    turn.move(flow, attempt, S.WAITING_FOR_SIGNALS)
    turn.later(Task.ADVANCE, flow, plan.index)


def _bypass(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, event: StepActed) -> None:
    """Wait for no more signals: what is pending counts as skipped."""
    message = f"Signal step dependencies have been bypassed by user [{event.user}]"
    turn.touch(attempt, flow)
    attempt.signals = bypassed(attempt, LogEvent(timestamp=turn.now, message=message))
    turn.later(Task.ADVANCE, flow, plan.index)


def bypassed(attempt: AttemptRecord, info: LogEvent) -> SignalDependencies | None:
    signals = attempt.signals
    if signals is None:
        return None
    made = [
        each if each.status.is_done else msgspec.structs.replace(each, status=SignalDependencyStatus.SKIPPED)
        for each in signals.dependencies
    ]
    return SignalDependencies(dependencies=made, info=info)


_BY_ACTION: Final[Mapping[StepAction, Callable[[Turn, Flow, StepPlan, AttemptRecord, StepActed], None]]] = {
    _A.STOP: _end,
    _A.KILL: _end,
    _A.SKIP: _skip,
    _A.RESTART: _restart,
    _A.RESUME: _resume,
    _A.BYPASS_STEP_DEPENDENCIES: _bypass,
}


def end_from_outside(turn: Turn, flow: Flow, index: int, status: StepStatus, reason: str) -> None:
    """Bring the newest attempt of a step to an end, after its work, if there is any, has ended."""
    attempt = flow.attempts[index]
    plan = flow.plan.steps[index]
    if attempt is None or not attempt.status.is_wakeable or attempt.ending is not None:
        return
    if attempt.status.is_retryable and attempt.wake_at is None:
        return
    turn.touch(attempt, flow)
    attempt.reason = reason
    if attempt.status in {S.STARTING, S.RUNNING} and _must_wait(turn, flow, plan, attempt, status, reason):
        attempt.ending = status
        return
    end_step(turn, flow, plan, attempt, status)


def _must_wait(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus, reason: str
) -> bool:
    """Ask whoever does the work to end it; True if an answer is to come."""
    match plan.kind:
        case Kind.WORK if not flow.children.get(plan.index):
            turn.act(TerminateWork(attempt=attempt.key, launch=attempt.launch or 0))
            return True
        case Kind.SUBWORKFLOW:
            turn.act(StopChild(attempt=attempt.key, child=attempt.child, user=reason))
            return True
        case Kind.FOREACH | Kind.WHILE | Kind.TEMPLATE | Kind.WORK:
            action = RunAction.TIME_OUT if status is S.TIMED_OUT else RunAction.STOP
            children = list(flow.children.get(plan.index, {}).values())
            for child in children:
                turn.later(Task.END_RUN, child, action, reason)
            return bool(children)
        case _:
            return False


def step_timed_out(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> None:
    """A step took too long: its work is ended before it is tried again."""
    turn.touch(attempt, flow)
    attempt.timeout_at = None
    again = may_retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED)
    status = S.TIMEOUT_FAILED if again else S.TIMED_OUT
    if attempt.ending is not None:
        return
    if _must_wait(turn, flow, plan, attempt, status, "timed out"):
        attempt.ending = status
    elif again:
        retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED, "timed out")
    else:
        attempt.reason = "timed out"
        end_step(turn, flow, plan, attempt, S.TIMED_OUT)


def breakpoint_gone(turn: Turn, flow: Flow, event: BreakpointGone) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is not None and attempt.status is S.PAUSED:
        turn.move(flow, attempt, S.WAITING_FOR_SIGNALS)
        turn.later(Task.ADVANCE, flow, flow.plan.numbers[event.attempt.step_id])


def called_back(turn: Turn, flow: Flow, event: CalledBack) -> None:
    """A Wait step is answered. A refusal fails it for good: a person has decided."""
    attempt = flow.attempt(event.attempt)
    plan = flow.step(event.attempt.step_id)
    if attempt is None or plan is None or attempt.status is not S.RUNNING or plan.kind is not Kind.WAIT:
        message = f"{event.attempt} does not wait for an answer"
        raise WrongState(message)
    turn.touch(attempt, flow)
    attempt.outputs = event.outputs
    verb = "approved" if event.approved else "refused"
    turn.note(flow, attempt, f"User [{event.user or 'unknown'}] {verb} the step")
    state = ResultState.DONE if event.approved else ResultState.FATAL_ERROR
    conclude(turn, flow, plan, attempt, state, event.message)


# ----------------------------------------------------------------------------------------------------- runs
def run_acted(turn: Turn, flow: Flow, event: RunActed) -> None:
    if flow.is_over:
        message = f"Cannot {event.action.value.lower()} run {flow.run.key}: it has ended {flow.run.status}"
        raise WrongState(message)
    if event.steps:
        some_acted(turn, flow, event)
    elif event.action is RunAction.PAUSE:
        _pause(turn, flow)
    elif event.action is RunAction.RESUME:
        _go_on(turn, flow)
    else:
        end_from_above(
            turn, flow, event.action, event.reason or f"{event.action.value.lower()} by {event.user}"
        )


def some_acted(turn: Turn, flow: Flow, event: RunActed) -> None:
    """Suspend, resume or shut down single steps, or those of a stage."""
    unknown = [step_id for step_id in event.steps if step_id not in flow.plan.numbers]
    if unknown:
        message = f"run {flow.run.key} has no step {', '.join(unknown)}"
        raise NotFound(message)
    wanted = frozenset(event.steps)
    run = flow.run
    turn.touch(run, flow)
    if event.action is RunAction.PAUSE:
        run.suspended |= wanted
    elif event.action is RunAction.RESUME:
        run.suspended -= wanted
        free = [index for index in flow.held if flow.plan.steps[index].id in wanted and not run.paused]
        flow.held = [index for index in flow.held if index not in free]
        for index in free:
            turn.schedule(flow, index)
    else:
        _shut_down(turn, flow, event, wanted)
    turn.later(Task.LOOK, flow)


def _shut_down(turn: Turn, flow: Flow, event: RunActed, wanted: frozenset[str]) -> None:
    """Stop what runs of these steps; what has not begun never will."""
    run = flow.run
    run.suspended |= wanted
    flow.held = [index for index in flow.held if flow.plan.steps[index].id not in wanted]
    reason = event.reason or f"{event.action.value.lower()} by {event.user}"
    status, _ = RUN_ENDS[event.action]
    for step_id in event.steps:
        turn.later(Task.END_STEP, flow, flow.plan.numbers[step_id], status, reason)


def _pause(turn: Turn, flow: Flow) -> None:
    """Nothing new begins, here and in the iterations; what runs goes on, and its result is kept."""
    run = flow.run
    if run.paused:
        return
    turn.move_run(flow, RunStatus.PAUSED)
    run.paused = True
    for children in flow.children.values():
        for child in children.values():
            _pause(turn, child)


def _go_on(turn: Turn, flow: Flow) -> None:
    run = flow.run
    if not run.paused:
        return
    turn.move_run(flow, RunStatus.IN_PROGRESS if run.start_time is not None else RunStatus.CREATED)
    run.paused = False
    held, flow.held = flow.held, []
    for index in held:
        turn.schedule(flow, index)
    for index, children in list(flow.children.items()):
        for child in list(children.values()):
            _go_on(turn, child)
        turn.later(Task.LOOP, flow, index)
    turn.later(Task.LOOK, flow)


def end_from_above(turn: Turn, flow: Flow, action: RunAction, reason: str) -> None:
    """End every step of a run that has not ended; the run ends with the last of them."""
    run = flow.run
    if flow.is_over or run.ending is not None:
        return
    step_status, run_status = RUN_ENDS[action]
    turn.touch(run, flow)
    run.ending, run.ended_by = run_status, reason
    turn.note(flow, run, reason)
    flow.held = []
    if run.status is RunStatus.CREATED or (run.status is RunStatus.PAUSED and run.start_time is None):
        end_run(turn, flow, run_status)
        return
    for plan in flow.plan.steps:
        attempt = flow.attempts[plan.index]
        if attempt is not None and attempt.status.is_wakeable:
            if action is RunAction.KILL:
                turn.touch(attempt, flow)
                attempt.heedless = True
            turn.later(Task.END_STEP, flow, plan.index, step_status, reason)
    turn.later(Task.LOOK, flow)
