"""The runs below a run matter as much as it does: permits are given by the `criticality` of the root."""

import pytest
from tests.node.tank import ANN, GOING_ON, Tank
from tests.node.test_permits import limit
from tests.node.test_tree_limit import SUB, publish_all

from stretto.actions.reading.instances import get_run
from stretto.actions.restart import restart
from stretto.engine.records import RunKey
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.paging import Cut
from stretto.ports.permits import LineFor
from stretto.ports.runtime import FatalError

TAGGED = "step: {id: %s, type: Python, tags: [gpu]}"
LOOP = (
    "foreach: {id: loop, params: {loop_params: {type: MAP, value: {i: {type: LONG_ARRAY, value: [1]}}}}, "
    "steps: [{step: {id: %s, type: Python, tags: [gpu]}}]}"
)


def flow(name: str, step: str, criticality: str | None = None) -> str:
    more = "" if criticality is None else f"  criticality: {criticality}\n"
    properties = "properties: {owner: ann, run_strategy: {rule: PARALLEL}}"
    return f"{properties}\nworkflow:\n  id: {name}\n{more}  steps:\n    - {step}\n"


def busy_tank(*steps: str) -> Tank:
    """A node, and a tag of which one permit is there and held."""
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {f"start {step}": [GOING_ON] for step in ("first", *steps)}
    limit(tank.settle(), "gpu", 1)
    tank.start(flow("holder", TAGGED % "first"))
    return tank.advance(2_000)


def in_line(tank: Tank) -> list[tuple[str, str | None]]:
    """Who waits, the first to go first, with the criticality that counts."""
    rows = tank.do(tank.store.permits(LineFor("gpu", Cut(most=9)))).elements
    return [(row.attempt.step_id, row.criticality) for row in rows]


@pytest.mark.parametrize("sync", ["true", "false"])
@pytest.mark.parametrize("step", [TAGGED, LOOP])
@pytest.mark.parametrize(
    ("parent", "own", "counts"),
    [
        ("CRITICAL", None, "CRITICAL"),
        ("CRITICAL", "LOW", "CRITICAL"),
        ("LOW", "HIGH", "LOW"),
        (None, "HIGH", "HIGH"),
        (None, None, None),
    ],
)
def test_a_child_and_its_iterations_wait_with_the_criticality_of_the_parent(
    parent: str | None, own: str | None, counts: str | None, step: str, sync: str
) -> None:
    tank = busy_tank("a")
    publish_all(tank, flow("grand", step % "a", own), flow("child", SUB % ("down", sync, "grand")))
    tank.start(flow("flow", SUB % ("s", sync, "child"), parent))
    assert in_line(tank.advance(2_000)) == [("a", counts)]


def test_the_step_of_a_critical_child_goes_before_one_that_waits_longer() -> None:
    tank = busy_tank("a", "b")
    publish_all(tank, flow("child", TAGGED % "a"))
    tank.start(flow("patient", TAGGED % "b", "HIGH"))
    tank.advance(2_000)
    tank.start(flow("flow", SUB % ("s", "true", "child"), "CRITICAL"))
    assert in_line(tank.advance(2_000)) == [("a", "CRITICAL"), ("b", "HIGH")]


def test_a_child_that_is_restarted_keeps_the_criticality() -> None:
    tank = busy_tank()
    tank.fishes[0].runtime.answers["start c"] = [FatalError(message="broken")]
    publish_all(tank, flow("child", "step: {id: c, type: Python}"))
    tank.start(flow("flow", SUB % ("s", "false", "child"), "HIGH"))
    child = RunKey("child", 1, 1)
    assert tank.advance(2_000).status(child) == "FAILED"
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    tank.do(restart(tank.store, ANN, "child", 1, request, hints=tank))
    assert tank.row(child._replace(run_id=2)).record.criticality == "HIGH"


def test_the_definition_that_a_child_follows_shows_its_own_criticality() -> None:
    tank = busy_tank("a")
    publish_all(tank, flow("child", TAGGED % "a", "LOW"))
    tank.start(flow("flow", SUB % ("s", "true", "child"), "HIGH"))
    shown = tank.advance(2_000).do(get_run(tank.store, ANN, "child", 1, "1")).runtime_workflow
    assert shown.criticality == "LOW"
