"""Rows of permits."""

from typing import Final

import msgspec

from stretto.engine.permits import rank_of
from stretto.model.workflow import Criticality
from stretto.ports.commit import PermitAsk
from stretto.ports.permits import PermitRow
from stretto.ports.places import group_of_tag
from stretto.store.sql.lengths import TAG_LENGTH, fitting
from stretto.store.sql.rows.keys import attempt_from, checked_attempt
from stretto.store.sql.statement import ATTEMPT_KEY, Bulk, Row, Way, ints, texts

ASK: Final = Bulk(
    way=Way.MISSING,
    table="permit",
    key=6,
    fields=(
        *ATTEMPT_KEY,
        *texts("tag"),
        *ints("group_id", "home_group", "granted", "place"),
        *texts("criticality"),
        *ints("since", "max_allowed"),
    ),
)
TAKE: Final = msgspec.structs.replace(ASK, common=ints("granted_at"))
GRANTED: Final = 8  # the place of `granted` in a row of these
PUT_RATE: Final = Bulk(
    way=Way.PUT, table="tag_rate", fields=(*texts("tag", "rate"),), changes=frozenset({"rate"})
)
ROW: Final = (
    "workflow_id, instance_id, run_id, step_id, attempt_no, tag, group_id, granted, since, criticality, "
    "max_allowed, granted_at"
)
"""The columns of `permit_row`."""


def ask_rows(ask: PermitAsk, group: int) -> list[Row]:
    """Rows of `ASK`, or of `TAKE`."""
    key = checked_attempt(ask.attempt)
    place = rank_of(ask.criticality)
    return [
        (
            *key.run,
            key.step_id,
            key.number,
            fitting(tag, TAG_LENGTH, "a tag"),
            group,
            group_of_tag(tag),
            int(ask.taken),
            place,
            ask.criticality,
            ask.since,
            limit,
        )
        for tag, limit in ask.limits.items()
    ]


def permit_row(columns: Row) -> PermitRow:
    """A permit, from the columns of `ROW`."""
    criticality = columns[9]
    return PermitRow(
        attempt=attempt_from(columns),
        tag=columns[5],
        group=columns[6],
        granted=bool(columns[7]),
        since=columns[8],
        criticality=None if criticality is None else Criticality(criticality),
        limit=columns[10],
        granted_at=columns[11],
    )
