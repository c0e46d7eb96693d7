"""Rows of step attempts and loops."""

from typing import Final

from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.model.status import StepStatus
from stretto.ports.rows import AttemptRow, NodeId, StepState
from stretto.store.sql.codec import ATTEMPT, COUNTS
from stretto.store.sql.rows.keys import checked_attempt
from stretto.store.sql.statement import ATTEMPT_KEY, Bulk, Row, Way, ints, texts

_COLUMNS: Final = (
    *ints("sequence"),
    *texts("status", "held"),
    *ints("create_time", "start_time", "end_time", "launch"),
    *texts("child_workflow_id"),
    *ints("child_instance_id", "child_run_id", "loop_total"),
    *texts("doc"),
)
_CHANGES: Final = frozenset({*(field.name for field in _COLUMNS), "modify_time"})

PUT_ATTEMPT: Final = Bulk(
    way=Way.PUT,
    table="attempt",
    key=5,
    fields=(*ATTEMPT_KEY, *_COLUMNS),
    common=ints("modify_time"),
    changes=_CHANGES,
)
"""Attempts that run where they ran."""

PUT_ATTEMPT_ON: Final = Bulk(
    way=Way.PUT,
    table="attempt",
    key=5,
    fields=(*ATTEMPT_KEY, *_COLUMNS, *texts("runs_on")),
    common=ints("modify_time"),
    changes=_CHANGES | {"runs_on"},
)
"""Attempts of which it is news where they run."""

PUT_LOOP: Final = Bulk(
    way=Way.PUT,
    table="run_loop",
    key=5,
    fields=(*ATTEMPT_KEY, *texts("doc", "counts")),
    changes=frozenset({"doc", "counts"}),
)

ROW: Final = "workflow_id, instance_id, run_id, step_id, attempt_no, doc, runs_on, modify_time"
"""The columns of `attempt_row`; the sixth is the document."""


def attempt_values(record: AttemptRecord, doc: str) -> Row:
    """A row of `PUT_ATTEMPT`; `PUT_ATTEMPT_ON` has one column more."""
    key = checked_attempt(record.key)
    return (
        *key.run,
        key.step_id,
        key.number,
        record.sequence,
        record.status,
        key.step_id if record.status is StepStatus.PAUSED else None,
        record.create_time,
        record.start_time,
        record.end_time,
        record.launch,
        *(record.child or (None, None, None)),
        record.loop_total,
        doc,
    )


STATE: Final = (
    "workflow_id, instance_id, run_id, step_id, attempt_no, sequence, status, create_time, start_time, "
    "end_time, child_workflow_id, child_instance_id, child_run_id, loop_total"
)
"""The columns of `step_state`; behind them come the counts of a loop."""

STATUSES: Final = {status.value: status for status in StepStatus}  # faster than the enum, for many rows


def step_state(columns: Row, run: RunKey) -> StepState:
    """An attempt of a run as live views show it: often one of thousands, so the key of the run is shared."""
    step_id, number, sequence, status, create_time, start_time, end_time, *child, total, counts = columns[3:]
    return StepState(
        key=AttemptKey(run, step_id, number),
        sequence=sequence,
        status=STATUSES[status],
        create_time=create_time,
        start_time=start_time,
        end_time=end_time,
        child=None if child[0] is None else RunKey(*child),
        is_loop=counts is not None,
        total=total,
        ended={} if counts is None else COUNTS.read(counts),
    )


def attempt_row(columns: Row) -> AttemptRow:
    """An attempt as it is stored, from the columns of `ROW`."""
    node = columns[6]
    return AttemptRow(
        record=ATTEMPT.read(columns[5]),
        runs_on=None if node is None else NodeId(node),
        modify_time=columns[7],
    )
