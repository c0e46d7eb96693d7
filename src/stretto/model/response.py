"""Bodies of API responses, where they are not records of their own."""

from typing import ClassVar

import msgspec

from stretto.model.properties import PropertiesSnapshot
from stretto.model.status import InstanceStatus
from stretto.model.step_instance import StepRuntimeState
from stretto.model.timeline import TimelineEvent
from stretto.model.wire.codec import Drop, Shape
from stretto.model.words import Word
from stretto.model.workflow import WorkflowVersion


class StartStatus(Word):
    """What became of a request to start or restart."""

    CREATED = "CREATED"
    DUPLICATED = "DUPLICATED"  # the request was seen before; nothing happened
    STOPPED = "STOPPED"  # the run strategy dropped it
    INTERNAL_ERROR = "INTERNAL_ERROR"


class Hold(Word):
    """Why a run is queued; of several reasons the one that lasts longest."""

    PAUSED = "PAUSED"  # the concurrency is 0: somebody must raise it
    BLOCKED = "BLOCKED"  # a failed run must be restarted or unblocked
    BEHIND_PAUSED = "BEHIND_PAUSED"  # a run before it is paused, and the rule keeps the order
    REPLACING = "REPLACING"  # the run that it replaces has been told to stop
    BUSY = "BUSY"  # every slot is taken
    BEHIND = "BEHIND"  # a slot is free, but runs ahead of it get it
    NOTHING = "NOTHING"  # it is admitted next


class Queued(msgspec.Struct, frozen=True, kw_only=True):
    """Why a new run has not begun, as it stood when the request was answered.

    blocked_by   The first few of the runs that it waits for: `etl/1`, or `etl/1/2` for a second run.
    """

    hold: Hold
    blocked_by: tuple[str, ...] = ()


class WorkflowCreateResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The version that a push made."""

    workflow_definition: WorkflowVersion
    warnings: tuple[str, ...] | None = None  # what is allowed and almost surely not meant, with its place


class PropertiesUpdateResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The properties after a change."""

    properties_snapshot: PropertiesSnapshot


class WorkflowOverviewResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow at a glance."""

    workflow_id: str
    active_version_id: int | None = None
    latest_version_id: int | None = None
    default_version_id: int | None = None
    properties_snapshot: PropertiesSnapshot | None = None
    step_concurrency: int | None = None
    nonterminal_instances: dict[InstanceStatus, int] = {}
    failed_instances: int = 0
    latest_instance_id: int | None = None


class WorkflowActionResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After an activation or its reverse."""

    workflow_id: str
    workflow_version_id: int
    timeline_event: TimelineEvent | None = None


class StartResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After a start, and after the restart of an instance.

    detail   Why the new run has not begun: `queued, blocked by failed etl/1`. Unset: it has been admitted.
    queued   The same as data, for a run that is queued.
    """

    workflow_id: str
    workflow_version_id: int
    workflow_instance_id: int
    workflow_run_id: int
    workflow_uuid: str | None = None
    status: StartStatus
    detail: str | None = None
    queued: Queued | None = None
    timeline_event: TimelineEvent | None = None


class InstanceActionResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After stop, kill or unblock; not `completed`: it goes on in the background."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    workflow_instance_status: InstanceStatus
    info: str | None = None
    timeline_event: TimelineEvent | None = None
    completed: bool


class StepRestartResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After the restart of a step; without a step where a whole ancestor was restarted."""

    wire: ClassVar[Shape] = Shape(drop=Drop.DEFAULT)

    workflow_id: str
    workflow_version_id: int = 0
    workflow_instance_id: int = 0
    workflow_run_id: int = 0
    step_id: str | None = None
    step_attempt_id: int | None = None
    status: StartStatus
    detail: str | None = None
    queued: Queued | None = None
    timeline_event: TimelineEvent | None = None


class StepActionResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After stop, kill, skip, bypass or resume; the state is there once the step has ended."""

    wire: ClassVar[Shape] = Shape(drop=Drop.DEFAULT)

    workflow_id: str
    workflow_instance_id: int = 0
    workflow_run_id: int = 0
    step_id: str
    step_attempt_id: int | None = None
    step_runtime_state: StepRuntimeState | None = None
    timeline_event: TimelineEvent | None = None


class BreakpointDeleteResponse(msgspec.Struct, frozen=True, kw_only=True):
    """After a breakpoint was removed."""

    workflow_id: str
    step_id: str
    timeline_event: TimelineEvent | None = None
