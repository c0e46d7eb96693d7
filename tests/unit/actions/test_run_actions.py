"""Stop, kill, pause, resume and unblock."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.unit.actions.world import ANN, CHAIN, WORK, World, failing, flow, going_on

from stretto.actions.dequeue import dequeue
from stretto.actions.pause import pause, resume
from stretto.actions.stop import kill, stop
from stretto.actions.stop_workflow import kill_workflow, stop_workflow
from stretto.actions.unblock import unblock, unblock_workflow
from stretto.engine.events import ResultState
from stretto.model.errors import InvalidRequest, NotFound, WrongState
from stretto.model.status import FailureMark, InstanceStatus
from stretto.model.timeline import ActionEvent

LOOP = (
    "foreach: {id: f, params: {loop_params: {value: {i: {value: [1, 2], type: LONG_ARRAY}}, type: MAP}},"
    " steps: [{step: {id: g, type: Python}}]}"
)
ACTIONS: dict[str, Any] = {"stop": stop, "kill": kill, "pause": pause, "resume": resume, "unblock": unblock}


def made(text: str = "", runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text or flow(WORK))
    return world


def ask(world: World, action: str, instance_id: int = 1, run_id: int | None = None, **more: Any) -> Any:
    return world.do(ACTIONS[action](world.store, ANN, more.get("workflow_id", "flow"), instance_id, run_id))


@pytest.mark.parametrize(("action", "status"), [("stop", "STOPPED"), ("kill", "FAILED")])
def test_a_queued_run_ends_at_once(action: str, status: str) -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    world.start()
    answer = ask(world, action, 2)
    assert (answer.completed, answer.workflow_instance_status) == (True, status)
    row = world.row(instance_id=2)
    assert (row.phase, row.record.status) == ("ENDED", status)
    assert "ann" in str(row.record.timeline)


@pytest.mark.parametrize(("action", "status"), [("stop", "STOPPED"), ("kill", "FAILED")])
def test_a_running_one_is_asked(action: str, status: str) -> None:
    world = made()
    world.start()
    world.settle()
    answer = ask(world, action, run_id=1)
    assert (answer.completed, answer.workflow_instance_status) == (False, InstanceStatus.IN_PROGRESS)
    assert world.settle().status() == status
    again = ask(world, action)
    assert again.completed
    assert again.workflow_instance_status == status


@pytest.mark.parametrize("action", ["stop", "kill", "pause", "resume"])
def test_a_run_that_has_ended_is_left_alone(action: str) -> None:
    world = World()
    world.publish(flow(WORK))
    world.start()
    world.settle()
    before = world.row()
    with pytest.raises(WrongState, match=r"flow.*SUCCEEDED"):
        ask(world, action)
    assert world.row() == before


@pytest.mark.parametrize("action", list(ACTIONS))
def test_only_the_newest_run_can_be_meant(action: str) -> None:
    world = made()
    world.start()
    with pytest.raises(InvalidRequest, match=r"run \[7\] as it is not the latest run \[1\]"):
        ask(world, action, run_id=7)
    with pytest.raises(NotFound, match=r"\[flow\]\[9\]"):
        ask(world, action, 9)
    with pytest.raises(NotFound, match="other"):
        ask(world, action, workflow_id="other")


def test_a_paused_run_starts_nothing_new() -> None:
    world = made(flow(*CHAIN))
    world.start()
    world.settle()
    answer = ask(world, "pause")
    assert not answer.completed
    world.settle()
    assert world.status() == "PAUSED"
    world.report("a", ResultState.DONE)
    assert world.steps() == {"a": "SUCCEEDED"}
    with pytest.raises(WrongState, match="PAUSED"):
        ask(world, "pause")
    ask(world, "resume")
    assert world.settle().steps() == {"a": "SUCCEEDED", "b": "RUNNING"}
    with pytest.raises(WrongState, match="IN_PROGRESS"):
        ask(world, "resume")


def test_a_queued_run_is_paused_in_its_place() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    world.start()
    world.start()
    with pytest.raises(WrongState, match="has not begun"):
        world.do(pause(world.store, ANN, "flow", 2, steps=("a",)))
    assert ask(world, "pause", 2).completed
    assert world.row(instance_id=2).record.paused
    with pytest.raises(WrongState):
        ask(world, "pause", 2)
    assert ask(world, "resume", 2).completed
    assert not world.row(instance_id=2).record.paused
    with pytest.raises(WrongState):
        ask(world, "resume", 2)


def test_single_steps_are_held_and_let_go() -> None:
    world = made(flow(*CHAIN))
    world.start()
    world.settle()
    world.do(pause(world.store, ANN, "flow", 1, steps=("b",)))
    world.settle()
    world.report("a", ResultState.DONE)
    assert (world.status(), world.steps()) == ("IN_PROGRESS", {"a": "SUCCEEDED"})
    answer = world.do(resume(world.store, ANN, "flow", 1, steps=("b",)))
    assert "steps [b] of run" in (answer.info or "")
    assert world.settle().steps() == {"a": "SUCCEEDED", "b": "RUNNING"}


def test_iterations_are_asked_of_the_owner_around_them() -> None:
    world = made(flow(LOOP))
    world.start()
    world.settle()
    (inline,) = {key.workflow_id for flow_ in world.flows.values() for key in flow_.tree.live} - {"flow"}
    assert not ask(world, "stop", 1, workflow_id=inline).completed
    world.settle()
    assert world.status(inline, 1) == "STOPPED"
    assert ask(world, "stop", 1, workflow_id=inline).completed
    with pytest.raises(NotFound):
        ask(world, "stop", 9, workflow_id=inline)
    with pytest.raises(InvalidRequest):
        ask(world, "stop", 2, 5, workflow_id=inline)


@pytest.mark.parametrize(("end_all", "status"), [(stop_workflow, "STOPPED"), (kill_workflow, "FAILED")])
def test_a_whole_workflow_is_ended_in_batches(end_all: Callable[..., Any], status: str) -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    for _ in range(23):
        world.start()
    world.settle()
    event = world.do(end_all(world.store, ANN, "flow"))
    assert event.message == "Terminated [22] queued instances and terminating [1] running instances"
    world.settle()
    assert {world.status(instance_id=each) for each in range(1, 24)} == {status}
    with pytest.raises(NotFound):
        world.do(end_all(world.store, ANN, "other"))


def test_unblocking_lets_the_queue_go_on() -> None:
    world = made(flow(WORK, strategy="STRICT_SEQUENTIAL"), failing("a"))
    world.start()
    world.settle()
    world.start()
    assert world.row(instance_id=2).phase == "QUEUED"
    answer = ask(world, "unblock")
    assert (answer.completed, answer.info) == (True, "Unblocked run [flow][1][1]")
    assert world.row().failure is FailureMark.UNBLOCKED
    assert world.row(instance_id=2).phase == "ADMITTED"
    assert "does not block" in (ask(world, "unblock").info or "")
    with pytest.raises(WrongState, match="CREATED"):
        ask(world, "unblock", 2)
    world.settle()
    why = msgspec.structs.replace(ANN, reason="mended by hand")
    event = world.do(unblock_workflow(world.store, why, "flow"))
    assert event.message == "Unblocked [1] failed runs of workflow [flow]"
    event = world.do(unblock_workflow(world.store, why, "flow"))
    assert event.message == "Unblocked [0] failed runs of workflow [flow]"
    (line,) = world.do(world.store.workflow_timeline("flow"))
    assert "Created a new" in line.log
    assert [unblocked_by(world, instance) for instance in (1, 2)] == [
        [("ann", "Unblock run [flow][1][1]")],
        [("ann", "mended by hand")],
    ]


def unblocked_by(world: World, instance_id: int) -> list[tuple[str, str | None]]:
    """Who unblocked a run and why, by its timeline."""
    events = [
        each for each in world.row(instance_id=instance_id).record.timeline if isinstance(each, ActionEvent)
    ]
    assert {each.action for each in events} <= {"UNBLOCK"}
    return [(each.author.name, each.reason) for each in events if each.author is not None]


def test_a_failed_iteration_blocks_nobody() -> None:
    world = made(flow(LOOP), failing("g"))
    world.start()
    world.settle()
    rows = world.do(world.store.loops(world.row().key))
    answer = ask(world, "unblock", 1, workflow_id=rows[0].inline_id)
    assert "does not block" in answer.info


def test_a_queue_that_somebody_else_emptied() -> None:
    world = made(flow(WORK, strategy="SEQUENTIAL"))
    assert world.do(dequeue(world.store, "other")) == 0
    world.start()
    world.start()
    world.settle()
    looks = [world.do(world.store.look_at_queue("flow"))]

    async def stale(_workflow_id: str) -> Any:
        strategy, counts = looks[0]  # type: ignore[misc]
        return strategy, counts._replace(running=0)

    world.swap("look_at_queue", stale)
    assert world.do(dequeue(world.store, "flow")) == 0
