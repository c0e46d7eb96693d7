"""Sleep: for a number of seconds, or until a moment. A sleeping step costs a timer and nothing else."""

from stretto.engine.effects_of import wake_timer
from stretto.engine.flow import Flow
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.turn import Turn
from stretto.model.status import StepStatus


def launch_sleep(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> bool:
    turn.move(flow, attempt, StepStatus.RUNNING)
    due = wake_time(flow, attempt, turn.now)
    if due <= turn.now:
        turn.move(flow, attempt, StepStatus.FINISHING)
        return True
    attempt.wake_at, attempt.wake_reason = due, WakeReason.SLEEP
    turn.act(wake_timer(attempt, due))
    return False


def wake_time(flow: Flow, attempt: AttemptRecord, now: int) -> int:
    """`sleep_until` (epoch milliseconds) if it is there, else `sleep_seconds`, else the default."""
    params = attempt.params or {}
    until = params.get("sleep_until")
    if until is not None:
        return int(until.evaluated_result)
    seconds = params.get("sleep_seconds")
    length = flow.tree.settings.default_sleep_seconds if seconds is None else int(seconds.evaluated_result)
    return (attempt.start_time or now) + length * 1_000
