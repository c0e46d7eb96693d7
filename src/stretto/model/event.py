"""Events that are told to the outside, after the change is stored."""

from typing import Final

import msgspec

from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.status_change import StepStatusChange
from stretto.model.tag import Tag
from stretto.model.user import User

# The statuses of an attempt before its end, in order. An attempt enters each of them at most once.
BEFORE_END: Final = (
    StepStatus.CREATED,
    StepStatus.INITIALIZED,
    StepStatus.PAUSED,
    StepStatus.WAITING_FOR_SIGNALS,
    StepStatus.EVALUATING_PARAMS,
    StepStatus.WAITING_FOR_PERMITS,
    StepStatus.STARTING,
    StepStatus.RUNNING,
    StepStatus.FINISHING,
)


class ChangeFields(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all events have: the workflow, and when the change was stored and sent."""

    workflow_id: str
    cluster_name: str | None = None
    sync_time: int | None = None
    send_time: int | None = None


class StepStatusChanged(ChangeFields, frozen=True, kw_only=True, tag="STEP_INSTANCE_STATUS_CHANGE_EVENT"):
    """A step attempt moved; all moves since the last event at once.

    The change log stores the moves of one commit as a single record, from the first status to the last, and
    in `passed` when the attempt entered the statuses between them: for each of `BEFORE_END` the milliseconds
    before the last move. `all_moves` makes the single moves from it.
    """

    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    workflow_uuid: str | None = None
    step_uuid: str | None = None
    correlation_id: str | None = None
    step_instance_id: int | None = None
    asks: bool | None = None  # a Wait step: somebody is, or was, asked
    status_change_records: tuple[StepStatusChange, ...] = ()
    passed: tuple[int | None, ...] | None = None

    def all_moves(self) -> tuple[StepStatusChange, ...]:
        if self.passed is None:
            return self.status_change_records
        (whole,) = self.status_change_records
        made: list[StepStatusChange] = []
        old = whole.old_status
        for status, age in zip(BEFORE_END, self.passed, strict=False):
            if age is not None:
                at = whole.event_time - age
                made.append(StepStatusChange(old_status=old, new_status=status, event_time=at))
                old = status
        last = StepStatusChange(old_status=old, new_status=whole.new_status, event_time=whole.event_time)
        return (*made, last)


class InstanceStatusChanged(
    ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_INSTANCE_STATUS_CHANGE_EVENT"
):
    """An instance moved."""

    workflow_instance_id: int
    workflow_run_id: int
    workflow_uuid: str | None = None
    correlation_id: str | None = None
    depth: int | None = None
    workflow_name: str | None = None
    tags: tuple[Tag, ...] | None = None
    old_status: InstanceStatus
    new_status: InstanceStatus
    event_time: int


class DefinitionChanged(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_DEFINITION_CHANGE_EVENT"):
    """A version was pushed together with properties."""

    workflow_name: str | None = None
    author: User | None = None
    version_id: int | None = None
    snapshot_id: int | None = None
    current_active_version_id: int | None = None
    previous_active_version_id: int | None = None
    event_time: int


class VersionChanged(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_VERSION_CHANGE_EVENT"):
    """A version was pushed without properties."""

    workflow_name: str | None = None
    author: User | None = None
    version_id: int | None = None
    current_active_version_id: int | None = None
    previous_active_version_id: int | None = None
    event_time: int


class PropertiesChanged(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_PROPERTIES_CHANGE_EVENT"):
    """Properties were changed on their own."""

    author: User | None = None
    snapshot_id: int | None = None
    event_time: int


class WorkflowActivated(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_ACTIVATION_CHANGE_EVENT"):
    """Another version became the active one."""

    author: User | None = None
    current_active_version_id: int | None = None
    previous_active_version_id: int | None = None
    event_time: int


class WorkflowDeactivated(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_DEACTIVATION_CHANGE_EVENT"):
    """No version is active any more."""

    author: User | None = None
    previous_active_version_id: int | None = None
    event_time: int


class WorkflowDeleted(ChangeFields, frozen=True, kw_only=True, tag="WORKFLOW_DELETION_CHANGE_EVENT"):
    """A workflow is gone. `reason`: why, if somebody said so."""

    internal_id: int | None = None
    author: User | None = None
    reason: str | None = None
    event_time: int


ChangeEvent = (
    StepStatusChanged
    | InstanceStatusChanged
    | DefinitionChanged
    | VersionChanged
    | PropertiesChanged
    | WorkflowActivated
    | WorkflowDeactivated
    | WorkflowDeleted
)
