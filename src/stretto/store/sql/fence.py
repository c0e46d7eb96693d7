"""Whether a write may name a lease."""

from collections.abc import Collection, Iterable
from typing import Final

from stretto.ports.failures import Fenced
from stretto.ports.groups import NodeState
from stretto.ports.rows import Lease, NodeId
from stretto.store.sql.database import Transaction
from stretto.store.sql.statement import INT, Statement

GENERATIONS: Final = Statement(
    lambda d: (
        f"SELECT group_id, generation, {d.clock} FROM flow_group WHERE {d.among('group_id', 'groups', INT)} "
        f"ORDER BY group_id {d.shared}"
    )
)
NODE_STATE: Final = Statement(lambda d: f"SELECT state FROM node WHERE node_id = :node {d.shared}")


async def fenced(tx: Transaction, leases: Iterable[Lease]) -> frozenset[int]:
    """The groups whose lease is not the current one; those of the others can not change before this ends."""
    return frozenset(lease.group for lease in await outdated(tx, leases))


async def fenced_now(tx: Transaction, leases: Iterable[Lease]) -> tuple[frozenset[int], int]:
    """The same, and the time: one way to the database less for those who need both."""
    lost, now = await _outdated(tx, leases)
    return frozenset(lease.group for lease in lost), await tx.now() if now is None else now


async def outdated(tx: Transaction, leases: Iterable[Lease]) -> frozenset[Lease]:
    """The leases that are not the current ones; of one group there may be several."""
    lost, _now = await _outdated(tx, leases)
    return lost


async def _outdated(tx: Transaction, leases: Iterable[Lease]) -> tuple[frozenset[Lease], int | None]:
    """With the time at which that was so, if there is one of the groups."""
    named = sorted(leases)
    if not named:
        return frozenset(), None
    rows = await tx.all(GENERATIONS, groups=[lease.group for lease in named])
    generations = {group: generation for group, generation, _now in rows}
    lost = frozenset(lease for lease in named if generations.get(lease.group) != lease.generation)
    return lost, rows[-1][2] if rows else None


async def check(tx: Transaction, leases: Collection[Lease]) -> None:
    """Refuse a write for a group that somebody else has."""
    lost = await fenced(tx, leases)
    if lost:
        raise Fenced(lost)


async def node_state(tx: Transaction, node: NodeId) -> NodeState | None:
    """How the others see a node; nobody buries it before this ends. None: unknown."""
    row = await tx.one(NODE_STATE, node=node)
    return None if row is None else NodeState(row[0])
