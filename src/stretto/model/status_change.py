"""A move from one status to another, for those who are told of it."""

import msgspec

from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.tag import Tag


class StepStatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """Of a step attempt."""

    old_status: StepStatus
    new_status: StepStatus
    event_time: int


class InstanceStatusChange(msgspec.Struct, frozen=True, kw_only=True):
    """Of an instance, with its ids."""

    workflow_instance_id: int
    workflow_run_id: int
    workflow_uuid: str | None = None
    correlation_id: str | None = None
    depth: int | None = None
    parent: str | None = None
    group_info: int | None = None
    tags: tuple[Tag, ...] | None = None
    old_status: InstanceStatus
    new_status: InstanceStatus
    event_time: int
