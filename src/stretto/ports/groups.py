"""Nodes, their beats, and the leases by which they own flow groups."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from stretto.engine.records import RunKey
from stretto.model.words import Word
from stretto.ports.rows import Lease, NodeId
from stretto.ports.suspicion import NONE, Suspect, Suspicion

BEAT_LASTS: Final = 10_000  # milliseconds from a beat until others may bury the node


class NodeState(Word):
    """A node as the others see it."""

    ALIVE = "ALIVE"
    LEAVING = "LEAVING"  # it takes no more groups, and hands over those it has
    DEAD = "DEAD"  # buried: nothing that it sends counts any more
    SILENT = "SILENT"  # its beats have stopped, and nobody has buried it yet; never stored, see `state_at`


class NodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A node and its beat. A dead one has none: `beats` stays as it was."""

    node: NodeId
    state: NodeState
    beats: int
    expires_at: int
    joined_at: int
    buried_at: int | None = None
    address: str | None = None
    advertised: int = 0  # the version of the functions that it advertises; 0: it advertises none

    def state_at(self, now: int) -> NodeState:
        """What it is by the database's clock: stored as alive is also a node that was killed just now."""
        is_over = self.state is not NodeState.DEAD and self.expires_at < now
        return NodeState.SILENT if is_over else self.state


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """A flow group. `generation` only grows."""

    group: int
    generation: int = 0
    owner: NodeId | None = None
    falls: int = 0  # how often an owner was buried since somebody held it in peace
    suspicion: Suspicion = NONE  # what its owner is doing, and what owners before it died of


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a beat: the database's clock, all nodes, and when the next time trigger of all is due."""

    now: int
    nodes: tuple[NodeRow, ...]
    next_fire_at: int | None = None


class Burial(msgspec.Struct, frozen=True, kw_only=True):
    """What was freed by a burial, and what was set aside because owners kept dying at it."""

    groups: tuple[int, ...]
    quarantined: tuple[RunKey, ...] = ()
    parked: tuple[int, ...] = ()


class Groups(Protocol):
    """Who owns what. Whoever writes for a group names the generation under which it owns the group; a
    generation is current until the group is taken from its owner, claimed, or claimed again.
    """

    async def join(self, node: NodeId, address: str | None = None, functions: Collection[str] = ()) -> Heard:
        """Register a process: ALIVE, with its first beat and the functions that it advertises. Conflict, if
        the id was ever used.
        """
        ...

    async def beat(self, node: NodeId) -> Heard | None:
        """T1. One beat more, and expiry 10 s from the database's now. None: the node was buried, or left.

        Never waits for a group commit. The caller notes the time before it calls, and trusts its leases for
        8 s from then. A buried node drops everything and joins anew under another id.
        """
        ...

    async def bury(self, node: NodeId, beats: int, *, expired: bool = True) -> Burial | None:
        """T2. Declare a silent node dead, if its beat is still `beats`; with `expired`, only past its expiry.

        In one transaction: the node is DEAD and its beat gone; its groups have no owner, a new generation and
        one fall more; messages to it are deleted, and pool work that it took is free. What the node had
        noted in a group is accused once more; the third time (see `suspicion`) a run that has not ended is
        quarantined, a message parked. If it had noted nothing at all, its groups forget all accusations.
        None: it is alive after all, or was buried by somebody else. Without `expired` the caller knows better
        than the clock: it watched the beat stand still for 20 s, or saw that the process is gone.
        """
        ...

    async def start_leaving(self, node: NodeId) -> None:
        """Tell the others not to count on this node: LEAVING. It still beats and commits. Idempotent."""
        ...

    async def leave(self, node: NodeId) -> None:
        """The last thing a node does: its rows go, its groups are free under new generations (no fall), its
        messages are deleted and its pool work is free. Idempotent.
        """
        ...

    async def claim(self, node: NodeId, most: int) -> list[Lease]:
        """T3. Own up to `most` groups that nobody owns, the lowest first, each under a new generation.

        Two claimers never get the same group, and neither waits for the other. Empty if there is none, or the
        node is not ALIVE. What the owner before committed is there; what it has not can not be any more. Load
        the groups only after this has returned.
        """
        ...

    async def claim_again(self, node: NodeId, leases: Sequence[Lease]) -> list[Lease]:
        """T3 after a commit of unknown outcome: the same groups under new generations.

        It waits until the transaction in doubt has ended, one way or the other. Leases that are not current
        are left out of the answer. Drop the flows of all of them, and load those that are in the answer.
        """
        ...

    async def give_up(self, node: NodeId, leases: Sequence[Lease]) -> list[int]:
        """T4. Let go of groups; the answer names those that were ours. The generation stays until the next
        claim: nobody commits for a group without an owner, because its owner's last commit has ended before.
        """
        ...

    async def nodes(self) -> list[NodeRow]:
        """All nodes, dead ones included, by id. Only reads."""
        ...

    async def groups(self) -> list[GroupRow]:
        """All flow groups, by number. Only reads."""
        ...

    async def note_suspects(self, notes: Mapping[Lease, Sequence[Suspect]]) -> frozenset[int]:
        """The owner of groups with falls says what it is about to do in each, before it does it. That takes
        the place of what it noted there before, which has returned. Idempotent.

        The answer names the groups that somebody else owns now: there nothing is noted.
        """
        ...

    async def calm(self, leases: Sequence[Lease]) -> None:
        """Groups that were held in peace: falls 0, no suspicion. Leases that are not current stay."""
        ...
