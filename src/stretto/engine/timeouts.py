"""How long a step or a workflow may take.

    timeout_millis(timeout, interpolate) -> milliseconds
    is_sure(timeout)                     -> whether that depends on nothing, and works

A number, or text that is one, is seconds; any other text is the sum of the durations in it (`1 day 30 min`).
Without a timeout there is a default. What is not above 0, or above the limit, is refused.
"""

from typing import Final

from stretto.definition.durations import duration_millis
from stretto.engine.retry import Interpolate
from stretto.model.errors import InvalidRequest
from stretto.model.retry import Number

DAY_MILLIS: Final = 86_400_000
DEFAULT_MILLIS: Final = 10 * DAY_MILLIS
MOST_DAYS: Final = 120
TIMED_OUT: Final = "timed out"  # the reason of an attempt that took too long


class BadTimeout(InvalidRequest):
    """A timeout that is not a duration, or out of its range."""

    id = "bad-timeout"


def timeout_millis(
    timeout: Number | None,
    interpolate: Interpolate,
    *,
    default: int = DEFAULT_MILLIS,
    most_days: int = MOST_DAYS,
) -> int:
    """The timeout with its variables replaced, in milliseconds; `BadTimeout` if there is no such time."""
    if timeout is None:
        return default
    if isinstance(timeout, int):
        millis = timeout * 1_000
    else:
        millis = duration_millis(interpolate(timeout) if "$" in timeout else timeout) or 0
    if not 0 < millis <= most_days * DAY_MILLIS:
        raise BadTimeout(
            f"timeout [{millis} ms]/[{timeout}] cannot be non-positive or more than system limit:"
            f" {most_days} days",
            hint="seconds, or text such as `1 day 2 hours 30 min`",
        )
    return millis


def is_sure(timeout: Number | None) -> bool:
    """Whether there is no timeout, or one without variables that is in its range."""
    if isinstance(timeout, str) and "$" in timeout:
        return False
    try:
        timeout_millis(timeout, str)
    except BadTimeout:
        return False
    return True
