"""What authors write beside the work of a step: retries, signals that it waits for, errors behind it."""

from random import Random
from typing import Final

import msgspec

from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.step import AnyStep, TypedStep
from stretto.model.trigger import SignalOperator
from stretto.testing.shapes import computed, edges, number

NEEDS_A_VALUE: Final = "params.nextUniqueId() > 0"  # always true, and not to be had without a fetch
LATE: Final = 0.15  # of the steps that can be undone fail behind their work
UNDECIDABLE: Final = "1 / 0 > 0"  # a condition that fails, once the work is done
NO_SIGNAL: Final = SignalOutputDefinition(name="rain", params={"day": computed("1 / 0")})
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


def failing_late(dice: Random, made: AnyStep) -> TypedStep | None:
    """Of a step that can be undone maybe another with an error behind its work: on an edge, or in what it
    announces.
    """
    if not isinstance(made, TypedStep) or made.compensation is None or dice.random() >= LATE:
        return None
    targets = list(made.transition.successors)
    if not targets or dice.random() < 0.5:
        return msgspec.structs.replace(made, signal_outputs=(NO_SIGNAL,))
    conditions = {**made.transition.successors, dice.choice(targets): UNDECIDABLE}
    return msgspec.structs.replace(made, transition=edges(*conditions.items()))
