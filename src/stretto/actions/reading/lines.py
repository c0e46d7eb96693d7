"""Runs, workflows and attempts as lists show them: small, and read from columns."""

from collections.abc import Mapping

import msgspec

from stretto.model.initiator import Initiator
from stretto.model.properties import RunStrategy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.ports.rows import AttemptRow, FirstError, RunRow, Wait
from stretto.ports.workflows import Outcomes, WorkflowRow


class ParentLine(msgspec.Struct, frozen=True, kw_only=True):
    """The step attempt that waits for a run."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    step_id: str
    step_attempt_id: int


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list: where it stands, without what it is made of."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    workflow_version_id: int
    status: RunStatus
    create_time: int
    start_time: int | None = None
    end_time: int | None = None
    initiator: Initiator
    owner: User | None = None
    tags: tuple[Tag, ...] = ()
    correlation_id: str
    parent: ParentLine | None = None
    counts: Mapping[StepStatus, int] = {}
    first_error: FirstError | None = None
    wait: Wait | None = None
    quarantined: str | None = None


class WorkflowLine(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow in a list. What was not asked for is None."""

    workflow_id: str
    owner: User | None = None
    description: str | None = None
    tags: tuple[Tag, ...] = ()
    active_version_id: int | None = None
    latest_version_id: int
    run_strategy: RunStrategy
    modify_time: int
    recent: tuple[RunLine, ...] | None = None  # newest first
    outcomes: tuple[Outcomes, ...] | None = None  # by hour
    next_fire: int | None = None


class AttemptLine(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt in the list of a step's attempts."""

    step_attempt_id: int
    status: StepStatus
    create_time: int | None = None
    start_time: int | None = None
    end_time: int | None = None
    reason: str | None = None
    node: str | None = None


def run_line(row: RunRow) -> RunLine:
    record, parent, summary = row.record, row.parent, row.summary
    return RunLine(
        workflow_id=row.key.workflow_id,
        workflow_instance_id=row.key.instance_id,
        workflow_run_id=row.key.run_id,
        workflow_version_id=record.version_id,
        status=record.status,
        create_time=record.create_time,
        start_time=record.start_time,
        end_time=record.end_time,
        initiator=record.initiator,
        owner=None if record.owner is None else User(name=record.owner),
        tags=record.tags,
        correlation_id=record.correlation_id,
        parent=None
        if parent is None
        else ParentLine(
            workflow_id=parent.attempt.run.workflow_id,
            workflow_instance_id=parent.attempt.run.instance_id,
            workflow_run_id=parent.attempt.run.run_id,
            step_id=parent.attempt.step_id,
            step_attempt_id=parent.attempt.number,
        ),
        counts=summary.counts,
        first_error=summary.first_error,
        wait=summary.wait,
        quarantined=row.quarantined,
    )


def workflow_line(row: WorkflowRow) -> WorkflowLine:
    properties = row.properties
    return WorkflowLine(
        workflow_id=row.workflow_id,
        owner=properties.owner,
        description=properties.description,
        tags=properties.tags or (),
        active_version_id=row.active_version or None,
        latest_version_id=row.latest_version,
        run_strategy=row.strategy,
        modify_time=row.modify_time,
    )


def attempt_line(row: AttemptRow) -> AttemptLine:
    record = row.record
    return AttemptLine(
        step_attempt_id=row.key.number,
        status=record.status,
        create_time=record.create_time,
        start_time=record.start_time,
        end_time=record.end_time,
        reason=record.reason,
        node=row.runs_on,
    )
