"""Rows of runs."""

from typing import Any, Final, NamedTuple

from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.initiator import UpstreamFields
from stretto.model.status import FailureMark, RunStatus
from stretto.ports.places import group_of_run
from stretto.ports.rows import NO_SUMMARY, Parent, Phase, RunGlance, RunRow, RunState, RunSummary, mark_of
from stretto.store.sql.codec import OWN_PARAMS, PARAMS, RUN, SUMMARY
from stretto.store.sql.lengths import NAME_LENGTH, TEXT_LENGTH, fitting
from stretto.store.sql.rows.keys import checked_run
from stretto.store.sql.statement import RUN_KEY, Bulk, Row, Way, ints, texts

PAUSED_LANE: Final = "PAUSED"
BY_USER, BY_PARENT = 1, 2  # the bits of the column `paused`

_PARENT: Final = (
    *ints("parent_group"),
    *texts("parent_workflow_id"),
    *ints("parent_instance_id", "parent_run_id"),
    *texts("parent_step_id"),
    *ints("parent_attempt_no"),
)
_ROOT: Final = (*texts("root_workflow_id"), *ints("root_instance_id", "root_run_id"))
_STATE: Final = (*texts("phase", "lane", "status", "failure"), *ints("paused"))
_TIMES: Final = ints("start_time", "end_time", "ended_at")
_DOCS: Final = texts("summary", "params", "doc")
_MODIFIED: Final = ints("modify_time")

INSERT_RUN: Final = Bulk(
    way=Way.INSERT,
    table="run",
    key=3,
    fields=(
        *RUN_KEY,
        *_STATE,
        *_TIMES,
        *_DOCS,
        *texts("uuid"),
        *ints("group_id", "version_id"),
        *texts("initiator"),
        *ints("nested"),
        *texts("owner", "correlation_id"),
        *ints("listed_at", "create_time"),
        *_PARENT,
    ),
    common=_MODIFIED,
)
"""Runs that a workflow transaction makes."""

PUT_ITERATION: Final = Bulk(
    way=Way.PUT,
    table="run",
    key=3,
    fields=(
        *RUN_KEY,
        *_STATE,
        *_TIMES,
        *_DOCS,
        *texts("uuid"),
        *ints("group_id", "version_id"),
        *texts("initiator"),
        *ints("nested"),
        *texts("correlation_id"),
        *ints("create_time"),
        *_ROOT,
        *texts("base"),
    ),
    common=_MODIFIED,
    changes=frozenset({*(field.name for field in (*_STATE, *_TIMES, *_DOCS, *_MODIFIED)), "base"}),
    keeps=frozenset({"summary", "params", "base"}),
)
"""Iterations, made or changed by a group commit."""

UPDATE_RUN: Final = Bulk(
    way=Way.UPDATE,
    table="run",
    key=3,
    fields=(*RUN_KEY, *_STATE, *_TIMES, *_DOCS, *ints("due_at")),
    common=_MODIFIED,
    keeps=frozenset({"summary", "params"}),
)
"""Runs that are not iterations, changed by a group commit."""

WAKE_RUN: Final = Bulk(
    way=Way.UPDATE,
    table="run",
    key=3,
    fields=(*RUN_KEY, *texts("phase", "lane"), *ints("due_at")),
    common=_MODIFIED,
)
"""Runs whose record did not change: only when they must be looked at."""

INSERT_RUN_TAG: Final = Bulk(
    way=Way.MISSING, table="run_tag", key=5, fields=(*texts("tag"), *ints("listed_at"), *RUN_KEY)
)

ROW: Final = (
    "workflow_id, instance_id, run_id, doc, params, base, group_id, phase, failure, due_at, quarantined, "
    "summary, modify_time, root_workflow_id, root_instance_id, root_run_id, "
    "parent_group, parent_workflow_id, parent_instance_id, parent_run_id, parent_step_id, parent_attempt_no"
)
"""The columns of `run_row`; the fourth is the document, then come its parameters and what they are over."""

STATE: Final = (
    "workflow_id, instance_id, run_id, uuid, version_id, group_id, phase, status, failure, paused, "
    "parent_group, parent_workflow_id, parent_instance_id, parent_run_id, parent_step_id, parent_attempt_no"
)
"""The columns of `run_state`."""

GLANCE: Final = (
    "workflow_id, instance_id, run_id, version_id, status, create_time, start_time, end_time, summary"
)
"""The columns of `run_glance`."""


class Lane(NamedTuple):
    """The columns that say how far a run is."""

    phase: Phase
    lane: str | None
    status: RunStatus
    failure: FailureMark | None
    paused: int
    start_time: int | None
    end_time: int | None
    ended_at: int | None


def lane_of(phase: Phase, failure: FailureMark | None, *, paused: bool = False) -> str | None:
    """What a run that is not an iteration is counted as. One that is paused in its queue is apart from it."""
    if phase is Phase.QUEUED and paused:
        return PAUSED_LANE
    if phase is not Phase.ENDED:
        return phase
    return failure if failure is FailureMark.STANDING else None


def state_of(record: RunRecord, phase: Phase, *, iteration: bool = False) -> Lane:
    """How far a run is whose record is written now."""
    failure = mark_of(record.status)
    return Lane(
        phase,
        None if iteration else lane_of(phase, failure, paused=record.is_paused),
        record.status,
        failure,
        record.paused * BY_USER + record.held * BY_PARENT,
        record.start_time,
        record.end_time,
        (record.end_time or 0) if phase is Phase.ENDED else None,
    )


# -------------------------------------------------------------------------------------------------- writing
def new_run(record: RunRecord, phase: Phase, parent: Parent | None, docs: tuple[str | None, str]) -> Row:
    """A row of `INSERT_RUN`; `docs`: parameters, and the document."""
    key = checked_run(record.key)
    return (
        *key,
        *state_of(record, phase),
        None,
        *docs,
        fitting(record.uuid, TEXT_LENGTH, "a request id"),
        group_of_run(key),
        record.version_id,
        record.initiator.__struct_config__.tag,
        int(isinstance(record.initiator, UpstreamFields)),
        None if record.owner is None else fitting(record.owner, TEXT_LENGTH, "the name of an owner"),
        fitting(record.correlation_id, TEXT_LENGTH, "a correlation id"),
        record.create_time,
        record.create_time,
        *_parent_columns(parent),
    )


def tag_rows(record: RunRecord) -> list[Row]:
    """Rows of `INSERT_RUN_TAG`, sorted."""
    names = {fitting(tag.name, NAME_LENGTH, "a tag") for tag in record.tags}
    return [(name, record.create_time, *record.key) for name in sorted(names)]


def iteration_row(
    record: RunRecord, phase: Phase, group: int, root: RunKey, docs: tuple[str | None, str | None, str]
) -> Row:
    """A row of `PUT_ITERATION`, but for `base`; `docs`: summary, parameters and the document."""
    return (
        *checked_run(record.key),
        *state_of(record, phase, iteration=True),
        *docs,
        fitting(record.uuid, TEXT_LENGTH, "a request id"),
        group,
        record.version_id,
        record.initiator.__struct_config__.tag,
        int(isinstance(record.initiator, UpstreamFields)),
        fitting(record.correlation_id, TEXT_LENGTH, "a correlation id"),
        record.create_time,
        *root,
    )


def _parent_columns(parent: Parent | None) -> tuple[Any, ...]:
    if parent is None:
        return (None,) * len(_PARENT)
    attempt = parent.attempt
    return (parent.group, *attempt.run, attempt.step_id, attempt.number)


# -------------------------------------------------------------------------------------------------- reading
def run_row(columns: Row) -> RunRow:
    """A run as it is stored, from the columns of `ROW`, as `filled_runs` has filled them. An iteration's own
    parameters are written whole, and come last; those that it shares with others are not copied.
    """
    record, own, shared = RUN.read(columns[3]), columns[4], columns[5]
    if shared is not None:
        record.params = {**shared, **({} if own is None else OWN_PARAMS.read(own))}
    elif own is not None:
        record.params = PARAMS.read(own)
    return RunRow(
        record=record,
        group=columns[6],
        phase=Phase(columns[7]),
        failure=None if columns[8] is None else FailureMark(columns[8]),
        due_at=columns[9],
        quarantined=columns[10],
        summary=summary_from(columns[11]),
        modify_time=columns[12],
        root=record.key if columns[13] is None else RunKey(*columns[13:16]),
        parent=_parent_from(columns[16:22]),
    )


def run_state(columns: Row) -> RunState:
    """The columns of a run, from those of `STATE`."""
    return RunState(
        key=RunKey(*columns[:3]),
        uuid=columns[3],
        version_id=columns[4],
        group=columns[5],
        phase=Phase(columns[6]),
        status=RunStatus(columns[7]),
        failure=None if columns[8] is None else FailureMark(columns[8]),
        paused=bool(columns[9] & BY_USER),
        held=bool(columns[9] & BY_PARENT),
        parent=_parent_from(columns[10:16]),
    )


def run_glance(columns: Row) -> RunGlance:
    """Where a run stands, from the columns of `GLANCE`."""
    version_id, status, create_time, start_time, end_time, summary = columns[3:]
    return RunGlance(
        key=RunKey(*columns[:3]),
        version_id=version_id,
        status=RunStatus(status),
        create_time=create_time,
        start_time=start_time,
        end_time=end_time,
        summary=summary_from(summary),
    )


def summary_from(text: str | None) -> RunSummary:
    """What lists show of a run; nothing was said so far: nothing."""
    return NO_SUMMARY if text is None else SUMMARY.read(text)


def _parent_from(columns: Row) -> Parent | None:
    if columns[0] is None:
        return None
    group, workflow_id, instance_id, run_id, step_id, number = columns
    return Parent(group, AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, number))


def prefixed(columns: str, alias: str) -> str:
    """The same columns of a table with an alias."""
    return ", ".join(f"{alias}.{name.strip()}" for name in columns.split(","))
