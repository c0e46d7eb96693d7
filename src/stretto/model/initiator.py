"""Who or what started a run."""

from typing import ClassVar

import msgspec

from stretto.model.param import Parameter
from stretto.model.user import User
from stretto.model.wire.codec import Shape


class Ancestor(msgspec.Struct, frozen=True, kw_only=True):
    """A step attempt that a run stands under."""

    workflow_id: str
    instance_id: int
    run_id: int
    step_id: str
    step_attempt_id: int
    sync: bool | None = None  # False: the step did not wait for the run that it started


class PathNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node of a path into loops: a step attempt, or the iteration at its end, which has no step."""

    workflow_id: str
    instance_id: int
    run_id: int = 0
    step_id: str | None = None
    step_attempt_id: int = 0


class InitiatorFields(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all initiators have; `inline` is true of the iterations of a loop."""

    # The depth of a run in its tree is computed: we write it, and forget what others wrote.
    wire: ClassVar[Shape] = Shape(ignored=("depth",), computed=lambda each: {"depth": each.depth})
    inline: ClassVar[bool] = False
    restartable: ClassVar[bool] = True  # by itself; a nested run is restarted through its parent

    @property
    def depth(self) -> int:
        """How many steps the run stands under."""
        return 0


class ManualInitiator(InitiatorFields, frozen=True, kw_only=True, tag="MANUAL"):
    """A user; the caller is filled in where the request comes in."""

    user: User | None = None


class TimeInitiator(InitiatorFields, frozen=True, kw_only=True, tag="TIME"):
    """A time trigger fired."""

    trigger_uuid: str
    trigger_time: int | None = None
    timezone: str | None = None


class SignalInitiator(InitiatorFields, frozen=True, kw_only=True, tag="SIGNAL"):
    """All signals of a signal trigger had come."""

    trigger_uuid: str
    signal_id_map: dict[str, int] | None = None
    params: dict[str, Parameter] = {}


class UpstreamFields(InitiatorFields, frozen=True, kw_only=True):
    """A step of another run: the last ancestor. Ancestors are listed from the root down."""

    restartable: ClassVar[bool] = False

    ancestors: tuple[Ancestor, ...]

    @property
    def depth(self) -> int:
        return len(self.ancestors)

    @property
    def parent(self) -> Ancestor:
        return self.ancestors[-1]


class SubworkflowInitiator(UpstreamFields, frozen=True, kw_only=True, tag="SUBWORKFLOW"):
    """A subworkflow step."""


class ForeachInitiator(UpstreamFields, frozen=True, kw_only=True, tag="FOREACH"):
    """An iteration of a foreach step."""

    inline: ClassVar[bool] = True


class WhileInitiator(UpstreamFields, frozen=True, kw_only=True, tag="WHILE"):
    """An iteration of a while step."""

    inline: ClassVar[bool] = True


class TemplateInitiator(UpstreamFields, frozen=True, kw_only=True, tag="TEMPLATE"):
    """A template step."""

    inline: ClassVar[bool] = True


UpstreamInitiator = SubworkflowInitiator | ForeachInitiator | WhileInitiator | TemplateInitiator
Initiator = (
    ManualInitiator
    | TimeInitiator
    | SignalInitiator
    | SubworkflowInitiator
    | ForeachInitiator
    | WhileInitiator
    | TemplateInitiator
)
