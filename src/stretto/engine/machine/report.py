"""What the runtime says becomes a status: done, to be tried again, or over."""

from typing import Final

from stretto.engine.context import RETRY_IF, condition_holds
from stretto.engine.effects import LookAtWork
from stretto.engine.events import OutputTold, Reported, ResultState, WorkLost
from stretto.engine.flow import Flow
from stretto.engine.kinds.batch import add_steps
from stretto.engine.kinds.loops import refuse
from stretto.engine.machine.finish import complete, end_attempt, end_step, fail, fail_internally
from stretto.engine.machine.placement import end_wait
from stretto.engine.machine.redirect import redirect
from stretto.engine.outcome import merged_artifacts
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.policies import retries_for, start_work, wake_timer
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.retry import KIND_OF, delay_seconds, retry_message
from stretto.engine.retry import may_retry as has_budget
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import ArtifactKey, RetryArtifact
from stretto.model.errors import InvalidRequest
from stretto.model.status import StepStatus
from stretto.model.step import TypedStep
from stretto.model.timeline import LogLevel
from stretto.params import MissingKeys, ParamError

S = StepStatus

# How a failure ends an attempt while a try is left.
_RETRYABLE: Final = {
    ResultState.USER_ERROR: S.USER_FAILED,
    ResultState.PLATFORM_ERROR: S.PLATFORM_FAILED,
}
_ENDS: Final = {ResultState.STOPPED: S.STOPPED, ResultState.TIMED_OUT: S.TIMED_OUT}
WORK_LOST: Final = "The process that did the work has ended: the work is launched again"
NO_RETRY: Final = "Not retried, because retry_if fails: {}"


def report(turn: Turn, flow: Flow, event: Reported) -> None:
    """Take an answer of the recorded launch; any other is old and does not count."""
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.launch is None or attempt.launch != event.launch:
        return
    state = ResultState(event.state)
    plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
    if not (state is ResultState.CONTINUE and _says_nothing_new(event)):
        turn.touch(attempt, flow)  # work that only goes on leaves nothing to commit
    if attempt.function_wait is not None:
        turn.touch(attempt, flow)
        end_wait(turn, flow, attempt, attempt.function_wait)
    turn.add_events(flow, attempt, event.timeline)
    _keep(attempt, event)
    if state is ResultState.CONTINUE:
        _goes_on(turn, flow, attempt, event.again_after)
        return
    attempt.launch = None  # the work is over: a second answer finds nothing that waits for it
    if attempt.ending is not None:
        end_as_asked(turn, flow, plan, attempt, attempt.ending)
    elif state is ResultState.DONE and event.redirect is not None:
        redirect(turn, flow, plan, attempt, event.redirect)
    elif state is ResultState.DONE and event.added:
        add_steps(turn, flow, plan, attempt, event.added, event.tolerance)
    else:
        conclude(turn, flow, plan, attempt, state, event.message)


def output_told(turn: Turn, flow: Flow, event: OutputTold) -> None:
    """It waits until the step is done. An attempt that is starting goes on starting: if this node dies
    before it has called the runtime, the next one must call it, and not look for work that nobody started.
    """
    attempt = flow.attempt(event.attempt)
    if attempt is not None and attempt.launch is not None:
        turn.touch(attempt, flow)
        _keep(attempt, event)


def _keep(attempt: AttemptRecord, event: Reported | OutputTold) -> None:
    if event.artifacts:
        attempt.artifacts = merged_artifacts(attempt.artifacts, event.artifacts)
    if event.outputs:
        attempt.outputs = {**attempt.outputs, **event.outputs}


def _says_nothing_new(event: Reported) -> bool:
    return not (event.artifacts or event.outputs or event.again_after is not None)


def _goes_on(turn: Turn, flow: Flow, attempt: AttemptRecord, again_after: int | None) -> None:
    if attempt.ending is not None:
        return  # what counts now is the answer to the termination
    if attempt.status is S.STARTING:
        turn.move(flow, attempt, S.RUNNING)
    if again_after is not None:
        due = turn.clock + again_after
        attempt.wake_at, attempt.wake_reason = due, WakeReason.POLL
        turn.act(wake_timer(attempt, due))


def work_lost(turn: Turn, flow: Flow, event: WorkLost) -> None:
    """Nobody does the work any more: it is launched anew, unless it was to be ended anyway. Work that waits
    for a process to begin it can not be lost.
    """
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.launch is None or attempt.launch != event.launch:
        return
    if attempt.function_wait is not None:
        return
    plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
    turn.touch(attempt, flow)
    if attempt.ending is not None:
        end_as_asked(turn, flow, plan, attempt, attempt.ending)
        return
    turn.note(flow, attempt, WORK_LOST)
    attempt.launch = _next_launch(flow, attempt.launch)
    attempt.wake_at = attempt.wake_reason = None
    turn.act(start_work(plan, attempt, attempt.launch))


def _next_launch(flow: Flow, lost: int) -> int:
    """A number above the lost one, also if another node lost it and the owner is still the same: nothing that
    was asked of the lost launch, such as to end, may reach the new one.
    """
    return max(flow.tree.generation, lost + 1)


def conclude(
    turn: Turn,
    flow: Flow,
    plan: StepPlan,
    attempt: AttemptRecord,
    state: ResultState,
    message: str | None = None,
) -> None:
    """The work of an attempt is over."""
    if state is ResultState.DONE:
        if attempt.status is S.STARTING:
            turn.move(flow, attempt, S.RUNNING)
        turn.move(flow, attempt, S.FINISHING)
        turn.later(Task.ADVANCE, flow, plan.index)
    elif state in _ENDS:
        attempt.reason = message
        end_step(turn, flow, plan, attempt, _ENDS[state])
    elif state in _RETRYABLE:
        fail_or_retry(turn, flow, plan, attempt, _RETRYABLE[state], message)
    else:
        fail(turn, flow, plan, attempt, message)


def end_as_asked(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, asked: StepStatus) -> None:
    """The work that was to be ended has ended, however it says it did."""
    if asked is S.TIMEOUT_FAILED:
        fail_or_retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED, attempt.reason)
    else:
        end_step(turn, flow, plan, attempt, asked)


def end_as_decided(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus
) -> None:
    """A value came that the end of an attempt was waiting for."""
    if status.is_complete:
        complete(turn, flow, plan, attempt, status)
    else:
        fail_or_retry(turn, flow, plan, attempt, status, attempt.reason)


# ------------------------------------------------------------------------------------------------- retries
def fail_or_retry(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus, message: str | None
) -> None:
    """A failure of a class that may be tried again: it is, or the attempt ends for good."""
    again = may_retry(turn, flow, plan, attempt, status)
    if isinstance(again, MissingKeys):
        turn.fetch(flow, attempt, again)
        attempt.decided, attempt.reason = status, message
    elif again:
        retry(turn, flow, plan, attempt, status, message)
    else:
        _fail_for_good(turn, flow, plan, attempt, status, message)


def _fail_for_good(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus, message: str | None
) -> None:
    if status is S.TIMEOUT_FAILED:
        turn.touch(attempt, flow)
        attempt.reason = message
        end_step(turn, flow, plan, attempt, S.TIMED_OUT)
    else:
        fail(turn, flow, plan, attempt, message)


def evaluation_failed(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, message: str) -> None:
    """What an attempt waits for can not be evaluated elsewhere, either: the same follows as from an error
    here.
    """
    decided = attempt.decided
    if decided is not None and not decided.is_complete:
        turn.note(flow, attempt, NO_RETRY.format(message), LogLevel.WARN)
        _fail_for_good(turn, flow, plan, attempt, decided, attempt.reason)
    elif decided is None and plan.kind is Kind.WHILE and attempt.status is S.RUNNING:
        refuse(turn, flow, plan, attempt, message)
    else:
        fail_internally(turn, flow, plan, attempt, message, InvalidRequest(message))


def may_retry(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus
) -> bool | MissingKeys:
    """Whether a failure of this class leaves a try. What a user restarted by hand is not retried."""
    if attempt.manual or flow.run.ending is not None or not _worth_a_try(attempt):
        return False
    if not has_budget(retries_for(flow, plan, turn.now), KIND_OF[status], _used(attempt, status)):
        return False
    policy = plan.step.retry_policy if isinstance(plan.step, TypedStep) else None
    if policy is None or policy.retry_if is None:
        return True
    before, attempt.status = attempt.status, status  # a condition reads what the failure left
    try:
        return condition_holds(flow, attempt, RETRY_IF, policy.retry_if, turn.now)
    except ParamError as error:
        refused = NO_RETRY.format(error)
    finally:
        attempt.status = before
    turn.note(flow, attempt, refused, LogLevel.WARN)
    return False


def _worth_a_try(attempt: AttemptRecord) -> bool:
    """The work itself may say that trying again is of no use."""
    verdict = attempt.artifacts.get(ArtifactKey.RETRY.value)
    return not isinstance(verdict, RetryArtifact) or verdict.retryable is not False


def _used(attempt: AttemptRecord, status: StepStatus) -> int:
    return {
        S.USER_FAILED: attempt.error_retries,
        S.PLATFORM_FAILED: attempt.platform_retries,
        S.TIMEOUT_FAILED: attempt.timeout_retries,
    }[status]


def retry(
    turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus, message: str | None
) -> None:
    """End the attempt, and let the next one follow after the back-off."""
    seconds = delay_seconds(retries_for(flow, plan, turn.now), status, _used(attempt, status))
    attempt.reason = message
    turn.note(flow, attempt, retry_message(seconds))
    end_attempt(turn, flow, plan, attempt, status)
    attempt.wake_at, attempt.wake_reason = turn.clock + seconds * 1_000, WakeReason.BACK_OFF
    flow.active += 1  # the next attempt is still to come
    turn.act(wake_timer(attempt, attempt.wake_at))


def look_again(turn: Turn, attempt: AttemptRecord) -> None:
    """The time to poll has come."""
    if attempt.launch is not None and attempt.ending is None:
        turn.act(LookAtWork(attempt=attempt.key, launch=attempt.launch))
