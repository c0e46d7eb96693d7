"""What became of a run, as its program sees it."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from stretto.engine.records import Compensation, RunKey
from stretto.flow.engine.errors import RunFailed
from stretto.model.status import RunStatus, StepStatus
from stretto.runtimes.python.values import Unreadable

T = TypeVar("T")


class Line(msgspec.Struct, frozen=True):
    """Something that happened, and when: milliseconds since 1970."""

    at: int
    text: str

    def __str__(self) -> str:
        return self.text


class UnreadableValue(msgspec.Struct, frozen=True):
    """Stands for a value that this process can not make: a codec is not registered here, for example.

    reason   what is wrong, with the way out
    stored   as it is stored
    """

    reason: str
    stored: Any = None

    def __str__(self) -> str:
        return f"<{self.reason}>"


class StepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a run, by its newest attempt. Times are milliseconds since 1970."""

    id: str
    status: StepStatus
    attempt: int
    value: Any = None  # what its function returned; an `UnreadableValue` if this process can not make it
    outputs: Mapping[str, Any] = {}  # everything that its work brought back, by name
    params: Mapping[str, Any] = {}
    error: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    artifacts: Mapping[str, Any] = {}
    timeline: tuple[Line, ...] = ()


class RunResult(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A run, as it stood when it was looked at."""

    id: str  # `etl/3`
    key: RunKey
    version: int
    status: RunStatus
    value: T | None = None  # what the workflow returns; None unless it has succeeded
    outputs: Mapping[str, Any] = {}  # what each step returned, by its id
    steps: Mapping[str, StepOutcome] = {}
    params: Mapping[str, Any] = {}
    error: str | None = None  # why it did not succeed
    failed_step: str | None = None
    cause: Any = None  # the exception of the step that failed; a `StepError` if its class is not known here
    compensation: Compensation | None = None
    quarantined: str | None = None  # why it was set aside: nobody handles it until somebody releases it
    create_time: int = 0
    start_time: int | None = None
    end_time: int | None = None
    timeline: tuple[Line, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.status is RunStatus.SUCCEEDED

    def unwrap(self) -> T:
        """The value; raises RunFailed if there is none, because the run did not succeed, and Unreadable if
        this process can not read it.
        """
        if not self.succeeded:
            raise RunFailed(self)
        if isinstance(self.value, UnreadableValue):
            raise Unreadable(self.value.reason)
        return self.value  # type: ignore[return-value]  # of a run that has succeeded it is a T
