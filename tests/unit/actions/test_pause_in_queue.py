"""A queued run that is paused: what it is, who waits for it, and what becomes of it."""

from typing import Any

import pytest
from tests.unit.actions.world import ANN, WORK, World, flow, going_on

from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.pause import pause, resume
from stretto.actions.reading.instances import get_run
from stretto.actions.reading.why import why_run
from stretto.actions.stop import stop
from stretto.actions.stop_workflow import stop_workflow
from stretto.actions.update_properties import update_properties
from stretto.engine.events import ResultState
from stretto.model.errors import WrongState
from stretto.model.properties import PropertiesUpdate, RunStrategy, RunStrategyRule


def queued(strategy: str, runs: int = 3) -> World:
    """The first run goes on, the others are queued, and the second is paused."""
    world = World(going_on)
    world.publish(flow(WORK, strategy=strategy))
    for _ in range(runs):
        world.start()
    world.settle()
    answer = world.do(pause(world.store, ANN, "flow", 2))
    assert (answer.completed, answer.workflow_instance_status) == (True, "PAUSED")
    return world


def statuses(world: World) -> list[str]:
    return [world.row(instance_id=number).record.status.value for number in (1, 2, 3)]


def reasons(world: World, instance_id: int) -> Any:
    found = world.do(why_run(world.store, ANN, "flow", instance_id))
    (blocker,) = found.blockers
    return found.status.value, found.sentence, blocker.kind.value, blocker.ref, blocker.actions


def test_it_is_paused_and_the_next_one_passes_it() -> None:
    world = queued("SEQUENTIAL")
    assert statuses(world) == ["IN_PROGRESS", "PAUSED", "CREATED"]
    assert world.do(get_run(world.store, ANN, "flow", 2, "1")).status == "PAUSED"
    status, sentence, kind, ref, actions = reasons(world, 2)
    assert (status, kind, ref, actions) == ("PAUSED", "pause", "flow/2/1", ("resume", "stop"))
    assert sentence == "run [flow][2][1] is queued, and passed over: the run is paused"
    world.report("a", ResultState.DONE)
    assert statuses(world.settle()) == ["SUCCEEDED", "PAUSED", "IN_PROGRESS"]
    answer = world.do(resume(world.store, ANN, "flow", 2))
    assert (answer.completed, answer.workflow_instance_status) == (True, "CREATED")
    assert statuses(world.settle()) == ["SUCCEEDED", "CREATED", "IN_PROGRESS"]


@pytest.mark.parametrize(
    ("strategy", "means"),
    [
        ("STRICT_SEQUENTIAL", "in its place, so that those behind it wait"),
        ("FIRST_ONLY", "the first, so that new runs are dropped"),
        ("LAST_ONLY", "there until a newer run takes its place"),
        ("SERIAL_LATEST_ONLY", "there until a newer run takes its place"),
        ("PARALLEL", "passed over"),
    ],
)
def test_why_says_what_it_means_under_the_strategy(strategy: str, means: str) -> None:
    world = queued("SEQUENTIAL")
    rule = RunStrategy(rule=RunStrategyRule(strategy))
    world.do(stop(world.store, ANN, "flow", 3))
    world.do(stop(world.store, ANN, "flow", 1))
    world.settle()
    world.do(update_properties(world.store, ANN, "flow", PropertiesUpdate(run_strategy=rule)))
    assert reasons(world, 2)[1] == f"run [flow][2][1] is queued, and {means}: the run is paused"


def test_why_of_a_paused_run_stands_without_its_workflow() -> None:
    world = queued("SEQUENTIAL")

    async def nothing(_workflow_id: str) -> None:
        return None

    world.swap("look_at_queue", nothing)
    assert reasons(world, 2)[1] == "run [flow][2][1] is queued: the run is paused"


@pytest.mark.parametrize("action", [resume, stop])
def test_a_strict_queue_waits_for_it_until_somebody_acts(action: Any) -> None:
    world = queued("STRICT_SEQUENTIAL")
    world.report("a", ResultState.DONE)
    assert statuses(world.settle()) == ["SUCCEEDED", "PAUSED", "CREATED"]
    status, sentence, kind, ref, actions = reasons(world, 3)
    assert (status, kind, ref, actions) == ("CREATED", "strategy", "flow/2/1", ("resume", "stop"))
    assert sentence == (
        "instance 3 run 1 is number 2 in the queue: STRICT_SEQUENTIAL keeps the order, and instance 2 run 1 "
        "before it is paused: resume or stop that one"
    )
    world.do(action(world.store, ANN, "flow", 2))
    ends = {resume: ["IN_PROGRESS", "CREATED"], stop: ["STOPPED", "IN_PROGRESS"]}
    assert statuses(world.settle())[1:] == ends[action]


def test_a_start_says_that_it_waits_for_it() -> None:
    world = queued("STRICT_SEQUENTIAL", runs=2)
    answer = world.start()
    assert answer.detail == "queued, blocked by paused flow/2"
    assert answer.queued is not None
    assert (answer.queued.hold, answer.queued.blocked_by) == ("BEHIND_PAUSED", ("flow/2",))


def test_it_has_not_ended() -> None:
    world = queued("SEQUENTIAL", runs=2)
    world.report("a", ResultState.DONE)
    with pytest.raises(WrongState, match="1 of its runs have not ended"):
        world.do(delete_workflow(world.store, ANN, "flow"))
    event = world.do(stop_workflow(world.store, ANN, "flow"))
    assert "Terminated [1] queued instances" in str(event.message)
    assert world.row(instance_id=2).record.status == "STOPPED"
