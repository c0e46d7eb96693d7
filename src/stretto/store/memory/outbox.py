"""Messages between groups, nodes and callers."""

from collections.abc import Collection, Iterator, Set

import msgspec

from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.ports.failures import Fenced
from stretto.ports.groups import NodeState
from stretto.ports.messages import Letter, Message, Outcome, Result
from stretto.ports.outbox import LONGEST_PAUSE, Mail, postponed
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Lease, NodeId, Phase
from stretto.store.memory.database import Database, Part
from stretto.store.memory.leases import is_current
from stretto.store.memory.paging import select, slice_of
from stretto.store.memory.post import is_answered, post, waiting
from stretto.store.memory.schema import ALL


class MemoryOutbox(Part):
    """See `ports.outbox`."""

    async def send(self, letter: Letter) -> int:
        with self._db.transaction() as now:
            same = self._db.messages_about[letter.body.kind, letter.ref]
            return same[0] if same else post(self._db, letter, now).id

    async def fetch(
        self,
        node: NodeId,
        groups: Collection[int],
        *,
        known: Set[int] = frozenset(),
        launching: Set[RunKey] = frozenset(),
        most: int = 1000,
    ) -> Mail:
        with self._db.transaction() as now:
            ids = sorted(
                number
                for place in (node, *groups)
                for number in self._db.messages_to[place]
                if number not in known and _is_due(self._db.messages[number], now)
            )
            runs = sorted(
                key
                for group in groups
                for key in self._db.runs_of_group[group, Phase.ADMITTED]
                if key not in launching
            )
            messages = tuple(self._db.messages[number] for number in ids[:most])
            return Mail(admitted=tuple(runs[:most]), messages=messages)

    async def report(
        self, node: NodeId, result: Result, *, take: int | None = None, answers: int | None = None
    ) -> bool:
        db, attempt = self._db, result.event.attempt
        with db.transaction() as now:
            sender, run = db.nodes.get(node), db.runs.get(attempt.run)
            if sender is None or sender.state is NodeState.DEAD or run is None:
                return False
            if answers is not None and answers not in db.messages:
                return False
            if take is not None:
                work = db.work.get(attempt)
                if work is None or (work.take, work.taken_by) != (take, node):
                    return False
                db.work.pop(attempt)
            if answers is not None:
                db.messages.pop(answers)
            ref = f"{attempt}:{result.event.launch}"
            post(db, Letter(ref=ref, to_group=run.group, body=result), now)
            return True

    async def outcome(self, message_id: int) -> Outcome | None:
        with self._db.transaction():
            message = self._db.messages.get(message_id)
            if message is None:
                raise NotFound(f"there is no message {message_id}")
            return message.outcome

    async def withdraw(self, message_id: int) -> bool:
        with self._db.transaction():
            return self._db.messages.pop(message_id) is not None

    async def postpone(self, lease: Lease, message_id: int, reason: str) -> Message:
        with self._db.transaction() as now:
            if not is_current(self._db, lease):
                raise Fenced((lease.group,))
            message = waiting(self._db, message_id, lease.group)
            message = postponed(message, now, reason)
            self._db.messages.put(message_id, message)
            return message

    async def messages_waiting(self, *, most: int = 10_000) -> tuple[int, int | None]:
        with self._db.transaction():
            messages = (self._db.messages[number] for number in sorted(self._db.messages))
            waiting = [each for each in messages if each.outcome is None][:most]
            return len(waiting), waiting[0].sent_at if waiting else None

    async def parked_messages(self, cut: Cut) -> Slice[Message]:
        with self._db.transaction():
            return slice_of(select(self._db.parked[ALL], cut), self._db.messages.__getitem__)

    async def release_message(self, message_id: int) -> bool:
        with self._db.transaction():
            message = self._db.messages.get(message_id)
            if message is None or message.parked is None:
                return False
            fresh = msgspec.structs.replace(message, tries=0, not_before=0, parked=None)
            self._db.messages.put(message_id, fresh)
            return True

    async def sweep_outbox(self, acts_before: int) -> int:
        with self._db.transaction():
            gone = list(_lost(self._db, acts_before))
            for number in gone:
                self._db.messages.pop(number)
            return len(gone)


def _is_due(message: Message, now: int) -> bool:
    waits = now < message.not_before <= now + LONGEST_PAUSE
    return message.parked is None and not waits and not is_answered(message)


def _lost(db: Database, acts_before: int) -> Iterator[int]:
    """Messages that nobody will ever read."""
    for number in db.messages:
        message = db.messages[number]
        if message.to_node is not None:
            node = db.nodes.get(message.to_node)
            if node is None or node.state is NodeState.DEAD:
                yield number
        elif is_answered(message) and message.sent_at < acts_before:
            yield number
