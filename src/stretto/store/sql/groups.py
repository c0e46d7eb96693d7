"""Nodes, beats and leases."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from stretto.engine.records import RunKey
from stretto.model.errors import Conflict
from stretto.ports.groups import Burial, GroupRow, Heard, NodeRow, NodeState
from stretto.ports.rows import Lease, NodeId
from stretto.ports.suspicion import NONE, REASON, Suspect, Suspicion, after_a_death
from stretto.store.sql.codec import SUSPICION
from stretto.store.sql.database import Transaction
from stretto.store.sql.fence import node_state
from stretto.store.sql.functions import NO_ADVERTISEMENT, put_advertisement
from stretto.store.sql.lengths import NODE_LENGTH, fitting
from stretto.store.sql.part import Part
from stretto.store.sql.rows.keys import of_run
from stretto.store.sql.statement import INT, RUN_KEY, Bulk, Row, Statement, Way, given, ints, texts

NEW_NODE: Final = (*texts("node_id", "state"), *ints("joined_at"), *texts("address"))
JOIN: Final = Statement(lambda d: d.missing("node", NEW_NODE))
FIRST_BEAT: Final = Statement("INSERT INTO beat (node_id, n, expires_at) VALUES (:node, 1, :expires_at)")
BEAT: Final = Statement(
    lambda d: f"UPDATE beat SET n = n + 1, expires_at = {d.clock} + :lasts WHERE node_id = :node"
)
NODES: Final = Statement(
    lambda d: (
        f"SELECT {d.clock}, node.node_id, state, COALESCE(n, last_n), COALESCE(expires_at, expired_at), "
        "joined_at, buried_at, address, COALESCE(version, 0), "
        "(SELECT next_fire_at FROM time_trigger WHERE next_fire_at >= 0 ORDER BY next_fire_at LIMIT 1) "
        "FROM node "
        "LEFT JOIN beat ON beat.node_id = node.node_id "
        "LEFT JOIN advertisement ON advertisement.node_id = node.node_id ORDER BY node.node_id"
    )
)
LOCK_NODE: Final = Statement(lambda d: f"SELECT state FROM node WHERE node_id = :node {d.exclusive}")
LOCK_BEAT: Final = Statement(lambda d: f"SELECT n, expires_at FROM beat WHERE node_id = :node {d.exclusive}")
LEAVING: Final = Statement("UPDATE node SET state = 'LEAVING' WHERE node_id = :node AND state = 'ALIVE'")
DEAD: Final = Statement(
    "UPDATE node SET state = 'DEAD', buried_at = :now, last_n = :n, expired_at = :expires_at "
    "WHERE node_id = :node"
)
NO_BEAT: Final = Statement("DELETE FROM beat WHERE node_id = :node")
NO_NODE: Final = Statement("DELETE FROM node WHERE node_id = :node")

GROUP: Final = "group_id, generation, owner, falls, suspect"
GROUPS: Final = Statement(f"SELECT {GROUP} FROM flow_group ORDER BY group_id")
OWNED: Final = Statement(
    lambda d: f"SELECT {GROUP} FROM flow_group WHERE owner = :node ORDER BY group_id {d.exclusive}"
)
NAMED: Final = Statement(
    lambda d: (
        f"SELECT {GROUP} FROM flow_group WHERE {d.among('group_id', 'groups', INT)} "
        f"ORDER BY group_id {d.exclusive}"
    )
)
FREE: Final = Statement(
    lambda d: f"SELECT {GROUP} FROM flow_group WHERE owner IS NULL ORDER BY group_id LIMIT :most {d.free}"
)
TAKE: Final = Statement(
    lambda d: (
        "UPDATE flow_group SET owner = :node, generation = generation + 1 "
        f"WHERE {d.among('group_id', 'groups', INT)}"
    )
)
GIVE_UP: Final = Statement(
    lambda d: f"UPDATE flow_group SET owner = NULL WHERE {d.among('group_id', 'groups', INT)}"
)
CALM: Final = Statement(
    lambda d: f"UPDATE flow_group SET falls = 0, suspect = NULL WHERE {d.among('group_id', 'groups', INT)}"
)
LET_GO: Final = Statement(
    "UPDATE flow_group SET owner = NULL, generation = generation + 1, falls = falls + :fall "
    "WHERE owner = :node"
)
NOTE: Final = Bulk(way=Way.UPDATE, table="flow_group", key=1, fields=(*ints("group_id"), *texts("suspect")))

NO_MAIL: Final = Statement("DELETE FROM outbox WHERE to_node = :node")
FREE_WORK: Final = Statement("UPDATE work SET taken_by = NULL, since = :now WHERE taken_by = :node")
QUARANTINE: Final = Statement(
    f"UPDATE run SET aside = 1, quarantined = :reason WHERE {given(RUN_KEY)} AND phase <> 'ENDED'"
)
PARK: Final = Statement("UPDATE outbox SET is_parked = 1, parked = :reason WHERE id = :id")


class SqlGroups(Part):
    """See `ports.groups`."""

    async def join(self, node: NodeId, address: str | None = None, functions: Collection[str] = ()) -> Heard:
        fitting(node, NODE_LENGTH, "a node id")

        async def work(tx: Transaction) -> Heard:
            now = await tx.now()
            if not await tx.run(JOIN, node_id=node, state=NodeState.ALIVE, joined_at=now, address=address):
                raise Conflict(f"the node id {node} was used before")
            await tx.run(FIRST_BEAT, node=node, expires_at=now + self._settings.beat_lasts)
            if functions:
                await put_advertisement(tx, node, 1, functions)
            return await _heard(tx)

        return await self._db.write(work)

    async def beat(self, node: NodeId) -> Heard | None:
        async def work(tx: Transaction) -> Heard | None:
            if not await tx.run(BEAT, node=node, lasts=self._settings.beat_lasts):
                return None
            return await _heard(tx)

        return await self._db.apart(work)

    async def bury(self, node: NodeId, beats: int, *, expired: bool = True) -> Burial | None:
        async def work(tx: Transaction) -> Burial | None:
            state = await tx.one(LOCK_NODE, node=node)
            beat = await tx.one(LOCK_BEAT, node=node)
            if state is None or beat is None or beat[0] != beats:
                return None
            now = await tx.now()
            if expired and beat[1] >= now:
                return None
            groups = [_group(row) for row in await tx.all(OWNED, node=node)]
            await tx.run(DEAD, node=node, now=now, n=beat[0], expires_at=beat[1])
            await tx.run(NO_BEAT, node=node)
            await _let_go(tx, node, now, fall=1)
            accused = after_a_death([group.suspicion for group in groups])
            await _note(tx, dict(zip(groups, accused, strict=True)))
            guilty = [each for group in groups for each in group.suspicion.guilty]
            return Burial(
                groups=tuple(group.group for group in groups),
                quarantined=tuple([each async for each in _quarantined(tx, guilty)]),
                parked=tuple([each async for each in _parked(tx, guilty)]),
            )

        return await self._db.write(work)

    async def start_leaving(self, node: NodeId) -> None:
        async def work(tx: Transaction) -> None:
            await tx.run(LEAVING, node=node)

        await self._db.write(work)

    async def leave(self, node: NodeId) -> None:
        async def work(tx: Transaction) -> None:
            await tx.one(LOCK_NODE, node=node)
            await tx.one(LOCK_BEAT, node=node)
            groups = [_group(row) for row in await tx.all(OWNED, node=node)]
            await _let_go(tx, node, await tx.now(), fall=0)
            await _note(tx, {group: group.suspicion.after_a_leave() for group in groups})
            await tx.run(NO_BEAT, node=node)
            await tx.run(NO_NODE, node=node)

        await self._db.write(work)

    async def claim(self, node: NodeId, most: int) -> list[Lease]:
        if most == 0:
            return []

        async def work(tx: Transaction) -> list[Lease]:
            if await node_state(tx, node) is not NodeState.ALIVE:
                return []
            return await _take(tx, node, await tx.all(FREE, most=most))

        return await self._db.write(work)

    async def claim_again(self, node: NodeId, leases: Sequence[Lease]) -> list[Lease]:
        async def work(tx: Transaction) -> list[Lease]:
            return await _take(tx, node, await _mine(tx, node, leases))

        return await self._db.write(work)

    async def give_up(self, node: NodeId, leases: Sequence[Lease]) -> list[int]:
        async def work(tx: Transaction) -> list[int]:
            groups = [row[0] for row in await _mine(tx, node, leases)]
            if groups:
                await tx.run(GIVE_UP, groups=groups)
            return groups

        return await self._db.write(work)

    async def nodes(self) -> list[NodeRow]:
        return list((await self._db.look(_heard)).nodes)

    async def groups(self) -> list[GroupRow]:
        async def work(tx: Transaction) -> list[GroupRow]:
            return [_group(row) for row in await tx.all(GROUPS)]

        return await self._db.look(work)

    async def note_suspects(self, notes: Mapping[Lease, Sequence[Suspect]]) -> frozenset[int]:
        suspects = {lease.group: noted for lease, noted in notes.items()}

        async def work(tx: Transaction) -> frozenset[int]:
            groups = [_group(row) for row in await _current(tx, notes)]
            await _note(tx, {group: group.suspicion.noting(suspects[group.group]) for group in groups})
            return frozenset(suspects).difference(group.group for group in groups)

        return await self._db.write(work)

    async def calm(self, leases: Sequence[Lease]) -> None:
        async def work(tx: Transaction) -> None:
            rows = await _current(tx, leases)
            if rows:
                await tx.run(CALM, groups=[row[0] for row in rows])

        await self._db.write(work)


# ----------------------------------------------------------------------------------------------------- rows
async def _heard(tx: Transaction) -> Heard:
    """With one statement: beats are most of what an idle node says."""
    rows = await tx.all(NODES)
    now, next_fire_at = (rows[0][0], rows[0][-1]) if rows else (0, None)
    return Heard(now=now, nodes=tuple(_node(row) for row in rows), next_fire_at=next_fire_at)


def _node(columns: Row) -> NodeRow:
    _now, node, state, beats, expires_at, joined_at, buried_at, address, advertised, _next = columns
    return NodeRow(
        node=NodeId(node),
        state=NodeState(state),
        beats=beats,
        expires_at=expires_at,
        joined_at=joined_at,
        buried_at=buried_at,
        address=address,
        advertised=advertised,
    )


def _group(columns: Row) -> GroupRow:
    group, generation, owner, falls, suspect = columns
    return GroupRow(
        group=group,
        generation=generation,
        owner=owner,
        falls=falls,
        suspicion=_suspicion(suspect),
    )


def _suspicion(text: str | None) -> Suspicion:
    """What is no object was written before deaths were counted, and is forgotten."""
    return NONE if text is None or not text.startswith("{") else SUSPICION.read(text)


async def _note(tx: Transaction, suspicions: Mapping[GroupRow, Suspicion]) -> None:
    """What is noted and accused in groups from now on. Groups in which nothing changes are not written."""
    changed = [
        (group.group, None if suspicion == NONE else SUSPICION.write(suspicion))
        for group, suspicion in suspicions.items()
        if suspicion != group.suspicion
    ]
    await tx.bulk(NOTE, sorted(changed, key=lambda row: row[0]))


async def _current(tx: Transaction, leases: Iterable[Lease]) -> list[Row]:
    """The rows of groups whose lease is the current one, locked, in the order of the leases."""
    named = {lease.group: lease.generation for lease in leases}
    if not named:
        return []
    rows = {row[0]: row for row in await tx.all(NAMED, groups=sorted(named))}
    return [rows[group] for group, generation in named.items() if rows[group][1] == generation]


async def _mine(tx: Transaction, node: NodeId, leases: Iterable[Lease]) -> list[Row]:
    return [row for row in await _current(tx, leases) if row[2] == node]


async def _take(tx: Transaction, node: NodeId, rows: Sequence[Row]) -> list[Lease]:
    if rows:
        await tx.run(TAKE, node=node, groups=[row[0] for row in rows])
    return [Lease(row[0], row[1] + 1) for row in rows]


async def _let_go(tx: Transaction, node: NodeId, now: int, fall: int) -> None:
    """Nobody owns its groups, nobody reads what was sent to it, and others may have the work that it took."""
    await tx.run(LET_GO, node=node, fall=fall)
    await tx.run(NO_MAIL, node=node)
    await tx.run(FREE_WORK, node=node, now=now)
    await tx.run(NO_ADVERTISEMENT, node=node)


async def _quarantined(tx: Transaction, guilty: Iterable[RunKey | int]) -> Any:
    for each in guilty:
        if isinstance(each, RunKey) and await tx.run(QUARANTINE, reason=REASON, **of_run(each)):
            yield each


async def _parked(tx: Transaction, guilty: Iterable[RunKey | int]) -> Any:
    for each in guilty:
        if isinstance(each, int) and await tx.run(PARK, reason=REASON, id=each):
            yield each
