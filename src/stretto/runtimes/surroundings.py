"""What a runtime may know of the node that it works for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stretto.params.requests import DEFAULT_LIMITS, ParamLimits
from stretto.ports.clock import Clock
from stretto.ports.logs import LogSink
from stretto.ports.runtime import StepRuntime
from stretto.ports.store import Store
from stretto.runtimes.settings import RuntimeSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """One store, one clock, what may be used, and where goes what is printed."""

    store: Store
    clock: Clock
    settings: RuntimeSettings
    sink: LogSink
    params: ParamLimits = DEFAULT_LIMITS  # how large results may be


MakeRuntimes = Callable[[Surroundings], Mapping[str, StepRuntime]]
"""Step kinds of the caller's own, by their type, for a node."""


def no_runtimes(_around: Surroundings) -> Mapping[str, StepRuntime]:
    """Nothing but what comes with the product."""
    return {}
