"""How a run was asked for: from scratch, or again from some place on."""

from typing import ClassVar

import msgspec

from stretto.model.param import Params
from stretto.model.tag import Tag
from stretto.model.wire.codec import Shape
from stretto.model.words import Word


class RunPolicy(Word):
    """Which steps are part of a run."""

    START_FRESH_NEW_RUN = "START_FRESH_NEW_RUN"  # all steps of a new instance
    START_CUSTOMIZED_RUN = "START_CUSTOMIZED_RUN"  # known to Maestro's model, used by nothing
    RESTART_FROM_BEGINNING = "RESTART_FROM_BEGINNING"  # all steps again
    RESTART_FROM_INCOMPLETE = "RESTART_FROM_INCOMPLETE"  # what is not complete, and what follows it
    RESTART_FROM_SPECIFIC = "RESTART_FROM_SPECIFIC"  # the same, and one named step
    RESTART_CUSTOMIZED_RUN = "RESTART_CUSTOMIZED_RUN"  # known to Maestro's model, used by nothing
    UNDO = "UNDO"  # what undoes the runs of the instance before it; only the engine starts such a run

    @property
    def is_fresh(self) -> bool:
        return self in {RunPolicy.START_FRESH_NEW_RUN, RunPolicy.START_CUSTOMIZED_RUN}


class RestartNode(msgspec.Struct, frozen=True, kw_only=True):
    """An instance on the way to the place of a restart, and the step in it; no step: all of it."""

    wire: ClassVar[Shape] = Shape(keep=("step_id",))

    workflow_id: str
    instance_id: int
    step_id: str | None = None


class RestartConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A restart. The path begins with what the user named; its end is the node restarted now."""

    restart_path: tuple[RestartNode, ...] = ()
    restart_policy: RunPolicy | None = None
    downstream_policy: RunPolicy | None = None  # of what is not on the path
    restart_params: Params | None = None
    step_restart_params: dict[str, Params] | None = None
    skip_steps: tuple[str, ...] | None = None


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was started with."""

    runtime_tags: tuple[Tag, ...] | None = None
    correlation_id: str | None = None
    policy: RunPolicy = RunPolicy.START_FRESH_NEW_RUN
    restart_config: RestartConfig | None = None
