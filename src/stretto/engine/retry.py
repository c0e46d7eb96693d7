"""How often, and after how long, a failed step is tried again.

    retries_of(policy, interpolate)      -> Retries      every number resolved; the defaults if one is wrong
    read_retries(policy, interpolate)    -> Retries      the same, but a wrong number is a BadRetryPolicy
    delay_seconds(retries, status, n)    -> seconds until the next attempt, after n earlier failures
    status_after(retries, kind, n)       -> what a failure makes of the attempt

A user, a platform and a timeout error have a budget each; none pays for another. A policy is read once for
a step; everything after that is arithmetic.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from stretto.definition.durations import duration_millis
from stretto.model.errors import InvalidRequest, StrettoError, WrongState
from stretto.model.retry import Backoff, ExponentialBackoff, FixedBackoff, Number, RetryPolicy
from stretto.model.status import StepStatus

Interpolate = Callable[[str], str]
"""Replaces the `${params}` of a text; a `StrettoError` if it can not."""

MOST_RETRIES: Final = 99
MOST_EXPONENT: Final = 2**31 - 1
DAY_SECONDS: Final = 86_400


class Failure(StrEnum):
    """Whose fault a failure was. The values are the prefixes of a policy's fields."""

    USER = "error"
    PLATFORM = "platform"
    TIMEOUT = "timeout"


class Budget(msgspec.Struct, frozen=True):
    """What one class of failures may use: so many retries, the n-th after base * exponent^n seconds."""

    limit: int
    base: int
    exponent: int
    cap: int

    def delay(self, failures: int) -> int:
        # 2^n is beyond any cap of n bits, and powers of 0 and 1 do not change: no larger one is needed.
        power: int = self.exponent ** min(failures, self.cap.bit_length())
        return min(self.base * power, self.cap)


class Retries(msgspec.Struct, frozen=True):
    """A retry policy with every number resolved. Fixed: each budget's exponent is 1 and its cap its base."""

    user: Budget
    platform: Budget
    timeout: Budget
    fixed: bool = False

    def budget(self, kind: Failure) -> Budget:
        if kind is Failure.USER:
            return self.user
        return self.platform if kind is Failure.PLATFORM else self.timeout


DEFAULT_RETRIES: Final = Retries(
    user=Budget(2, 60, 2, 600),
    platform=Budget(10, 60, 2, 3_600),
    timeout=Budget(0, 60, 2, 3_600),
)
NO_RETRIES: Final = Retries(
    user=Budget(0, 60, 2, 600), platform=Budget(0, 60, 2, 3_600), timeout=Budget(0, 60, 2, 3_600)
)
"""Of steps whose failures are final: loops and subworkflows."""

KIND_OF: Final[Mapping[StepStatus, Failure]] = {
    StepStatus.USER_FAILED: Failure.USER,
    StepStatus.PLATFORM_FAILED: Failure.PLATFORM,
    StepStatus.TIMEOUT_FAILED: Failure.TIMEOUT,
}
_TRIED_AGAIN: Final = {kind: status for status, kind in KIND_OF.items()}
_GIVEN_UP: Final = {
    Failure.USER: StepStatus.FATALLY_FAILED,
    Failure.PLATFORM: StepStatus.FATALLY_FAILED,
    Failure.TIMEOUT: StepStatus.TIMED_OUT,
}


class BadRetryPolicy(InvalidRequest):
    """A number of a retry policy is not one, or out of its range."""

    id = "bad-retry-policy"


# ---------------------------------------------------------------------------------------------------- reading
def retries_of(policy: RetryPolicy | None, interpolate: Interpolate) -> Retries:
    """The policy of a step. As in Maestro, one wrong number makes the whole policy the default one."""
    try:
        return read_retries(policy, interpolate)
    except StrettoError:
        return DEFAULT_RETRIES


def read_retries(policy: RetryPolicy | None, interpolate: Interpolate) -> Retries:
    """The policy of a step, completed with defaults; `BadRetryPolicy` names the first wrong number."""
    if policy is None:
        return DEFAULT_RETRIES
    fixed = isinstance(policy.backoff, FixedBackoff)
    user, platform, timeout = (_read_budget(kind, policy, fixed, interpolate) for kind in Failure)
    return Retries(user, platform, timeout, fixed)


def _read_budget(kind: Failure, policy: RetryPolicy, fixed: bool, interpolate: Interpolate) -> Budget:
    default = DEFAULT_RETRIES.budget(kind)

    def count(owner: RetryPolicy | Backoff | None, name: str, unset: int, most: int) -> int:
        return _read_count(name, getattr(owner, name, None), unset, most, interpolate)

    def seconds(name: str, unset: int) -> int:
        return _read_seconds(name, getattr(policy.backoff, name, None), unset, interpolate)

    limit = count(policy, f"{kind}_retry_limit", default.limit, MOST_RETRIES)
    base = seconds(f"{kind}_retry_backoff_in_secs", default.base)
    if fixed:
        return Budget(limit, base, 1, base)
    exponent = count(policy.backoff, f"{kind}_retry_exponent", default.exponent, MOST_EXPONENT)
    return Budget(limit, base, exponent, seconds(f"{kind}_retry_limit_in_secs", default.cap))


def _read_count(name: str, value: Number | None, unset: int, most: int, interpolate: Interpolate) -> int:
    if value is None:
        return unset
    text = _text(value, interpolate)
    if not _is_whole(text):
        raise _wrong(name, value, text, "not a number")
    return _in_range(name, value, int(text), 0, most)


def _read_seconds(name: str, value: Number | None, unset: int, interpolate: Interpolate) -> int:
    if value is None:
        return unset
    text = _text(value, interpolate)
    if _is_whole(text):
        return _in_range(name, value, int(text), 1, DAY_SECONDS)
    millis = duration_millis(text)
    if millis is None:
        raise _wrong(name, value, text, "not a duration")
    return _in_range(name, value, millis // 1_000, 1, DAY_SECONDS)


def _text(value: Number, interpolate: Interpolate) -> str:
    if isinstance(value, int):
        return str(value)
    return (interpolate(value) if "$" in value else value).strip()


def _is_whole(text: str) -> bool:
    # Beyond this many digits int() would be slow, and no range below is that large.
    return text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20


def _in_range(name: str, value: Number, parsed: int, low: int, high: int) -> int:
    if not low <= parsed <= high:
        raise _wrong(name, value, str(parsed), f"cannot be less than [{low}] or more than [{high}]")
    return parsed


def _wrong(name: str, value: Number, parsed: str, why: str) -> BadRetryPolicy:
    given = f'"{value}"' if isinstance(value, str) else value
    return BadRetryPolicy(f"{name} value [{given}] is parsed to [{parsed}] but {why}")


# ------------------------------------------------------------------------------------------------------ using
def may_retry(retries: Retries, kind: Failure, failures: int) -> bool:
    """Whether a failure is followed by another attempt, after so many earlier ones of its kind."""
    return failures < retries.budget(kind).limit


def status_after(retries: Retries, kind: Failure, failures: int, *, retryable: bool = True) -> StepStatus:
    """The status of an attempt that failed. An attempt that a user started by hand is not `retryable`."""
    again = retryable and may_retry(retries, kind, failures)
    return _TRIED_AGAIN[kind] if again else _GIVEN_UP[kind]


def delay_seconds(retries: Retries, status: StepStatus, failures: int) -> int:
    """How long a failed attempt waits for the next one, after so many earlier failures of its kind."""
    kind = KIND_OF.get(status)
    if kind is None:
        raise WrongState(f"Invalid status [{status}] to get next retry delay")
    return retries.budget(kind).delay(failures)


def retry_message(seconds: int) -> str:
    """The line of the timeline: `Retrying task in [1m 40s]`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{count}{unit}" for count, unit in ((hours, "h"), (minutes, "m"), (rest, "s")) if count]
    return f"Retrying task in [{' '.join(parts) or '0s'}]"


def backoff_of(retries: Retries) -> Backoff:
    """The waiting times as the record of a step attempt shows them."""
    budgets = {kind: retries.budget(kind) for kind in Failure}
    fields = {f"{kind}_retry_backoff_in_secs": each.base for kind, each in budgets.items()}
    if retries.fixed:
        return FixedBackoff(**fields)
    fields |= {f"{kind}_retry_exponent": each.exponent for kind, each in budgets.items()}
    fields |= {f"{kind}_retry_limit_in_secs": each.cap for kind, each in budgets.items()}
    return ExponentialBackoff(**fields)
