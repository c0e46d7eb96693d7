"""Row 91 over a tree of runs on a node: the pause of a parent reaches its children, wherever they are."""

from typing import Any

import pytest
from tests.node.tank import ANN, GOING_ON, Tank, work
from tests.node.test_tree_limit import publish_all

from stretto.actions.pause import pause, resume
from stretto.actions.stop import stop
from stretto.engine import effects as todo
from stretto.engine.records import RunKey
from stretto.model.errors import WrongState
from stretto.node.asks import Carry
from stretto.ports.runtime import Done

CHILD = RunKey("child", 1, 1)
SUB = (
    "subworkflow: {id: s, params: {subworkflow_id: {type: STRING, value: child}, "
    "subworkflow_version: {type: STRING, value: latest}}}"
)


def flow(*steps: str, name: str = "flow", strategy: str = "PARALLEL") -> str:
    lines = "\n".join(f"    - {step}" for step in steps)
    properties = f"properties: {{owner: ann, run_strategy: {{rule: {strategy}}}}}"
    return f"{properties}\nworkflow:\n  id: {name}\n  steps:\n{lines}\n"


def tree(strategy: str = "PARALLEL") -> tuple[Tank, Any]:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {"start a": [GOING_ON]}
    publish_all(
        tank.settle(),
        flow(f"step: {work('a', 'b')}", "step: {id: b, type: Python}", name="child", strategy=strategy),
    )
    return tank, fish


def act(tank: Tank, action: Any, run: RunKey) -> None:
    tank.do(action(tank.store, ANN, run.workflow_id, run.instance_id, hints=tank))
    tank.advance(2_000)


def test_row_91_a_child_is_held_and_goes_on_with_its_parent() -> None:
    tank, fish = tree()
    run = tank.start(flow(SUB))
    tank.advance(2_000)
    act(tank, pause, run)
    assert (tank.status(run), tank.status(CHILD)) == ("PAUSED", "PAUSED")
    fish.report(CHILD, "a", Done())
    tank.advance(60_000)
    assert tank.steps(CHILD) == {"a": "SUCCEEDED"}
    with pytest.raises(WrongState, match=r"run \[flow\]\[1\]\[1\] is paused, and holds it"):
        act(tank, resume, CHILD)
    act(tank, resume, run)
    assert (tank.status(run), tank.status(CHILD)) == ("SUCCEEDED", "SUCCEEDED")


def test_row_91_a_child_in_its_queue_is_held_there() -> None:
    tank, fish = tree("SEQUENTIAL")
    before = tank.start_again("child")  # it has the only slot
    run = tank.start(flow(SUB))
    tank.advance(2_000)
    child = CHILD._replace(instance_id=2)
    assert tank.status(child) == "CREATED"
    act(tank, pause, run)
    assert (tank.status(child), tank.row(child).phase) == ("PAUSED", "QUEUED")
    fish.report(before, "a", Done())
    tank.advance(60_000)
    assert (tank.status(before), tank.row(child).phase) == ("SUCCEEDED", "QUEUED")
    act(tank, resume, run)
    assert (tank.status(child), tank.steps(child)) == ("IN_PROGRESS", {"a": "RUNNING"})


def test_row_91_a_child_that_starts_while_its_parent_is_paused_begins_nothing() -> None:
    """The node dies with the start in its hands; whoever takes the run over asks for it again."""
    tank, fish = tree()
    fish.held = lambda ask: isinstance(ask, Carry) and isinstance(ask.effect, todo.StartChild)
    run = tank.start(flow(SUB))
    tank.advance(2_000)
    act(tank, pause, run)
    tank.crash(fish)
    heir = tank.fish()
    heir.runtime.answers = {"start a": [GOING_ON]}
    tank.advance(60_000)
    assert (tank.status(run), tank.status(CHILD), tank.steps(CHILD)) == ("PAUSED", "PAUSED", {})
    act(tank, resume, run)
    assert (tank.status(CHILD), tank.steps(CHILD)) == ("IN_PROGRESS", {"a": "RUNNING"})


@pytest.mark.parametrize("strategy", ["PARALLEL", "SEQUENTIAL"])
def test_row_91_a_paused_parent_is_stopped_with_its_child(strategy: str) -> None:
    tank, _fish = tree(strategy)
    if strategy == "SEQUENTIAL":
        tank.start_again("child")
    run = tank.start(flow(SUB))
    tank.advance(2_000)
    act(tank, pause, run)
    act(tank, stop, run)
    child = CHILD._replace(instance_id=2 if strategy == "SEQUENTIAL" else 1)
    assert (tank.status(run), tank.status(child)) == ("STOPPED", "STOPPED")


# ------------------------------------------------------------- a pause that ends with the node that is asked
def paused_by_its_node(tank: Tank, fish: Any, run: RunKey) -> None:
    tank.do(pause(tank.store, ANN, *run, node=fish.node.id, hints=tank))


def test_a_pause_that_a_dead_node_did_not_decide_holds_nobody() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {"start a": [GOING_ON]}
    tank.settle()
    run = tank.start(flow(f"step: {work('a', 'b')}", "step: {id: b, type: Python}"))
    tank.advance(2_000)
    tank.crash(fish)
    paused_by_its_node(tank, fish, run)
    tank.fish()
    tank.advance(600_000)
    assert tank.status(run) == "SUCCEEDED"
    assert not list(tank.database.messages)


def test_a_pause_by_its_node_holds_a_run_until_it_is_resumed() -> None:
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {"start a": [GOING_ON]}
    tank.settle()
    run = tank.start(flow(f"step: {work('a', 'b')}", "step: {id: b, type: Python}"))
    tank.advance(2_000)
    paused_by_its_node(tank, fish, run)
    tank.settle()
    assert tank.status(run) == "PAUSED"
    tank.crash(fish)
    tank.fish()
    tank.advance(600_000)
    assert (tank.status(run), list(tank.database.messages)) == ("PAUSED", [])
    act(tank, resume, run)
    tank.advance(600_000)
    assert tank.status(run) == "SUCCEEDED"


def test_a_node_that_looks_after_the_run_no_longer_does_not_pause_it() -> None:
    tank = Tank()
    fish = tank.fish()
    tank.settle()
    other = tank.fish()
    tank.advance(60_000)
    fish.runtime.answers = other.runtime.answers = {"start a": [GOING_ON]}
    run = tank.start(flow(f"step: {work('a')}"))
    tank.advance(2_000)
    owner, stranger = (fish, other) if tank.row(run).group in fish.node.groups else (other, fish)
    paused_by_its_node(tank, stranger, run)
    tank.advance(60_000)
    assert (tank.status(run), list(tank.database.messages)) == ("IN_PROGRESS", [])
    assert tank.row(run).group in owner.node.groups
