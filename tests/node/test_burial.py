"""When a node is declared dead: never while it trusts its leases, wherever the database's clock jumps."""

import pytest
from tests.node.tank import Tank

from stretto.node.asks import Beat
from stretto.ports.groups import NodeState


@pytest.mark.parametrize("jump", [0, 60_000, 3_600_000, -60_000])
@pytest.mark.parametrize("after", [0, 1_000, 1_900])
def test_nobody_is_buried_who_still_trusts_its_leases(jump: int, after: int) -> None:
    tank = Tank()
    silent, _other = tank.fish(), tank.fish()
    tank.advance(20_000 + after)
    me = silent.node.id
    silent.held = lambda ask: isinstance(ask, Beat)  # it runs, and its beats do not arrive
    tank.clock.ahead += jump
    for _ in range(300):
        tank.advance(100)
        state = next((row.state for row in tank.do(tank.store.nodes()) if row.node == me), NodeState.DEAD)
        if state is NodeState.DEAD:
            break
        assert silent.node.id == me
    else:
        raise AssertionError("it was never buried")
    assert not silent.node._context.trusted
