"""What authors write beside the work of a step: when it is tried again, and what it waits for."""

from random import Random
from typing import Final

from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam
from stretto.model.trigger import SignalOperator
from stretto.testing.shapes import computed, number

NEEDS_A_VALUE: Final = "params.nextUniqueId() > 0"  # always true, and not to be had without a fetch
# The second day: as it is, with a value that must be fetched, and too long for the decisions of some worlds.
DAYS: Final = (
    number(2),
    computed("x = params.nextUniqueId(); return x - x + 2;"),
    computed("x = 2; for (i = 0; i < 9; i += 1) { x = x + i - i; } return x;"),
)
_FIXED: Final = FixedBackoff(
    error_retry_backoff_in_secs=1, platform_retry_backoff_in_secs=1, timeout_retry_backoff_in_secs=1
)
_GROWING: Final = ExponentialBackoff(
    error_retry_backoff_in_secs=1,
    error_retry_exponent=2,
    platform_retry_backoff_in_secs=1,
    platform_retry_exponent=3,
    platform_retry_limit_in_secs=4,
    timeout_retry_backoff_in_secs=2,
)


def retries(dice: Random, *, conditional: bool) -> RetryPolicy:
    """Few, and soon: the default ones wait for minutes."""
    return RetryPolicy(
        error_retry_limit=dice.randint(0, 2),
        platform_retry_limit=dice.randint(0, 3),
        timeout_retry_limit=dice.randint(0, 1),
        backoff=_FIXED if dice.random() < 0.5 else _GROWING,
        retry_if=NEEDS_A_VALUE if conditional else None,
    )


def dependency(dice: Random, name: str) -> SignalDependencyDefinition:
    """Any signal of that name, or one of the second day."""
    if dice.random() < 0.4:
        return SignalDependencyDefinition(name=name)
    match = SignalMatchParam(param=dice.choice(DAYS), operator=SignalOperator.EQUALS_TO)
    return SignalDependencyDefinition(name=name, match_params={"day": match})
