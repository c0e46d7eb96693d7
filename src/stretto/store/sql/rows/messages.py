"""Rows of the outbox."""

from collections.abc import Iterator
from typing import Any, Final

from stretto.engine.events import Event
from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.messages import Kind, Letter, Message
from stretto.ports.rows import NodeId
from stretto.store.sql.codec import BODIES, OUTCOME
from stretto.store.sql.lengths import TEXT_LENGTH, fitting, number_of
from stretto.store.sql.statement import Row, ints, texts

OUTBOX: Final = (
    *ints("to_group"),
    *texts("to_node", "kind", "ref"),
    *ints("ref_digest", "about", "about_too", "sent_at", "tries", "not_before", "is_parked", "is_answered"),
    *texts("doc"),
)
"""The columns of a new message, as `Transaction.post` inserts them."""

ROW: Final = "id, ref, kind, doc, to_group, to_node, sent_at, tries, not_before, parked, outcome"
"""The columns of `message`."""


def letter_row(letter: Letter, now: int) -> Row:
    """A message to insert."""
    body, node = letter.body, letter.to_node
    named: list[int | None] = [number_of(str(run)) for run in runs_named_by(body)]
    about, about_too, *_ = [*named, None, None]
    return (
        letter.to_group,
        None if node is None else fitting(node, TEXT_LENGTH, "a node id"),
        body.kind,
        letter.ref,
        ref_digest(body.kind, letter.ref),
        about,
        about_too if about_too != about else None,
        now,
        0,
        0,
        0,
        0,
        BODIES[body.kind].write(body),
    )


def sent_at(row: Row, now: int) -> Row:
    """A row of a letter that was made before the time was known."""
    return (*row[:7], now, *row[8:])


def ref_digest(kind: Kind, ref: str) -> int:
    """By which a message of a kind about something is found."""
    return number_of(f"{kind}\0{ref}")


def message(columns: Row) -> Message:
    """A message, from the columns of `ROW`."""
    number, ref, kind, doc, to_group, to_node, sent_at, tries, not_before, parked, outcome = columns
    return Message(
        id=number,
        ref=ref,
        body=BODIES[Kind(kind)].read(doc),
        to_group=to_group,
        to_node=None if to_node is None else NodeId(to_node),
        sent_at=sent_at,
        tries=tries,
        not_before=not_before,
        parked=parked,
        outcome=None if outcome is None else OUTCOME.read(outcome),
    )


def runs_named_by(body: Any) -> Iterator[RunKey]:
    """The runs that a message is about, at most two: they stay as long as it waits."""
    for name in ("run", "attempt", "child", "event", "step"):
        value = getattr(body, name, None)
        if isinstance(value, RunKey):
            yield value
        elif isinstance(value, AttemptKey):
            yield value.run
        elif isinstance(value, Event):
            yield from runs_named_by(value)
