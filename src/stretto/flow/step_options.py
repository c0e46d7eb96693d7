"""How a step runs: what `@step(...)` says, as the fields of a step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypedDict

from stretto.definition.rules.numbers import MOST_RETRIES
from stretto.flow.durations import Duration, delay, duration
from stretto.flow.errors import TraceError
from stretto.model.permit import RATE_HINT, parse_rate
from stretto.model.retry import Backoff, ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.step import FailureMode
from stretto.model.suggest import did_you_mean
from stretto.model.tag import Tag
from stretto.runtimes.python.function import Isolation

Handler = Callable[..., Any]
Handlers = Handler | Sequence[Handler]


class StepKeywords(TypedDict, total=False):
    """The arguments of `with_options`."""

    id: str
    retries: int
    retry_delay: Duration
    backoff: float | Literal["fixed", "exponential"]
    retry_limit: Duration
    retry_if: str
    timeout: Duration
    timeout_retries: int
    tags: Sequence[str | Tag]
    rate: str
    failure_mode: str | FailureMode
    waits_for: Sequence[str | SignalDependencyDefinition]
    announces: Sequence[str | SignalOutputDefinition]
    description: str


class FunctionKeywords(StepKeywords, total=False):
    """The arguments of `@step`: those of one step, and those of the function, wherever it is used."""

    name: str
    compensate: Any
    on_success: Handlers
    on_failure: Handlers
    on_timeout: Handlers
    cache: Duration
    cache_key: str | Callable[..., Any]
    pool: str
    isolation: Isolation
    heartbeat: Duration
    tolerance: float
    required: str | Sequence[str]


OF_A_STEP: Final = tuple(StepKeywords.__annotations__)
OF_A_FUNCTION: Final = tuple(key for key in FunctionKeywords.__annotations__ if key not in OF_A_STEP)


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What one step says of how it runs. Left out: no retries of the user's errors, no timeout."""

    id: str | None = None
    retries: int = 0
    retry_delay: Duration | None = None
    backoff: float | Literal["fixed", "exponential"] | None = None
    retry_limit: Duration | None = None
    retry_if: str | None = None
    timeout: Duration | None = None
    timeout_retries: int | None = None
    tags: tuple[str | Tag, ...] = ()
    rate: str | None = None
    failure_mode: str | FailureMode | None = None
    waits_for: tuple[str | SignalDependencyDefinition, ...] = ()
    announces: tuple[str | SignalOutputDefinition, ...] = ()
    description: str | None = None

    def changed(self, given: Mapping[str, Any]) -> "StepOptions":
        """The same with other values."""
        made = dict(given)
        for key in ("tags", "waits_for", "announces"):
            if key in made:
                made[key] = _sequence(made[key])
        changed = replace(self, **made)
        changed.fields()  # so that what makes no sense is refused where it is written
        changed.retry_policy()
        return changed

    def fields(self) -> dict[str, Any]:
        """The fields of a step of any kind."""
        found = {
            "description": self.description,
            "timeout": duration(self.timeout, "timeout"),
            "tags": tags_of(self.tags),
            "rate": _rate(self.rate),
            "failure_mode": failure_mode(self.failure_mode),
            "signal_dependencies": tuple(map(_dependency, self.waits_for)) or None,
            "signal_outputs": tuple(map(_output, self.announces)) or None,
        }
        return {key: value for key, value in found.items() if value is not None}

    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(
            error_retry_limit=_count(self.retries, "retries"),
            timeout_retry_limit=_count(self.timeout_retries, "timeout_retries"),
            backoff=self._backoff(),
            retry_if=self.retry_if,
        )

    def _backoff(self) -> Backoff | None:
        first, longest = delay(self.retry_delay, "retry_delay"), delay(self.retry_limit, "retry_limit")
        if self.backoff is None and longest is None:
            return None if first is None else FixedBackoff(error_retry_backoff_in_secs=first)
        if self.backoff == "fixed":
            return FixedBackoff(error_retry_backoff_in_secs=first)
        return ExponentialBackoff(
            error_retry_backoff_in_secs=first,
            error_retry_exponent=_factor(self.backoff),
            error_retry_limit_in_secs=longest,
        )


def _factor(given: float | str | None) -> int | None:
    """What each delay is multiplied by to give the next."""
    if given is None or given == "exponential":
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or given != int(given) or given < 1:
        raise TraceError(
            f"`backoff` is {given!r}", "write `fixed`, `exponential`, or a whole number to multiply by"
        )
    return int(given)


def _count(given: int | None, what: str) -> int | None:
    """How often something is tried again."""
    if given is not None and (type(given) is not int or not 0 <= given <= MOST_RETRIES):
        raise TraceError(f"`{what}` is {given!r}", f"write a whole number from 0 to {MOST_RETRIES}")
    return given


def _sequence(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)


def tags_of(given: Sequence[str | Tag]) -> tuple[Tag, ...] | None:
    return tuple(each if isinstance(each, Tag) else Tag(name=each) for each in _sequence(given)) or None


def _rate(given: str | None) -> str | None:
    if given is not None and parse_rate(given) is None:
        raise TraceError(f"`rate` is {given!r}", f"write a rate {RATE_HINT}")
    return given


def failure_mode(given: str | FailureMode | None) -> FailureMode | None:
    if given is None or isinstance(given, FailureMode):
        return given
    try:
        return FailureMode(given)
    except ValueError:
        known = [mode.value for mode in FailureMode]
        hint = did_you_mean(given, known) or f"write one of {', '.join(known)}"
        raise TraceError(f"`{given}` is not a failure mode", hint) from None


def _dependency(given: str | SignalDependencyDefinition) -> SignalDependencyDefinition:
    return SignalDependencyDefinition(name=given) if isinstance(given, str) else given


def _output(given: str | SignalOutputDefinition) -> SignalOutputDefinition:
    return SignalOutputDefinition(name=given) if isinstance(given, str) else given


def refuse_unknown(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """A misspelt option is an error that names the one that was meant."""
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known) or f"write one of {', '.join(known)}"
            raise TraceError(f"{what} has no option `{key}`", hint)
