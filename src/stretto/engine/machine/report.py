"""What the runtime says becomes a status: done, to be tried again, or over."""

from typing import Final

from stretto.engine.context import condition_holds
from stretto.engine.effects import LookAtWork, SetTimer
from stretto.engine.events import Reported, ResultState
from stretto.engine.flow import Flow
from stretto.engine.kinds.batch import add_steps
from stretto.engine.machine.finish import end_step, fail
from stretto.engine.machine.redirect import redirect
from stretto.engine.plan import StepPlan
from stretto.engine.policies import retries_for
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.retry import KIND_OF, delay_seconds, retry_message
from stretto.engine.retry import may_retry as has_budget
from stretto.engine.turn import Task, Turn
from stretto.model.artifact import ArtifactKey, RetryArtifact
from stretto.model.status import StepStatus
from stretto.model.step import TypedStep

S = StepStatus

# How a failure ends an attempt while a try is left.
_RETRYABLE: Final = {
    ResultState.USER_ERROR: S.USER_FAILED,
    ResultState.PLATFORM_ERROR: S.PLATFORM_FAILED,
}
_ENDS: Final = {ResultState.STOPPED: S.STOPPED, ResultState.TIMED_OUT: S.TIMED_OUT}


def report(turn: Turn, flow: Flow, event: Reported) -> None:
    """Take an answer of the recorded launch; any other is old and does not count."""
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.status.is_terminal or attempt.launch != event.launch:
        return
    plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
    turn.touch(attempt, flow)
    turn.add_events(flow, attempt, event.timeline)
    if event.artifacts:
        attempt.artifacts = {**attempt.artifacts, **event.artifacts}
    if event.outputs:
        attempt.outputs = {**attempt.outputs, **event.outputs}
    if attempt.ending is not None:
        if event.state.is_terminal:
            end_step(turn, flow, plan, attempt, attempt.ending)
        return
    if event.state is ResultState.CONTINUE:
        if attempt.status is S.STARTING:
            turn.move(flow, attempt, S.RUNNING)
        if event.again_after is not None:
            wake(turn, flow, attempt, turn.now + event.again_after, WakeReason.POLL)
        return
    if event.state is ResultState.DONE and event.redirect is not None:
        redirect(turn, flow, plan, attempt, event.redirect)
    elif event.state is ResultState.DONE and event.added:
        add_steps(turn, flow, plan, attempt, event.added, event.tolerance)
    else:
        conclude(turn, flow, plan, attempt, event.state, event.message)


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
    elif state in _RETRYABLE and may_retry(turn, flow, plan, attempt, _RETRYABLE[state]):
        retry(turn, flow, plan, attempt, _RETRYABLE[state], message)
    else:
        fail(turn, flow, plan, attempt, message)


def may_retry(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, status: StepStatus) -> bool:
    """Whether a failure of this class leaves a try. What a user restarted by hand is not retried."""
    if attempt.manual or not _worth_a_try(attempt):
        return False
    if not has_budget(retries_for(flow, plan, turn.now), KIND_OF[status], _used(attempt, status)):
        return False
    policy = plan.step.retry_policy if isinstance(plan.step, TypedStep) else None
    if policy is None or policy.retry_if is None:
        return True
    # A value that is not here yet can not forbid the retry.
    return bool(condition_holds(flow, attempt, "retry_if", policy.retry_if, turn.now))


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
    attempt.timeout_at = attempt.ending = None
    attempt.wake_at = turn.now + seconds * 1_000
    attempt.wake_reason = WakeReason.BACK_OFF
    turn.move(flow, attempt, status)
    turn.act(SetTimer(attempt=attempt.key, run=flow.run.key, due=attempt.wake_at, reason=WakeReason.BACK_OFF))


def wake(turn: Turn, flow: Flow, attempt: AttemptRecord, due: int, reason: WakeReason) -> None:
    """Let an attempt go on at a time."""
    turn.touch(attempt, flow)
    attempt.wake_at, attempt.wake_reason = due, reason
    turn.act(SetTimer(attempt=attempt.key, run=flow.run.key, due=due, reason=reason))


def look_again(turn: Turn, attempt: AttemptRecord) -> None:
    """The time to poll has come."""
    if attempt.launch is not None:
        turn.act(LookAtWork(attempt=attempt.key, launch=attempt.launch))
