"""Sleep: for a number of seconds, or until a moment. A sleeping step costs a timer and nothing else."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Final

from stretto.engine.flow import Flow
from stretto.engine.plan import StepPlan
from stretto.engine.policies import wake_timer
from stretto.engine.records import AttemptRecord, WakeReason
from stretto.engine.turn import Turn
from stretto.model.errors import InvalidRequest
from stretto.model.param import Parameter
from stretto.model.status import StepStatus

LATEST: Final = 253_402_300_799_999  # the end of the year 9999: no timer is set for later


def launch_sleep(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> bool:
    turn.move(flow, attempt, StepStatus.RUNNING)
    due = wake_time(turn, flow, attempt)
    if due <= turn.clock:
        turn.move(flow, attempt, StepStatus.FINISHING)
        return True
    attempt.wake_at, attempt.wake_reason = due, WakeReason.SLEEP
    turn.act(wake_timer(attempt, due))
    return False


def wake_time(turn: Turn, flow: Flow, attempt: AttemptRecord) -> int:
    """`sleep_until` (epoch milliseconds), else `sleep_millis` or `sleep_seconds`, else the default. A moment
    after the year 9999 stands for ever.
    """
    params = attempt.params or {}
    start = turn.clock - (turn.now - (attempt.start_time or turn.now))
    if "sleep_until" in params:
        return min(int(_number(params, "sleep_until")), LATEST)
    if "sleep_millis" in params:
        return min(start + round(_number(params, "sleep_millis")), LATEST)
    if "sleep_seconds" in params:
        return min(start + int(_number(params, "sleep_seconds")) * 1_000, LATEST)
    return start + flow.tree.settings.default_sleep_seconds * 1_000


def _number(params: Mapping[str, Parameter], name: str) -> Decimal:
    given = params[name].evaluated_result
    try:
        number = Decimal(given)
    except InvalidOperation:
        raise InvalidRequest(f"Param [{name}] is [{given}], and not a number") from None
    if number.is_nan():
        raise InvalidRequest(f"Param [{name}] is NaN: no step can sleep for that long")
    return Decimal(LATEST).copy_sign(number) if number.is_infinite() else number
