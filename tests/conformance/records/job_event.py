"""Messages between the parts of Maestro, through its queues, as its fixtures have them."""

import msgspec

from stretto.model.actions import InstanceAction, StepAction
from stretto.model.status_change import InstanceStatusChange, StepStatusChange
from stretto.model.user import User
from stretto.model.words import Word


class EntityType(Word):
    """What an action is for."""

    WORKFLOW = "WORKFLOW"
    STEP = "STEP"
    FLOW = "FLOW"
    TASK = "TASK"


class InstanceRunUuid(msgspec.Struct, frozen=True, kw_only=True):
    """A run by its ids."""

    instance_id: int
    run_id: int
    uuid: str


class JobFields(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Told apart by `type`."""


class StartWorkflowJob(JobFields, frozen=True, kw_only=True, tag="START_WORKFLOW"):
    """Look whether a queued run of the workflow may start."""

    workflow_id: str


class TerminateThenRunJob(JobFields, frozen=True, kw_only=True, tag="TERMINATE_THEN_RUN"):
    """End some runs, then start others."""

    workflow_id: str
    instance_run_uuids: tuple[InstanceRunUuid, ...] = ()
    action: InstanceAction
    user: User | None = None
    reason: str | None = None
    run_after: tuple[InstanceRunUuid, ...] | None = None


class InstanceActionJob(JobFields, frozen=True, kw_only=True, tag="INSTANCE_ACTION"):
    """Carry out an action on a run, a step, or the actors behind them."""

    workflow_id: str
    workflow_instance_id: int | None = None
    workflow_run_id: int | None = None
    group_info: int | None = None
    step_id: str | None = None
    step_attempt_id: int | None = None
    step_action: StepAction | None = None
    workflow_action: InstanceAction | None = None
    instance_run_ids: dict[str, int] | None = None  # instance id (a JSON key, so text) -> run id
    action_code: int | None = None
    entity_type: EntityType


class StepUpdateJob(JobFields, frozen=True, kw_only=True, tag="STEP_INSTANCE_UPDATE"):
    """A step attempt changed its status."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int
    workflow_uuid: str | None = None
    step_uuid: str | None = None
    correlation_id: str | None = None
    step_instance_id: int | None = None
    pending_records: tuple[StepStatusChange, ...] = ()
    sync_time: int | None = None


class InstanceUpdateJob(JobFields, frozen=True, kw_only=True, tag="WORKFLOW_INSTANCE_UPDATE"):
    """Instances of a workflow changed their status."""

    workflow_id: str
    workflow_name: str | None = None
    change_records: tuple[InstanceStatusChange, ...] = ()
    sync_time: int | None = None


class VersionUpdateJob(JobFields, frozen=True, kw_only=True, tag="WORKFLOW_VERSION_UPDATE"):
    """A workflow got a new version, new properties, or another active version."""

    workflow_id: str
    author: User | None = None
    workflow_name: str | None = None
    version_id: int | None = None
    snapshot_id: int | None = None
    current_active_version: int | None = None
    previous_active_version: int | None = None
    log: str | None = None
    event_time: int | None = None
    sync_time: int | None = None


class DeleteWorkflowJob(JobFields, frozen=True, kw_only=True, tag="DELETE_WORKFLOW"):
    """Remove everything of a deleted workflow."""

    workflow_id: str
    internal_id: int
    author: User | None = None
    timestamp: int | None = None


NotifiedJob = StepUpdateJob | InstanceUpdateJob | VersionUpdateJob | DeleteWorkflowJob


class NotificationJob(JobFields, frozen=True, kw_only=True, tag="NOTIFICATION"):
    """Tell the outside of a change."""

    event: NotifiedJob


JobEvent = (
    StartWorkflowJob
    | TerminateThenRunJob
    | InstanceActionJob
    | StepUpdateJob
    | InstanceUpdateJob
    | VersionUpdateJob
    | NotificationJob
    | DeleteWorkflowJob
)
