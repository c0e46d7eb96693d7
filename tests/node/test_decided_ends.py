"""A step that is asked to end lacks a value to decide about its successors, and nobody can fetch it."""

import pytest
from tests.node.tank import ANN, GOING_ON, Tank, flow, work

from stretto.actions.skip_step import skip_step
from stretto.engine.effects import Fetch
from stretto.node.asks import Carry

LATE = "params.nextUniqueId() > 0"


@pytest.mark.parametrize("kind", ["Python", "Shell"])
def test_a_skip_whose_edges_can_not_be_decided_fails_the_step(kind: str) -> None:
    tank = Tank()
    fish = tank.fish()
    runtime = fish.runtime if kind == "Python" else fish.far
    runtime.answers["start a"] = [GOING_ON]
    runtime.answers["execute a"] = [GOING_ON]
    tank.settle()
    late = f"{{id: a, type: {kind}, transition: {{successors: {{b: '{LATE}'}}}}}}"
    run = tank.start(flow(late, work("b")))
    tank.advance(1_000)
    fish.held = lambda ask: isinstance(ask, Carry) and isinstance(ask.effect, Fetch)
    tank.do(skip_step(tank.store, ANN, "flow", 1, "a", hints=tank))
    tank.advance(3_000)
    (ask,), fish.holding = fish.holding, []
    fish.held = lambda _ask: False
    fish.node.failed(ask, ValueError("nobody can fetch it"))
    tank.advance(3_000)
    assert tank.status(run) == "FAILED"
    assert tank.steps(run)["a"] == "INTERNALLY_FAILED"
