"""Sending and consuming messages inside a transaction."""

from collections.abc import Iterable

from stretto.engine.events import ChildEnded
from stretto.model.status import RunStatus
from stretto.ports.failures import Stale
from stretto.ports.messages import OUTCOME_KINDS, ChildEnd, Letter, Log, Message
from stretto.ports.rows import RunRow
from stretto.store.memory.database import Database


def post(db: Database, letter: Letter, now: int) -> Message:
    """Insert a message."""
    message = Message(
        id=db.number("message"),
        ref=letter.ref,
        body=letter.body,
        to_group=letter.to_group,
        to_node=letter.to_node,
        sent_at=now,
    )
    db.messages.put(message.id, message)
    return message


def waiting(db: Database, message_id: int, group: int | None = None) -> Message:
    """A message that must be there."""
    message = db.messages.get(message_id)
    if message is None:
        raise Stale(f"message {message_id} is gone", () if group is None else (group,))
    return message


def consume(db: Database, message_ids: Iterable[int], group: int | None = None) -> None:
    """Delete messages with the transaction that records their effect."""
    for message_id in message_ids:
        waiting(db, message_id, group)
        db.messages.pop(message_id)


def post_log(db: Database, row: RunRow, now: int, old: RunStatus = RunStatus.CREATED) -> Message:
    """Tell the owner of a run's group that the run changed, or is there, outside of a commit."""
    record = row.record
    body = Log(run=row.key, status=record.status, old=old, at=now)
    return post(db, Letter(ref=f"{row.key}:{record.status}", to_group=row.group, body=body), now)


def post_look(db: Database, row: RunRow, now: int) -> None:
    """Tell the owner of a run's group to look at the run, of which nothing has changed."""
    post(db, Letter(ref=f"{row.key}:look", to_group=row.group, body=Log(run=row.key, at=now)), now)


def post_end(db: Database, row: RunRow, now: int, old: RunStatus = RunStatus.CREATED) -> None:
    """Tell who wants to know that a run ended outside of a commit."""
    post_log(db, row, now, old)
    if row.parent is not None:
        event = ChildEnded(attempt=row.parent.attempt, child=row.key, status=row.record.status)
        post(db, Letter(ref=f"{row.key}", to_group=row.parent.group, body=ChildEnd(event=event)), now)


def is_answered(message: Message) -> bool:
    """An action, or an answer, that nobody has to decide any more."""
    return message.body.kind in OUTCOME_KINDS and message.outcome is not None
