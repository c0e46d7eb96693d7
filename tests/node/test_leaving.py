"""A node that is told to go while its database is away."""

from tests.node.tank import Fish, Tank

from stretto.model.errors import Unavailable
from stretto.testing.faults import Moment, interfered


class Away:
    """A database that can be taken away."""

    def __init__(self) -> None:
        self.tank = Tank(stop_within=5_000)
        self.is_away = False
        self.fish: Fish = self.tank.fish(interfered(self.tank.store, self._interfere))
        self.tank.settle()
        self.other = self.tank.fish()  # its own way to the database stays

    async def _interfere(self, _call: str, moment: Moment) -> None:
        if self.is_away and moment is Moment.BEFORE:
            raise Unavailable("away")

    def stop(self) -> None:
        self.is_away = True
        self.fish.node.stop()


def test_it_goes_all_the_same() -> None:
    """Others will bury it."""
    world = Away()
    world.stop()
    world.tank.advance(5_000)
    assert not world.fish.node.gone
    world.tank.advance(world.tank.settings.trust + world.tank.settings.retry_most)
    assert world.fish.node.gone


def test_it_leaves_in_order_if_the_database_comes_back() -> None:
    world = Away()
    world.stop()
    world.tank.advance(6_000)
    world.is_away = False
    world.tank.advance(10_000)
    assert world.fish.node.gone
    assert [row.node for row in world.tank.do(world.tank.store.nodes())] == [world.other.node.id]
