"""A run that is ended while it is paused can not be resumed: what is being undone in it goes on."""

from typing import Any

import pytest
from tests.engine.driver import Driver, Work, scripted
from tests.engine.shapes import foreach, numbers, step, workflow

from stretto.engine.effects import StartWork
from stretto.engine.events import RunAction
from stretto.model.actions import StepAction
from stretto.model.step import AnyStep, FailureMode, TypedStep

SLOW = [Work("DONE", 100)]


def undone(name: str, *after: str) -> TypedStep:
    return step(name, *after, compensation=step(f"undo_{name}"))


def failing_iteration(*more: AnyStep, **script: Any) -> Driver:
    """An iteration that has failed and undoes its second step; the first one is next."""
    body = (undone("x", "y"), undone("y", "z"), step("z"))
    loop = foreach("loop", {"i": numbers(1)}, *body)
    runtime = scripted(z=["FATAL_ERROR"], undo_y=SLOW, **script)
    driver = Driver(workflow(loop, *more), runtime=runtime).start().run(0)
    assert calls(driver)[-1] == "undo_y"
    return driver


def calls(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


@pytest.mark.parametrize("action", [RunAction.STOP, RunAction.KILL])
def test_the_undo_of_an_iteration_goes_on(action: RunAction) -> None:
    driver = failing_iteration().act(RunAction.PAUSE).run(1_000)
    assert driver.status == "PAUSED"
    assert driver.act(action).run().status in {"STOPPED", "FAILED"}
    assert calls(driver)[-2:] == ["undo_y", "undo_x"]


def test_so_it_does_if_its_loop_was_being_ended_before_the_pause() -> None:
    driver = failing_iteration().step("loop", StepAction.STOP).act(RunAction.PAUSE).run(1_000)
    assert driver.status == "PAUSED"
    assert driver.act(RunAction.STOP).run().status == "STOPPED"
    assert calls(driver)[-1] == "undo_x"


def test_so_it_does_if_another_step_fails_the_run_at_once() -> None:
    late = step("late", failure_mode=FailureMode.FAIL_IMMEDIATELY)
    driver = failing_iteration(late, late=[Work("FATAL_ERROR", 5_000)]).act(RunAction.PAUSE).run()
    assert driver.status == "FAILED"
    assert calls(driver)[-1] == "undo_x"


def test_a_stop_ends_the_pause_of_a_run_that_is_being_undone_but_not_its_undo() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    driver = Driver(workflow(*steps), runtime=scripted(c=["FATAL_ERROR"], undo_b=SLOW)).start().run(0)
    driver.act(RunAction.PAUSE).run(1_000)
    assert calls(driver)[-1] == "undo_b"
    assert driver.act(RunAction.STOP).run().status == "FAILED"
    assert calls(driver)[-1] == "undo_a"
