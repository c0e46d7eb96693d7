"""What steps ask people."""

from typing import Final

from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.ports.approvals import ApprovalFilter, ApprovalRow
from stretto.ports.paging import Cut, Slice
from stretto.store.memory.database import Database, Part, own
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.schema import Question

EVERYBODY: Final = ""


class MemoryApprovals(Part):
    """See `ports.approvals`."""

    async def approvals(self, wanted: ApprovalFilter, cut: Cut) -> Slice[ApprovalRow]:
        db = self._db
        assignee = EVERYBODY if wanted.assignee is None else wanted.assignee

        def row(entry: tuple[int, AttemptKey]) -> ApprovalRow:
            asked_at, attempt = entry
            home = db.questions[attempt, assignee].home
            return ApprovalRow(home=home, asked_at=asked_at, attempt=own(db.attempts[attempt]))

        with db.transaction():
            if wanted.workflow_id is None:
                keys = db.asked_of[assignee, wanted.is_open]
            else:
                keys = db.asked_in[wanted.workflow_id, assignee, wanted.is_open]
            return slice_of(select(keys, cut, newest_first=True), row)


def put_questions(db: Database, record: AttemptRecord, home: str) -> None:
    """For everybody, and for each assignee, if an attempt asks or has asked."""
    if record.asks is not None:
        for name in (EVERYBODY, *record.asks.assignees):
            question = Question(name, home, record.is_asking, record.execute_time or 0)
            db.questions.put((record.key, name), question)


def forget_attempt(db: Database, attempt: AttemptKey) -> None:
    """An attempt goes with what it has asked."""
    gone = db.attempts.pop(attempt)
    asks = None if gone is None else gone.record.asks
    if asks is not None:
        for name in (EVERYBODY, *asks.assignees):
            db.questions.pop((attempt, name))
