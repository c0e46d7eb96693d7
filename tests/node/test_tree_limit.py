"""`instance_step_concurrency` of the root limits the leaf steps of the whole tree of runs below it."""

import pytest
from tests.node.tank import ANN, GOING_ON, Fish, Tank

from stretto.actions.publish import publish
from stretto.actions.reading.instances import get_run
from stretto.actions.restart import restart
from stretto.definition.parse import Options, load
from stretto.engine.records import RunKey
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.run_snapshot import read_attempt
from stretto.ports.runtime import Done, FatalError

LEAF = "step: {id: %s, type: Python}"
SUB = (
    "subworkflow: {id: %s, sync: %s, params: {subworkflow_id: {type: STRING, value: %s}, "
    "subworkflow_version: {type: STRING, value: latest}}}"
)
LOOP = (
    "foreach: {id: loop, concurrency: 9, params: {loop_params: {type: MAP, value: "
    "{i: {type: LONG_ARRAY, value: [1, 2, 3, 4]}}}}, steps: [{step: {id: each, type: Python}}]}"
)


def publish_all(tank: Tank, *texts: str) -> None:
    for text in texts:
        (definition,) = load(text, Options())
        tank.do(publish(tank.store, ANN, definition, hints=tank))


def flow(*steps: str, name: str = "flow", limit: int | None = None) -> str:
    lines = "\n".join(f"    - {step}" for step in steps)
    more = "" if limit is None else f"  instance_step_concurrency: {limit}\n"
    properties = "properties: {owner: ann, run_strategy: {rule: PARALLEL}}"
    return f"{properties}\nworkflow:\n  id: {name}\n  steps:\n{lines}\n{more}"


def held_tank(*steps: str) -> tuple[Tank, Fish]:
    """A node whose leaf steps go on until the test ends them."""
    tank = Tank()
    fish = tank.fish()
    fish.runtime.answers = {f"start {step}": [GOING_ON] for step in steps}
    return tank.settle(), fish


def running(tank: Tank, fish: Fish) -> list[tuple[str, str]]:
    """Leaf steps at work: the workflow of each and its id."""
    return sorted(
        (key.run.workflow_id.split("_")[-1][:5], key.step_id)
        for key in fish.runtime.contexts
        if tank.do(read_attempt(tank.store, key)).record.status == "RUNNING"
    )


def end_one(tank: Tank, fish: Fish) -> None:
    key = next(
        key
        for key in fish.runtime.contexts
        if tank.do(read_attempt(tank.store, key)).record.status == "RUNNING"
    )
    fish.report(key.run, key.step_id, Done())
    tank.advance(2_000)


@pytest.mark.parametrize("own", [None, 1, 9])
@pytest.mark.parametrize("sync", ["true", "false"])
def test_children_and_iterations_share_the_limit_of_the_root(own: int | None, sync: str) -> None:
    """Twelve leaf steps in five levels of runs. What the definition of a child says does not count."""
    tank, fish = held_tank("a", "c", "d", "each")
    publish_all(
        tank,
        flow(LEAF % "d", LOOP, name="grand", limit=own),
        flow(LEAF % "c", SUB % ("down", sync, "grand"), name="child", limit=own),
    )
    tank.start(flow(LEAF % "a", SUB % ("s", sync, "child"), SUB % ("t", sync, "child"), limit=3))
    seen = []
    for _ in range(13):
        seen.append(len(running(tank.advance(2_000), fish)))
        if seen[-1]:
            end_one(tank, fish)
    assert max(seen) == 3
    assert len(fish.runtime.contexts) == 1 + 2 * (1 + 1 + 4)
    assert not running(tank, fish)


@pytest.mark.parametrize("own", [None, 1])
def test_a_root_without_a_limit_has_children_without_a_limit(own: int | None) -> None:
    tank, fish = held_tank("c1", "c2", "c3")
    publish_all(tank, flow(LEAF % "c1", LEAF % "c2", LEAF % "c3", name="child", limit=own))
    tank.start(flow(SUB % ("s", "true", "child")))
    assert len(running(tank.advance(2_000), fish)) == 3


def test_the_definition_of_a_root_counts_again_when_it_is_started_by_itself() -> None:
    tank, fish = held_tank("c1", "c2", "c3")
    run = tank.start(flow(LEAF % "c1", LEAF % "c2", LEAF % "c3", name="child", limit=2))
    assert len(running(tank.advance(2_000), fish)) == 2
    assert tank.row(run).record.tree_limit is None


def test_a_child_that_is_restarted_keeps_the_limit() -> None:
    """An asynchronous child is restarted by itself, and becomes no root by that."""
    tank, fish = held_tank("c2", "c3")
    fish.runtime.answers["start c1"] = [FatalError(message="broken")]
    publish_all(tank, flow(LEAF % "c1", name="child"))
    tank.start(flow(SUB % ("s", "false", "child"), limit=1))
    child = RunKey("child", 1, 1)
    tank.advance(2_000)
    assert (tank.status(child), tank.row(child).record.tree_limit) == ("FAILED", 1)
    request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_BEGINNING)
    tank.do(restart(tank.store, ANN, "child", 1, request, hints=tank))
    again = child._replace(run_id=2)
    assert tank.row(again).record.tree_limit == 1


def test_the_definition_that_a_child_follows_shows_the_limit() -> None:
    tank, fish = held_tank("c", "each")
    publish_all(tank, flow(LEAF % "c", LOOP, name="child", limit=9))
    tank.start(flow(SUB % ("s", "true", "child"), limit=3))
    tank.advance(2_000)
    (inline,) = {
        key.run for key in fish.runtime.contexts if key.step_id == "each" and key.run.instance_id == 1
    }
    view = tank.do(get_run(tank.store, ANN, inline.workflow_id, 1, "1"))
    assert view.runtime_workflow.instance_step_concurrency == 3
    view = tank.do(get_run(tank.store, ANN, "child", 1, "1"))
    assert view.runtime_workflow.instance_step_concurrency == 3
    assert len(running(tank, fish)) == 3
