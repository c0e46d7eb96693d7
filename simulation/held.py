"""Commits of processes that are gone: the network holds them until others have buried their node."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec

from simulation.troubles import Fault, Trouble
from stretto.node.machine import Node
from stretto.ports.groups import NodeState
from stretto.ports.rows import NodeId
from stretto.store.memory.database import Database
from stretto.testing.scheduler import Scheduler

if TYPE_CHECKING:
    from simulation.watch import Touched

HELD: Final = 0.1  # of the worlds; the dice of each kind are its own
TAKEN: Final = 0.1
LATE: Final = 0.15


class HeldCommits:
    """Each is carried out right after the burial: mostly before anybody has claimed what that has freed."""

    def __init__(self) -> None:
        self._held: dict[NodeId, list[Callable[[], None]]] = {}

    def hold(self, node: NodeId, carry_out: Callable[[], None]) -> None:
        self._held.setdefault(node, []).append(carry_out)

    def seen(self, touched: "Touched", scheduler: Scheduler) -> None:
        """Look for burials in a transaction."""
        for node, _, after in touched.of("nodes"):
            if after is not None and after.state is NodeState.DEAD:
                for carry_out in self._held.pop(node, ()):
                    scheduler.after(0, carry_out)


def take_away(db: Database, node: Node) -> None:
    """Somebody frees groups by hand, whose owner lives and commits."""
    with db.transaction():
        for number in [number for number, group in sorted(node.groups.items()) if group.committing]:
            row = db.groups[number]
            db.groups.put(number, msgspec.structs.replace(row, owner=None, generation=row.generation + 1))


def make_troubled_commits(seed: int, slots: int) -> tuple[Fault, ...]:
    """Commits that arrive when they should not any more: of processes that are gone, of some that live and
    have lost the groups, and of those that have given up on them.
    """
    held = _some(f"held commits {seed}", HELD, Trouble.HELD, slots, 2, (100,))
    taken = _some(f"taken groups {seed}", TAKEN, Trouble.TAKEN, slots, 2, (0,))
    late = _some(f"late commits {seed}", LATE, Trouble.LATE, slots, 4, (0,))
    return (*held, *taken, *late)


def _some(
    dice_of: str, share: float, kind: Trouble, slots: int, count: int, lasts: tuple[int, ...]
) -> tuple[Fault, ...]:
    """In a share of the worlds, faults of a kind in some of the first commits."""
    dice = Random(dice_of)  # noqa: S311 - dice, not secrets
    if dice.random() >= share:
        return ()
    nths = dice.sample(range(1, 12), count)
    return tuple(
        Fault(kind=kind, slot=dice.randrange(slots), call="commit", nth=nth, lasts=dice.choice(lasts))
        for nth in nths
    )
