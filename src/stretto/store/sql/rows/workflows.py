"""Rows of workflows."""

from typing import Any, Final

from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.status import RunStatus
from stretto.ports.workflows import Outcomes, WorkflowRow
from stretto.store.sql.codec import PROPERTIES, USER
from stretto.store.sql.lengths import TEXT_LENGTH, fitting
from stretto.store.sql.statement import Bulk, Row, Way, ints, texts

ROW: Final = (
    "workflow_id, internal_id, latest_version, active_version, activate_time, activated_by, properties, "
    "rule, slots, next_instance_id, modify_time"
)
"""The columns of `workflow_row`."""

ENDS: Final = {
    RunStatus.SUCCEEDED: "succeeded",
    RunStatus.FAILED: "failed",
    RunStatus.STOPPED: "stopped",
    RunStatus.TIMED_OUT: "timed_out",
}
"""How a run can end, and the column that counts it."""

HOUR: Final = 3_600_000  # milliseconds

ADD_OUTCOME: Final = Bulk(
    way=Way.PUT,
    table="outcome",
    key=3,
    fields=(*texts("workflow_id"), *ints("hour", "shard", *ENDS.values())),
    changes=frozenset(ENDS.values()),
    adds=frozenset(ENDS.values()),
)


def workflow_row(columns: Row) -> WorkflowRow:
    """A workflow, from the columns of `ROW`."""
    by = columns[5]
    return WorkflowRow(
        workflow_id=columns[0],
        internal_id=columns[1],
        latest_version=columns[2],
        active_version=columns[3],
        activate_time=columns[4],
        activated_by=None if by is None else USER.read(by),
        properties=PROPERTIES.read(columns[6]),
        strategy=strategy_of(columns[7], columns[8]),
        next_instance_id=columns[9],
        modify_time=columns[10],
    )


def strategy_of(rule: str, slots: int) -> RunStrategy:
    """The run strategy in two columns."""
    return RunStrategy(rule=RunStrategyRule(rule), workflow_concurrency=slots)


def workflow_values(row: WorkflowRow) -> dict[str, Any]:
    """What a change of a workflow writes into its row."""
    by, owner = row.activated_by, row.properties.owner
    return {
        "workflow_id": row.workflow_id,
        "internal_id": row.internal_id,
        "latest_version": row.latest_version,
        "active_version": row.active_version,
        "activate_time": row.activate_time,
        "activated_by": None if by is None else USER.write(by),
        "properties": PROPERTIES.write(row.properties),
        "rule": row.strategy.rule,
        "slots": row.strategy.workflow_concurrency,
        "modify_time": row.modify_time,
        "owner": None if owner is None else fitting(owner.name, TEXT_LENGTH, "the name of an owner"),
    }


def outcome_row(workflow_id: str, now: int, shard: int, counts: dict[RunStatus, int]) -> Row:
    """A row of `ADD_OUTCOME`."""
    return (workflow_id, now - now % HOUR, shard, *(counts.get(status, 0) for status in ENDS))


def outcomes_from(columns: Row) -> Outcomes:
    """Counters of an hour: workflow, hour, then the columns of `ENDS`."""
    counts = dict(zip(ENDS, columns[2:], strict=True))
    return Outcomes(
        workflow_id=columns[0],
        hour=columns[1],
        statuses={status: int(count) for status, count in counts.items() if count},  # a sum may be a decimal
    )
