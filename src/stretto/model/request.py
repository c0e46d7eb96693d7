"""Bodies of API requests, where they are not records of their own (`Definition`, `PropertiesUpdate` ...)."""

from typing import Any, ClassVar

import msgspec

from stretto.model.artifact import Artifacts
from stretto.model.initiator import Initiator
from stretto.model.param import Parameter, Params
from stretto.model.run_config import RunPolicy
from stretto.model.tag import Tag
from stretto.model.trigger import SignalParam
from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class UpstreamRestartMode(Word):
    """Where the restart of a nested step begins."""

    RESTART_FROM_INLINE_ROOT = "RESTART_FROM_INLINE_ROOT"  # at the closest ancestor that is no iteration
    RESTART_FROM_STEP = "RESTART_FROM_STEP"


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Starts an instance; the same `request_id` never starts two."""

    initiator: Initiator
    request_time: int | None = None
    request_id: str | None = None
    runtime_tags: tuple[Tag, ...] | None = None
    run_params: Params | None = None
    step_run_params: dict[str, Params] | None = None  # parameters of single steps, by step id
    artifacts: Artifacts | None = None
    persist_failed_run: bool = False  # keep a run whose parameters can not be evaluated, as FAILED


class InstanceRestartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Starts a new run of an instance."""

    request_time: int | None = None
    request_id: str | None = None
    restart_policy: RunPolicy
    run_params: Params | None = None
    step_run_params: dict[str, Params] | None = None  # parameters of single steps, by step id


class StepRestartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Starts a new attempt of a step; the policy is that of what follows it."""

    request_time: int | None = None
    request_id: str | None = None
    restart_policy: RunPolicy
    step_run_params: Params | None = None
    run_params: Params | None = None  # of the new run; refused while the run goes on
    upstream_restart_mode: UpstreamRestartMode | None = None


class CallbackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: go on, with these values, or fail. The same `request_id` counts once."""

    approved: bool = True
    outputs: dict[str, Parameter] = {}
    message: str | None = None
    request_id: str | None = None


class BreakpointRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Sets a breakpoint; for now the door accepts only a workflow and a step."""

    workflow_id: str
    step_id: str
    workflow_version: str | None = None
    workflow_instance_id: int | None = None
    workflow_run: str | None = None
    step_attempt_id: int | None = None


class SignalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Announces a signal. Unknown keys, and what stands under `payload`, are its payload."""

    wire: ClassVar[Shape] = Shape(rest="payload")

    name: str
    params: dict[str, SignalParam] | None = None
    request_id: str | None = None
    request_time: int | None = None
    payload: dict[str, Any] = {}

    def __post_init__(self) -> None:
        inner = self.payload.get("payload")
        if isinstance(inner, dict):
            others = {key: value for key, value in self.payload.items() if key != "payload"}
            msgspec.structs.force_setattr(self, "payload", {**inner, **others})


class PageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """`first`: so many towards older ones; `last`: towards newer ones; exactly one of the two.

    `cursor` is the id next to which the page lies. Without it the page is at the end where one begins: the
    newest for `first`, the oldest for `last`.
    """

    first: int | None = None
    last: int | None = None
    cursor: str | None = None
