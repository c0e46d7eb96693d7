"""Some steps of a run are stopped, killed, held and let go, by their names or by the name of their stage."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.actions.test_restart import LOOP, again, inline_of
from tests.unit.actions.world import ANN, CHAIN, World, failing, flow, going_on

from stretto.actions.act_on_steps import Chosen, kill_steps, pause_steps, resume_steps, stop_steps
from stretto.engine.events import ResultState
from stretto.model.errors import InvalidRequest, NotFound, TimedOut, WrongState

STAGES = """
properties: {owner: ann, run_strategy: {rule: PARALLEL}}
workflow:
  id: flow
  stages:
    - {id: build, steps: [{step: {id: compile, type: Python}}, {step: {id: lint, type: Python}}]}
    - {id: ship, steps: [{step: {id: europe, type: Python}}, {step: {id: asia, type: Python}}]}
"""
ACTIONS: dict[str, Callable[..., Any]] = {
    "stop": stop_steps,
    "kill": kill_steps,
    "pause": pause_steps,
    "resume": resume_steps,
}


def made(text: str, runtime: Any = going_on) -> World:
    world = World(runtime)
    world.publish(text)
    world.start()
    return world.settle()


def ask(world: World, verb: str, *steps: str, stage: str | None = None, **more: Any) -> Any:
    place = (more.pop("workflow_id", "flow"), more.pop("instance_id", 1))
    chosen = Chosen(steps=steps, stage=stage)
    return world.do(ACTIONS[verb](world.store, ANN, *place, chosen, **more))


@pytest.mark.parametrize(("verb", "status"), [("stop", "STOPPED"), ("kill", "FATALLY_FAILED")])
def test_a_step_is_ended_and_the_others_go_on(verb: str, status: str) -> None:
    world = made(flow("{id: a, type: Python}", "{id: b, type: Python}"))
    answer = ask(world, verb, "a", patience=world.patience())
    assert answer.info == f"User [ann] asked to {verb} steps [a] of run [flow][1][1]"
    assert (answer.workflow_run_id, answer.completed) == (1, False)
    assert world.settle().steps() == {"a": status, "b": "RUNNING"}


def test_a_step_that_has_not_begun_never_will() -> None:
    world = made(flow(*CHAIN))
    ask(world, "stop", "c")
    world.settle()
    world.report("a", ResultState.DONE)
    world.report("b", ResultState.DONE)
    assert (world.status(), world.steps()) == ("STOPPED", {"a": "SUCCEEDED", "b": "SUCCEEDED"})


def test_a_stage_is_held_and_let_go() -> None:
    world = made(STAGES)
    answer = ask(world, "pause", stage="ship")
    assert "asked to pause stage [ship] of run" in (answer.info or "")
    world.settle()
    world.report("compile", ResultState.DONE)
    world.report("lint", ResultState.DONE)
    assert set(world.steps()) == {"compile", "lint", "build.done"}
    ask(world, "resume", stage="ship", patience=world.patience())
    assert world.steps()["europe"] == world.steps()["asia"] == "RUNNING"


def test_a_stage_is_stopped() -> None:
    world = made(STAGES)
    ask(world, "stop", stage="build")
    world.settle()
    assert world.steps() == {"compile": "STOPPED", "lint": "STOPPED"}
    assert world.status() == "STOPPED"


def test_steps_of_an_iteration() -> None:
    world = made(flow(LOOP))
    ask(world, "stop", "g", workflow_id=inline_of(world), instance_id=2)
    world.settle()
    assert world.steps(inline_of(world), 2) == {"g": "STOPPED"}
    assert world.steps(inline_of(world), 1) == {"g": "RUNNING"}


@pytest.mark.parametrize(
    ("chosen", "message", "hint"),
    [
        (Chosen(steps=("a", "x")), r"\[flow\]\[1\]\[1\] has no step \[x\]", "its steps are a, b, c"),
        (Chosen(stage="x"), r"has no stage \[x\]", "its workflow has no stages"),
    ],
)
def test_what_is_not_there_is_named(chosen: Chosen, message: str, hint: str) -> None:
    world = made(flow(*CHAIN))
    with pytest.raises(NotFound, match=message) as caught:
        world.do(pause_steps(world.store, ANN, "flow", 1, chosen))
    assert caught.value.hint == hint


def test_stages_and_loops_are_pointed_to() -> None:
    with pytest.raises(NotFound) as caught:
        ask(made(STAGES), "stop", stage="test")
    assert caught.value.hint == "its stages are build, ship"
    with pytest.raises(NotFound) as caught:
        ask(made(flow(LOOP)), "stop", "g")
    assert caught.value.hint == "it is inside a loop: name an iteration of that loop"


def test_a_restart_may_not_cover_them() -> None:
    world = made(STAGES, failing("europe", "asia"))
    world.runtime = going_on
    again(world)
    world.settle()
    with pytest.raises(WrongState, match=r"covers no step of the stage \[build\]"):
        ask(world, "stop", stage="build")
    with pytest.raises(NotFound) as caught:
        ask(world, "stop", "lint")
    assert caught.value.hint == "it is a restart that does not cover it"
    ask(world, "stop", stage="ship")
    assert world.settle().status() == "STOPPED"


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(steps=("a",), stage="s")])
def test_it_must_be_clear_which(chosen: Chosen) -> None:
    world = made(flow(*CHAIN))
    with pytest.raises(InvalidRequest, match="by their names, or by the name of a stage"):
        world.do(stop_steps(world.store, ANN, "flow", 1, chosen))


def test_only_a_run_that_goes_on_is_asked() -> None:
    world = made(flow(*CHAIN, strategy="SEQUENTIAL"), failing("a"))
    with pytest.raises(WrongState, match="it has ended FAILED"):
        ask(world, "pause", "a")
    world.runtime = going_on
    world.start()
    world.settle()
    world.start()
    with pytest.raises(WrongState, match="it has not begun"):
        ask(world, "pause", "a", instance_id=3)
    with pytest.raises(NotFound, match=r"\[flow\]\[9\]"):
        ask(world, "pause", "a", instance_id=9)


def test_the_owner_refuses_what_can_not_be() -> None:
    world = made(flow(*CHAIN))
    with pytest.raises(WrongState, match="b is not suspended"):
        ask(world, "resume", "b", patience=world.patience())
    patience = world.patience(100)
    world.clock.meanwhile = None
    with pytest.raises(TimedOut):
        ask(world, "pause", "b", patience=patience)
    with pytest.raises(TimedOut):
        ask(world, "stop", "a", patience=patience)
    assert world.settle().steps() == {"a": "STOPPED"}  # the end comes all the same, the rest is taken back
    assert not world.row().record.suspended
