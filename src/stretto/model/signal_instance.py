"""Signals at run time: an announcement, and what the steps of a run wait for and announce."""

from typing import Any, ClassVar

import msgspec

from stretto.model.details import Details
from stretto.model.timeline import LogEvent
from stretto.model.trigger import SignalParam, SignalParamValue
from stretto.model.wire.codec import Drop, Shape
from stretto.model.words import Word


class SignalInstance(msgspec.Struct, frozen=True, kw_only=True):
    """One announcement: the `seq_id`-th of its name."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    name: str
    seq_id: int
    instance_id: str | None = None
    params: dict[str, SignalParam] | None = None
    payload: dict[str, Any] | None = None
    request_time: int | None = None
    create_time: int | None = None


class SignalSource(msgspec.Struct, frozen=True, kw_only=True):
    """The step attempt that announced a signal."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    step_instance_id: int | None = None


class SignalDependencyStatus(Word):
    """How far the wait for one signal is."""

    PENDING = "PENDING"
    MATCHED = "MATCHED"
    SKIPPED = "SKIPPED"  # bypassed by a user
    CANCELED = "CANCELED"  # the step ended while it waited
    FAILED = "FAILED"  # the wanted values could not be evaluated

    @property
    def is_done(self) -> bool:
        return self in {SignalDependencyStatus.MATCHED, SignalDependencyStatus.SKIPPED}


class SignalDependency(msgspec.Struct, kw_only=True):
    """A signal that a step waits for, with evaluated values."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    name: str
    status: SignalDependencyStatus = SignalDependencyStatus.PENDING
    match_params: dict[str, SignalParamValue] | None = None
    signal_id: int | None = None
    details: Details | None = None


class SignalDependencies(msgspec.Struct, kw_only=True):
    """Everything that a step waits for."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    dependencies: list[SignalDependency] = []
    info: LogEvent | None = None

    @property
    def is_satisfied(self) -> bool:
        return all(each.status.is_done for each in self.dependencies)


class SignalOutput(msgspec.Struct, kw_only=True):
    """A signal that a step announces; without a time it was a duplicate and announced nothing."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    name: str
    params: dict[str, SignalParam] | None = None
    payload: dict[str, Any] | None = None
    signal_id: int | None = None
    announce_time: int | None = None


class SignalOutputs(msgspec.Struct, kw_only=True):
    """Everything that a step announces."""

    wire: ClassVar[Shape] = Shape(drop=Drop.EMPTY)

    outputs: list[SignalOutput] = []
    info: LogEvent | None = None
