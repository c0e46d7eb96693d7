"""Nodes, beats and leases."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from stretto.engine.records import RunKey
from stretto.model.errors import Conflict
from stretto.ports.groups import BEAT_LASTS, Burial, GroupRow, Heard, NodeRow, NodeState
from stretto.ports.rows import Lease, NodeId, Phase
from stretto.ports.suspicion import NONE, REASON, Suspect, Suspicion, after_a_death
from stretto.store.memory.database import Database, Part
from stretto.store.memory.triggers import next_fire


def is_current(db: Database, lease: Lease) -> bool:
    """Whether a write may name this lease."""
    return db.groups[lease.group].generation == lease.generation


class MemoryGroups(Part):
    """See `ports.groups`."""

    async def join(self, node: NodeId, address: str | None = None, functions: Collection[str] = ()) -> Heard:
        with self._db.transaction() as now:
            if node in self._db.nodes:
                raise Conflict(f"the node id {node} was used before")
            row = NodeRow(
                node=node,
                state=NodeState.ALIVE,
                beats=1,
                expires_at=now + BEAT_LASTS,
                joined_at=now,
                address=address,
                advertised=1 if functions else 0,
            )
            self._db.nodes.put(node, row)
            if functions:
                self._db.advertised.put(node, frozenset(functions))
            return self._heard(now)

    async def beat(self, node: NodeId) -> Heard | None:
        with self._db.transaction() as now:
            row = self._db.nodes.get(node)
            if row is None or row.state is NodeState.DEAD:
                return None
            beaten = msgspec.structs.replace(row, beats=row.beats + 1, expires_at=now + BEAT_LASTS)
            self._db.nodes.put(node, beaten)
            return self._heard(now)

    async def bury(self, node: NodeId, beats: int, *, expired: bool = True) -> Burial | None:
        with self._db.transaction() as now:
            row = self._db.nodes.get(node)
            if row is None or row.state is NodeState.DEAD or row.beats != beats:
                return None
            if expired and row.expires_at >= now:
                return None
            dead = msgspec.structs.replace(row, state=NodeState.DEAD, buried_at=now)
            self._db.nodes.put(node, dead)
            groups = self._owned(node)
            suspicions = after_a_death([group.suspicion for group in groups])
            for group, suspicion in zip(groups, suspicions, strict=True):
                self._free(group, falls=group.falls + 1, suspicion=suspicion)
            self._let_go(node, now)
            guilty = [each for group in groups for each in group.suspicion.guilty]
            return Burial(
                groups=tuple(each.group for each in groups),
                quarantined=tuple(self._quarantine(guilty)),
                parked=tuple(self._park(guilty)),
            )

    async def start_leaving(self, node: NodeId) -> None:
        with self._db.transaction():
            row = self._db.nodes.get(node)
            if row is not None and row.state is NodeState.ALIVE:
                self._db.nodes.put(node, msgspec.structs.replace(row, state=NodeState.LEAVING))

    async def leave(self, node: NodeId) -> None:
        with self._db.transaction() as now:
            for group in self._owned(node):
                self._free(group, falls=group.falls, suspicion=group.suspicion.after_a_leave())
            self._let_go(node, now)
            self._db.nodes.pop(node)

    async def claim(self, node: NodeId, most: int) -> list[Lease]:
        with self._db.transaction():
            row = self._db.nodes.get(node)
            if row is None or row.state is not NodeState.ALIVE:
                return []
            free = [each for each in self._groups() if each.owner is None]
            return [self._take(node, group) for group in free[:most]]

    async def claim_again(self, node: NodeId, leases: Sequence[Lease]) -> list[Lease]:
        with self._db.transaction():
            return [self._take(node, group) for group in self._mine(node, leases)]

    async def give_up(self, node: NodeId, leases: Sequence[Lease]) -> list[int]:
        with self._db.transaction():
            mine = self._mine(node, leases)
            for group in mine:
                self._db.groups.put(group.group, msgspec.structs.replace(group, owner=None))
            return [group.group for group in mine]

    async def nodes(self) -> list[NodeRow]:
        with self._db.transaction():
            return list(self._nodes())

    async def groups(self) -> list[GroupRow]:
        with self._db.transaction():
            return self._groups()

    async def note_suspects(self, notes: Mapping[Lease, Sequence[Suspect]]) -> frozenset[int]:
        with self._db.transaction():
            for lease, suspects in notes.items():
                if is_current(self._db, lease):
                    group = self._db.groups[lease.group]
                    noted = msgspec.structs.replace(group, suspicion=group.suspicion.noting(suspects))
                    self._db.groups.put(lease.group, noted)
            return frozenset(lease.group for lease in notes if not is_current(self._db, lease))

    async def calm(self, leases: Sequence[Lease]) -> None:
        with self._db.transaction():
            for lease in leases:
                if is_current(self._db, lease):
                    group = self._db.groups[lease.group]
                    calmed = msgspec.structs.replace(group, falls=0, suspicion=NONE)
                    self._db.groups.put(lease.group, calmed)

    # ------------------------------------------------------------------------------------------------- rows
    def _heard(self, now: int) -> Heard:
        return Heard(now=now, nodes=self._nodes(), next_fire_at=next_fire(self._db))

    def _nodes(self) -> tuple[NodeRow, ...]:
        return tuple(self._db.nodes[node] for node in sorted(self._db.nodes))

    def _groups(self) -> list[GroupRow]:
        return [self._db.groups[group] for group in sorted(self._db.groups)]

    def _owned(self, node: NodeId) -> list[GroupRow]:
        return [each for each in self._groups() if each.owner == node]

    def _mine(self, node: NodeId, leases: Iterable[Lease]) -> list[GroupRow]:
        rows = (self._db.groups[lease.group] for lease in leases if is_current(self._db, lease))
        return [row for row in rows if row.owner == node]

    def _take(self, node: NodeId, group: GroupRow) -> Lease:
        taken = msgspec.structs.replace(group, owner=node, generation=group.generation + 1)
        self._db.groups.put(group.group, taken)
        return Lease(taken.group, taken.generation)

    def _free(self, group: GroupRow, falls: int, suspicion: Suspicion) -> None:
        freed = msgspec.structs.replace(
            group, owner=None, generation=group.generation + 1, falls=falls, suspicion=suspicion
        )
        self._db.groups.put(group.group, freed)

    def _let_go(self, node: NodeId, now: int) -> None:
        """Nobody reads what was sent to the node, and others may have the pool work that it took."""
        for number in list(self._db.messages_to[node]):
            self._db.messages.pop(number)
        for attempt in list(self._db.work):
            work = self._db.work[attempt]
            if work.taken_by == node:
                self._db.work.put(attempt, msgspec.structs.replace(work, taken_by=None, since=now))
        if node in self._db.advertised:
            self._db.advertised.pop(node)

    def _quarantine(self, guilty: Iterable[RunKey | int]) -> list[RunKey]:
        rows = [self._db.runs.get(each) for each in guilty if isinstance(each, RunKey)]
        found = [row for row in rows if row is not None and row.phase is not Phase.ENDED]
        for row in found:
            aside = msgspec.structs.replace(row, quarantined=REASON)
            self._db.runs.put(row.key, aside)
        return [row.key for row in found]

    def _park(self, guilty: Iterable[RunKey | int]) -> list[int]:
        rows = [self._db.messages.get(each) for each in guilty if isinstance(each, int)]
        found = [row for row in rows if row is not None]
        for row in found:
            aside = msgspec.structs.replace(row, parked=REASON)
            self._db.messages.put(row.id, aside)
        return [row.id for row in found]
