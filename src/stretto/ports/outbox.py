"""Messages between groups, nodes and callers."""

from collections.abc import Collection, Set
from typing import Final, Protocol

import msgspec

from stretto.engine.records import RunKey
from stretto.ports.messages import Letter, Message, Outcome, Result
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Lease, NodeId

MOST_TRIES: Final = 5
LONGEST_PAUSE: Final = (
    1_000 * 2**MOST_TRIES
)  # milliseconds: one that is to wait longer was postponed by a clock
# that was set back since, and waits no more


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for a node: runs to be launched, by key, and messages, by id."""

    admitted: tuple[RunKey, ...] = ()
    messages: tuple[Message, ...] = ()


def postponed(message: Message, now: int, reason: str) -> Message:
    """A message that could not be applied: the next try is due after 2 ** tries seconds. After `MOST_TRIES`
    it is parked.
    """
    tries = message.tries + 1
    return msgspec.structs.replace(
        message,
        tries=tries,
        not_before=now + 1_000 * 2**tries,
        parked=reason if tries >= MOST_TRIES else None,
    )


class Outbox(Protocol):
    """The way in for whoever is not a group commit, and what an owner polls. Commits write messages, too."""

    async def send(self, letter: Letter) -> int:
        """T7. Insert a message and return its id.

        Who repeats it after an unknown outcome finds the first one: if a message with the same kind and ref
        is there, its id is returned and nothing is inserted.
        """
        ...

    async def fetch(
        self,
        node: NodeId,
        groups: Collection[int],
        *,
        known: Set[int] = frozenset(),
        launching: Set[RunKey] = frozenset(),
        most: int = 1000,
    ) -> Mail:
        """Everything that waits for the node and its groups, as of one moment. Only reads.

        Messages come by id, runs that are ADMITTED and not quarantined by key. What the caller has in hand
        (`known`, `launching`) is left out, and so are parked messages, those whose time has not come, and
        actions that have their outcome. It reads all rows, never "ids above the last": ids are not in the
        order of commits. At most `most` of each, the first in order.
        """
        ...

    async def report(
        self, node: NodeId, result: Result, *, take: int | None = None, answers: int | None = None
    ) -> bool:
        """T8. The result of work that was done here, sent to the group of its attempt's run.

        `take`: it was pool work; its row must be ours under this take, and is deleted. `answers`: the id of
        the `cancel` or `ask` that it answers, which must be there, and is deleted. False: nothing was
        written, because the node is dead or unknown, one of these rows is gone, or the run is unknown. The
        result is then not wanted any more, or has been stored by an earlier try.
        """
        ...

    async def outcome(self, message_id: int) -> Outcome | None:
        """What became of an action; None while nobody has decided. NotFound if there is no such row."""
        ...

    async def withdraw(self, message_id: int) -> bool:
        """Delete a message: its caller has read the outcome, or gives up. False: it is gone already."""
        ...

    async def postpone(self, lease: Lease, message_id: int, reason: str) -> Message:
        """A message could not be applied: one more try is used, and the next is due after 2 ** tries seconds.

        After `MOST_TRIES` it is parked for this reason instead: it is not fetched until it is released.
        Returns the row after the change. Fenced, or Stale if the row is gone.
        """
        ...

    async def parked_messages(self, cut: Cut) -> Slice[Message]:
        """Parked messages, by id, oldest first. Only reads."""
        ...

    async def messages_waiting(self, *, most: int = 10_000) -> tuple[int, int | None]:
        """How many messages nobody has dealt with, no more than `most` are counted, and when the oldest of
        them was sent. An action that is done waits no more, though its outcome is kept for whoever asked.
        Only reads.
        """
        ...

    async def release_message(self, message_id: int) -> bool:
        """Let a parked message be tried again, from the start. False: it is not there, or not parked."""
        ...

    async def sweep_outbox(self, acts_before: int) -> int:
        """Delete messages to nodes that are dead or unknown, and actions whose outcome nobody has read since
        `acts_before`. Returns how many. Idempotent.
        """
        ...
