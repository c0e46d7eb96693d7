"""What can go wrong with a run, for whoever waits for it."""

from typing import TYPE_CHECKING, Any

from stretto.model.errors import TimedOut, Unavailable, Unprocessable
from stretto.model.status import RunStatus

if TYPE_CHECKING:
    from stretto.flow.engine.result import RunResult


class RunFailed(Unprocessable):
    """A run has ended, and not well: there is no value. `result` is all that is known of it, and `__cause__`
    is the exception of the step that failed.
    """

    id = "run-failed"

    def __init__(self, result: "RunResult[Any]") -> None:
        self.result = result
        self.run_status: RunStatus = result.status
        self.step_id = result.failed_step
        self.__cause__ = result.cause
        why = f": {result.error}" if result.error else ""
        super().__init__(
            f"run {result.id} ended {result.status}{why}",
            hint="`run.restart()` runs again what did not succeed; "
            "a new run needs another `request_id`, or none",
        )

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self.result,)


class EngineStopped(Unavailable):
    """Nothing can be asked of an engine that does not run, or runs no longer."""

    id = "engine-stopped"

    def __init__(self, what: str = "the engine does not run") -> None:
        super().__init__(what, hint="open it with `async with engine:`, or `with engine.sync() as engine:`")

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self.message,)


class NotYet(TimedOut, TimeoutError):
    """A run has not ended within the time that somebody would wait for it. It goes on."""

    id = "not-yet"

    def __init__(self, run: str, status: RunStatus, seconds: float) -> None:
        self._given = run, status, seconds
        super().__init__(
            f"run {run} is {status} after {seconds:g} s, and goes on",
            hint="wait longer, or ask `run.why()` what it waits for",
        )

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), self._given
