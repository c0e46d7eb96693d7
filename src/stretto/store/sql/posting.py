"""Sending and consuming messages inside a transaction."""

from collections.abc import Sequence
from typing import Final

from stretto.engine.events import ChildEnded
from stretto.engine.records import RunKey
from stretto.model.status import RunStatus
from stretto.ports.failures import Stale
from stretto.ports.messages import ChildEnd, Letter, Log
from stretto.ports.rows import Parent
from stretto.store.sql.database import Transaction
from stretto.store.sql.rows.messages import letter_row
from stretto.store.sql.statement import INT, Statement

DELETE: Final = Statement(lambda d: f"DELETE FROM outbox WHERE {d.among('id', 'ids', INT)}")


async def post(tx: Transaction, letters: Sequence[Letter], now: int) -> list[int]:
    """Insert messages; their ids, in order."""
    return await tx.post([letter_row(letter, now) for letter in letters]) if letters else []


async def consume(tx: Transaction, ids: Sequence[int]) -> None:
    """Delete messages with the transaction that records their effect: all of them must be there."""
    if ids and await tx.run(DELETE, ids=sorted(ids)) != len(ids):
        raise Stale(f"a message of {', '.join(map(str, sorted(ids)))} is gone")


def log_letter(
    run: RunKey, status: RunStatus, group: int, now: int, old: RunStatus = RunStatus.CREATED
) -> Letter:
    """Tells the owner of a run's group that the run changed, or is there, outside of a commit."""
    return Letter(ref=f"{run}:{status}", to_group=group, body=Log(run=run, status=status, old=old, at=now))


def look_letter(run: RunKey, group: int, now: int) -> Letter:
    """Tells the owner of a run's group to look at the run, of which nothing has changed."""
    return Letter(ref=f"{run}:look", to_group=group, body=Log(run=run, at=now))


def end_letters(
    run: RunKey,
    status: RunStatus,
    group: int,
    parent: Parent | None,
    now: int,
    old: RunStatus = RunStatus.CREATED,
) -> list[Letter]:
    """Tells who wants to know that a run ended outside of a commit."""
    letters = [log_letter(run, status, group, now, old)]
    if parent is not None:
        event = ChildEnded(attempt=parent.attempt, child=run, status=status)
        letters.append(Letter(ref=f"{run}", to_group=parent.group, body=ChildEnd(event=event)))
    return letters
