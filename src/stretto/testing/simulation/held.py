"""Commits of processes that are gone: the network holds them until others have buried their node."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

from stretto.ports.groups import NodeState
from stretto.ports.rows import NodeId
from stretto.testing.scheduler import Scheduler
from stretto.testing.simulation.troubles import Fault, Trouble

if TYPE_CHECKING:
    from stretto.testing.simulation.watch import Touched

SHARE: Final = 0.1  # of the worlds


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


def make_held_commits(seed: int, slots: int) -> tuple[Fault, ...]:
    """In some worlds a process crashes with a commit on its way. The dice are its own."""
    dice = Random(f"held commits {seed}")  # noqa: S311 - dice, not secrets
    if dice.random() >= SHARE:
        return ()
    nths = dice.sample(range(1, 12), 2)
    return tuple(
        Fault(kind=Trouble.HELD, slot=dice.randrange(slots), call="commit", nth=nth, lasts=100)
        for nth in nths
    )
