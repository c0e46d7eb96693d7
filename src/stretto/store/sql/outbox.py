"""Messages between groups, nodes and callers."""

from collections.abc import Collection, Sequence, Set
from typing import Final

from stretto.engine.records import RunKey
from stretto.model.errors import NotFound
from stretto.ports.failures import Stale
from stretto.ports.groups import NodeState
from stretto.ports.messages import Letter, Message, Outcome, Result
from stretto.ports.outbox import LONGEST_PAUSE, Mail, postponed
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Lease, NodeId
from stretto.store.sql.codec import OUTCOME
from stretto.store.sql.database import Transaction
from stretto.store.sql.fence import check, node_state
from stretto.store.sql.paging import Listing
from stretto.store.sql.part import Part, Undo
from stretto.store.sql.posting import post
from stretto.store.sql.rows.keys import of_attempt, of_run, run_from
from stretto.store.sql.rows.messages import ROW, letter_row, message, ref_digest
from stretto.store.sql.statement import ATTEMPT_KEY, INT, RUN_KEY, Dialect, Statement, given


def _due(d: Dialect) -> str:
    is_due = f"(not_before <= {d.clock} OR not_before > {d.clock} + {LONGEST_PAUSE})"
    return f"is_parked = 0 AND is_answered = 0 AND {is_due} ORDER BY id LIMIT :reach"


NO_GROUP: Final = -1

SAME: Final = Statement(
    "SELECT id FROM outbox WHERE ref_digest = :digest AND kind = :kind AND ref = :ref ORDER BY id LIMIT 1"
)
# One statement, because an idle node asks all the time. What has a type comes first, for the nulls' sake.
WAITING: Final = Statement(
    lambda d: (
        "SELECT NULL, workflow_id, instance_id, run_id FROM (SELECT workflow_id, instance_id, run_id "
        f"FROM run WHERE {d.among('group_id', 'groups', INT)} AND lane = 'ADMITTED' AND aside = 0 "
        "ORDER BY workflow_id, instance_id, run_id LIMIT :launches) admitted "
        f"UNION ALL SELECT id, NULL, NULL, NULL FROM (SELECT id FROM outbox "
        f"WHERE {d.among('to_group', 'groups', INT)} AND {_due(d)}) to_groups "
        f"UNION ALL SELECT id, NULL, NULL, NULL FROM (SELECT id FROM outbox "
        f"WHERE to_node = :node AND {_due(d)}) to_nodes"
    )
)
MESSAGES: Final = Statement(
    lambda d: f"SELECT {ROW} FROM outbox WHERE {d.among('id', 'ids', INT)} ORDER BY id"
)
GROUP_OF_RUN: Final = Statement(f"SELECT group_id FROM run WHERE {given(RUN_KEY)}")
DONE_WORK: Final = Statement(
    f"DELETE FROM work WHERE {given(ATTEMPT_KEY)} AND take = :take AND taken_by = :node"
)
DELETE: Final = Statement("DELETE FROM outbox WHERE id = :id")
OUTCOME_OF: Final = Statement("SELECT outcome FROM outbox WHERE id = :id")
LOCK: Final = Statement(lambda d: f"SELECT {ROW} FROM outbox WHERE id = :id {d.exclusive}")
POSTPONE: Final = Statement(
    "UPDATE outbox SET tries = :tries, not_before = :not_before, parked = :parked, is_parked = :is_parked "
    "WHERE id = :id"
)
RELEASE: Final = Statement(
    "UPDATE outbox SET tries = 0, not_before = 0, parked = NULL, is_parked = 0 "
    "WHERE id = :id AND is_parked = 1"
)
_TO_NOBODY: Final = (
    "to_node IS NOT NULL AND NOT EXISTS "
    "(SELECT 1 FROM node WHERE node.node_id = outbox.to_node AND node.state <> 'DEAD')"
)
_READ_BY_NOBODY: Final = "is_answered = 1 AND sent_at < :before AND to_node IS NULL"
LOST: Final = Statement(f"DELETE FROM outbox WHERE {_TO_NOBODY}")
UNREAD: Final = Statement(f"DELETE FROM outbox WHERE {_READ_BY_NOBODY}")
LEFT_OVER: Final = Statement(
    f"SELECT 1 FROM (SELECT id FROM outbox WHERE {_TO_NOBODY} LIMIT 1) lost "
    f"UNION ALL SELECT 1 FROM (SELECT id FROM outbox WHERE {_READ_BY_NOBODY} LIMIT 1) unread"
)
PARKED: Final = Listing(ROW, "outbox WHERE is_parked = 1", ["id"])
# Along the ids: an index of what is answered would be read whole, and sorted, to find the first ones.
BACKLOG: Final = Statement(
    "SELECT COUNT(*), MIN(sent_at) FROM "
    "(SELECT sent_at FROM outbox WHERE id > 0 AND is_answered + 0 = 0 ORDER BY id LIMIT :most) seen"
)


class SqlOutbox(Part):
    """See `ports.outbox`."""

    async def send(self, letter: Letter) -> int:
        kind, ref = letter.body.kind, letter.ref
        letter_row(letter, 0)  # what can not be stored is refused before anybody waits

        async def work(tx: Transaction) -> int:
            known = await tx.one(SAME, digest=ref_digest(kind, ref), kind=kind, ref=ref)
            if known is not None:
                number: int = known[0]
                return number
            return (await post(tx, [letter], await tx.now()))[0]

        return await self._db.write(work)

    async def fetch(
        self,
        node: NodeId,
        groups: Collection[int],
        *,
        known: Set[int] = frozenset(),
        launching: Set[RunKey] = frozenset(),
        most: int = 1000,
    ) -> Mail:
        mine = sorted(groups) or [NO_GROUP]

        async def work(tx: Transaction) -> Mail:
            rows = await tx.all(
                WAITING, node=node, groups=mine, reach=most + len(known), launches=most + len(launching)
            )
            runs = sorted(
                run for row in rows if row[0] is None and (run := run_from(row[1:])) not in launching
            )
            ids = sorted(row[0] for row in rows if row[0] is not None and row[0] not in known)
            # What is gone by now is wanted no more; what came meanwhile is not among the ids.
            messages = await _messages(tx, ids[:most])
            return Mail(admitted=tuple(runs[:most]), messages=tuple(messages))

        return await self._look(work)

    async def report(
        self, node: NodeId, result: Result, *, take: int | None = None, answers: int | None = None
    ) -> bool:
        attempt = result.event.attempt

        async def work(tx: Transaction) -> None:
            if await node_state(tx, node) in {None, NodeState.DEAD}:
                raise Undo
            run = await tx.one(GROUP_OF_RUN, **of_run(attempt.run))
            if run is None:
                raise Undo
            if take is not None and not await tx.run(DONE_WORK, **of_attempt(attempt), take=take, node=node):
                raise Undo
            if answers is not None and not await tx.run(DELETE, id=answers):
                raise Undo
            letter = Letter(ref=f"{attempt}:{result.event.launch}", to_group=run[0], body=result)
            await post(tx, [letter], await tx.now())

        try:
            await self._db.write(work)
        except Undo:
            return False
        return True

    async def outcome(self, message_id: int) -> Outcome | None:
        async def work(tx: Transaction) -> Outcome | None:
            row = await tx.one(OUTCOME_OF, id=message_id)
            if row is None:
                raise NotFound(f"there is no message {message_id}")
            return None if row[0] is None else OUTCOME.read(row[0])

        return await self._look(work)

    async def withdraw(self, message_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.run(DELETE, id=message_id) > 0

        return await self._db.write(work)

    async def postpone(self, lease: Lease, message_id: int, reason: str) -> Message:
        async def work(tx: Transaction) -> Message:
            await check(tx, [lease])
            row = await tx.one(LOCK, id=message_id)
            if row is None:
                raise Stale(f"message {message_id} is gone", (lease.group,))
            after = postponed(message(row), await tx.now(), reason)
            await tx.run(
                POSTPONE,
                id=message_id,
                tries=after.tries,
                not_before=after.not_before,
                parked=after.parked,
                is_parked=int(after.parked is not None),
            )
            return (await _messages(tx, [message_id]))[0]

        return await self._db.write(work)

    async def parked_messages(self, cut: Cut) -> Slice[Message]:
        async def work(tx: Transaction) -> Slice[Message]:
            return (await PARKED.page(tx, cut)).of(message)

        return await self._db.read(work)

    async def messages_waiting(self, *, most: int = 10_000) -> tuple[int, int | None]:
        async def work(tx: Transaction) -> tuple[int, int | None]:
            ((count, oldest),) = await tx.all(BACKLOG, most=most)
            return count, oldest

        return await self._db.look(work)

    async def release_message(self, message_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.run(RELEASE, id=message_id) > 0

        return await self._db.write(work)

    async def sweep_outbox(self, acts_before: int) -> int:
        async def look(tx: Transaction) -> bool:
            return await tx.one(LEFT_OVER, before=acts_before) is not None

        async def work(tx: Transaction) -> int:
            return await tx.run(LOST) + await tx.run(UNREAD, before=acts_before)

        return await self._db.write(work) if await self._look(look) else 0


async def _messages(tx: Transaction, ids: Sequence[int]) -> list[Message]:
    return [message(row) for row in await tx.all(MESSAGES, ids=list(ids))] if ids else []
