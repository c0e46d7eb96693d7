"""Functions in processes of their own, as the runtime asks for them. `stretto.runtimes.workers` does it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stretto.ports.runtime import FatalError, PlatformError, UserError
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.function import Function


class Elsewhere(Exception):
    """A function has failed in another process. It stands for the exception, which has stayed there."""

    def __init__(self, failure: UserError | PlatformError | FatalError) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class FarCall:
    """One call of a function in another process."""

    function: Function
    told: Told
    values: Mapping[str, Any]
    begun: Callable[[], None]  # told when it is called, after all waiting and importing
    note: Callable[[str], None]  # a line for the timeline
    grace: Callable[[], float]  # seconds for it to end, asked for when it is told to
    backstage: Backstage | None = None  # who hears what the function tells, if it has a context
    context: StepContext | None = None


class Processes(Protocol):
    """Who calls functions in processes. Used in one event loop."""

    def has_pool(self, name: str | None) -> bool:
        """Whether a pool of processes has this name, so that no other pool is meant."""
        ...

    def full_pool(self, name: str | None) -> str | None:
        """The pool in whose line a call would stand now; None: it would not."""
        ...

    async def call(self, asked: FarCall) -> Any:
        """What the function returns. Raises Elsewhere if it fails, and Refused.

        If the caller is cancelled, the function is told to end; after its grace, or when the caller is
        cancelled again, its process is killed. When this returns, nothing of it is left.
        """
        ...

    async def close(self) -> None:
        """End all processes. Idempotent."""
        ...
