"""Runs, workflows and attempts as lists show them: small, and read from columns."""

from collections.abc import Mapping

import msgspec

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.initiator import Initiator, UpstreamFields
from stretto.model.properties import RunStrategy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.status_codes import RUN_CODES
from stretto.model.tag import Tag, merge_tags
from stretto.model.user import User
from stretto.model.workflow import Criticality
from stretto.ports.rows import AttemptRow, FirstError, RunGlance, RunRow, Wait
from stretto.ports.workflows import Outcomes, VersionHead, WorkflowRow


class RunRef(msgspec.Struct, frozen=True, kw_only=True):
    """Which run."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int


class AttemptRef(msgspec.Struct, frozen=True, kw_only=True):
    """Which step attempt."""

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
    parent: AttemptRef | None = None
    root: RunRef  # the run at the top, where somebody or a trigger began
    counts: Mapping[StepStatus, int] = {}
    first_error: FirstError | None = None
    wait: Wait | None = None
    quarantined: str | None = None


RecentRun = tuple[int | str | None, ...]
"""Instance, run, the letter of its status, start, duration in milliseconds."""


class TriggerCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What starts a workflow by itself, as its version says."""

    time: int = 0
    signal: int = 0


class WorkflowLine(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow in a list. What was not asked for is None."""

    workflow_id: str
    name: str | None = None
    owner: User | None = None
    description: str | None = None
    tags: tuple[Tag, ...] = ()
    criticality: Criticality | None = None
    active: bool
    active_version_id: int | None = None
    latest_version_id: int
    run_strategy: RunStrategy
    triggers: TriggerCounts
    modify_time: int
    recent: tuple[RecentRun, ...] | None = None  # newest first
    outcomes: tuple[Outcomes, ...] | None = None  # by hour
    counts: Mapping[str, int] | None = None  # by the letter of a status
    p50: int | None = None  # milliseconds
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
        parent=None if parent is None else attempt_ref(parent.attempt),
        root=run_ref(_root(row)),
        counts=summary.counts,
        first_error=summary.first_error,
        wait=summary.wait,
        quarantined=row.quarantined,
    )


def _root(row: RunRow) -> RunKey:
    """A run that a step has started knows all that stands above it."""
    initiator = row.record.initiator
    if not isinstance(initiator, UpstreamFields):
        return row.key
    top = initiator.ancestors[0]
    return RunKey(top.workflow_id, top.instance_id, top.run_id)


def run_ref(run: RunKey) -> RunRef:
    return RunRef(
        workflow_id=run.workflow_id, workflow_instance_id=run.instance_id, workflow_run_id=run.run_id
    )


def attempt_ref(attempt: AttemptKey) -> AttemptRef:
    run = attempt.run
    return AttemptRef(
        workflow_id=run.workflow_id,
        workflow_instance_id=run.instance_id,
        workflow_run_id=run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
    )


def recent_run(run: RunGlance) -> RecentRun:
    return run.key.instance_id, run.key.run_id, RUN_CODES[run.status], run.start_time, run.duration


def workflow_line(row: WorkflowRow, head: VersionHead | None) -> WorkflowLine:
    """`head`: of its active version, or of the latest; None, if that is gone by now."""
    properties, head = row.properties, head or VersionHead()
    return WorkflowLine(
        workflow_id=row.workflow_id,
        name=head.name,
        criticality=head.criticality,
        active=row.active_version > 0,
        triggers=TriggerCounts(time=head.time_triggers, signal=head.signal_triggers),
        owner=properties.owner,
        description=properties.description,
        tags=merge_tags(head.tags, properties.tags),
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
