"""What steps ask people."""

from collections.abc import Iterator
from typing import Final

from stretto.engine.records import AttemptRecord
from stretto.ports.approvals import ApprovalFilter, ApprovalRow
from stretto.ports.paging import Cut, Slice
from stretto.store.sql.database import Transaction
from stretto.store.sql.large import filled
from stretto.store.sql.lengths import ASSIGNEE_LENGTH, fitting
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part
from stretto.store.sql.rows.attempts import ROW, attempt_row
from stretto.store.sql.rows.keys import checked_attempt
from stretto.store.sql.rows.runs import prefixed
from stretto.store.sql.statement import ATTEMPT_KEY, Bulk, Row, Way, ints, same, texts

EVERYBODY: Final = ""
OPEN: Final = "OPEN"
DONE: Final = "DONE"

PUT_APPROVAL: Final = Bulk(
    way=Way.PUT,
    table="approval",
    key=6,
    fields=(*ATTEMPT_KEY, *texts("assignee", "home", "asked"), *ints("asked_at")),
    changes=frozenset({"asked"}),
)
_ORDER: Final = ["approval.asked_at", *(f"approval.{field.name}" for field in ATTEMPT_KEY)]
_COLUMNS: Final = f"{', '.join(_ORDER)}, approval.home, {prefixed(ROW, 'attempt')}"
_SOURCE: Final = (
    f"approval JOIN attempt ON {same(ATTEMPT_KEY, 'attempt', 'approval')} "
    "WHERE approval.assignee = :assignee AND approval.asked = "
)
# Code that does not know of questions may have ended the attempt of one: it is not open.
_OPEN: Final = f"{_SOURCE}'{OPEN}' AND attempt.status = 'RUNNING'"
_DONE: Final = f"{_SOURCE}'{DONE}'"
_HOME: Final = "AND approval.home = :home"
ALL: Final = {
    is_open: Listing(_COLUMNS, source, _ORDER, newest_first=True)
    for is_open, source in ((True, _OPEN), (False, _DONE))
}
OF_HOME: Final = {
    is_open: Listing(_COLUMNS, f"{source} {_HOME}", _ORDER, newest_first=True)
    for is_open, source in ((True, _OPEN), (False, _DONE))
}


class SqlApprovals(Part):
    """See `ports.approvals`."""

    async def approvals(self, wanted: ApprovalFilter, cut: Cut) -> Slice[ApprovalRow]:
        async def work(tx: Transaction) -> Slice[ApprovalRow]:
            values = {"assignee": EVERYBODY if wanted.assignee is None else wanted.assignee}
            if wanted.workflow_id is None:
                page = await ALL[wanted.is_open].page(tx, cut, **values)
            else:
                page = await OF_HOME[wanted.is_open].page(tx, cut, **values, home=wanted.workflow_id)
            whole = await filled(tx, "attempt", [row[7:] for row in page.rows])
            heads = (row[:7] for row in page.rows)
            rows: list[Row] = [(*head, *rest) for head, rest in zip(heads, whole, strict=True)]
            return page._replace(rows=rows).of(_row)

        return await self._db.read(work)


def approval_rows(record: AttemptRecord, home: str) -> Iterator[Row]:
    """The rows of an attempt that asks, or has asked."""
    key, state = checked_attempt(record.key), OPEN if record.is_asking else DONE
    for name in (EVERYBODY, *(() if record.asks is None else record.asks.assignees)):
        assignee = fitting(name, ASSIGNEE_LENGTH, "the name of an assignee")
        yield (*key.run, key.step_id, key.number, assignee, home, state, record.execute_time or 0)


def _row(columns: Row) -> ApprovalRow:
    return ApprovalRow(home=columns[6], asked_at=columns[0], attempt=attempt_row(columns[7:]))
