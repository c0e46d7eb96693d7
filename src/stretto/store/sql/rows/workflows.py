"""Rows of workflows."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.status import RunStatus
from stretto.model.tag import Tag
from stretto.model.workflow import Criticality
from stretto.ports.workflows import TOTALS_EVERY, Outcomes, Total, VersionHead, WorkflowRow
from stretto.store.sql.codec import PROPERTIES, USER
from stretto.store.sql.codec.exact import unpack_tag
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
ALL_WORKFLOWS: Final = ""  # no workflow has this id: under it are the counters of all, which are not by hour

ADD_OUTCOME: Final = Bulk(
    way=Way.PUT,
    table="outcome",
    key=3,
    fields=(*texts("workflow_id"), *ints("hour", "shard", *ENDS.values())),
    changes=frozenset(ENDS.values()),
    adds=frozenset(ENDS.values()),
)


class _Head(msgspec.Struct):
    """What is read of a definition; the rest is passed over."""

    name: str | None = None
    criticality: Criticality | None = None
    tags: list[Tag] | None = None
    time_triggers: list[msgspec.Raw] | None = None
    signal_triggers: list[msgspec.Raw] | None = None


class _Version(msgspec.Struct):
    workflow: _Head


_VERSION: Final = msgspec.json.Decoder(_Version)


def version_head(doc: str) -> VersionHead:
    """What lists show of a version, from its document."""
    head = _VERSION.decode(doc).workflow
    return VersionHead(
        name=head.name,
        criticality=head.criticality,
        tags=tuple(map(unpack_tag, head.tags or ())),
        time_triggers=len(head.time_triggers or ()),
        signal_triggers=len(head.signal_triggers or ()),
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


def outcome_rows(ends: Mapping[str, Mapping[RunStatus, int]], now: int, shard: int) -> list[Row]:
    """Rows of `ADD_OUTCOME`, sorted: those of each workflow, and that of all together."""
    if not ends:
        return []
    total: Counter[RunStatus] = Counter()
    for counts in ends.values():
        total.update(counts)
    return [
        (ALL_WORKFLOWS, now - now % TOTALS_EVERY, shard, *_counted(total)),
        *((each, now - now % HOUR, shard, *_counted(counts)) for each, counts in sorted(ends.items())),
    ]


def _counted(counts: Mapping[RunStatus, int]) -> list[int]:
    return [counts.get(status, 0) for status in ENDS]


def outcomes_from(columns: Row) -> Outcomes:
    """Counters of an hour: workflow, hour, then the columns of `ENDS`."""
    return Outcomes(workflow_id=columns[0], hour=columns[1], statuses=_statuses(columns[2:]))


def total_from(columns: Row) -> Total:
    """Counters of all workflows: when they begin, then the columns of `ENDS`."""
    return Total(begin=columns[0], statuses=_statuses(columns[1:]))


def _statuses(columns: Row) -> dict[RunStatus, int]:
    counts = dict(zip(ENDS, columns, strict=True))
    return {status: int(count) for status, count in counts.items() if count}  # a sum may be a decimal
