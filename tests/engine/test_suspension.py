"""Suspend, resume and shut down single steps, or the steps of a stage."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import noop, step, workflow

from stretto.engine.events import RunAction
from stretto.model.errors import NotFound, WrongState

A = RunAction
STEPS = (step("a", "b"), step("b", "c"), noop("c"), step("x"))


def suspended(*names: str) -> Driver:
    driver = Driver(workflow(*STEPS), runtime=scripted(x=[FOREVER], b=[Work("DONE", 1_000)]))
    return driver.act(A.PAUSE, *names).start().run(0)


def test_a_suspended_step_waits_for_a_user_and_holds_the_run_open() -> None:
    driver = suspended("b", "x")
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "NOT_CREATED", "c": "NOT_CREATED", "x": "NOT_CREATED"}
    assert driver.why("b").reasons[0].cause == "PAUSE"
    assert driver.status == "IN_PROGRESS"
    driver.act(A.RESUME, "b").run(2_000)
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "SUCCEEDED", "x": "NOT_CREATED"}
    driver.runtime = scripted()
    assert driver.act(A.RESUME, "x").run().status == "SUCCEEDED"


def test_a_suspended_step_stays_so_over_a_pause_of_the_run() -> None:
    driver = suspended("b").act(A.PAUSE).act(A.RESUME).run(0)
    assert driver.statuses()["b"] == "NOT_CREATED"
    driver.act(A.PAUSE).act(A.RESUME, "b").run(0)
    assert driver.statuses()["b"] == "NOT_CREATED"
    assert driver.act(A.RESUME).run(0).statuses()["b"] == "RUNNING"


def test_a_suspended_step_is_not_tried_again_until_it_is_resumed() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=["USER_ERROR", "DONE"])).start().run(0)
    driver.act(A.PAUSE, "a").run(3_600_000)
    assert driver.attempt("a").key.number == 1
    assert driver.act(A.RESUME, "a").run().status == "SUCCEEDED"


@pytest.mark.parametrize(("action", "outcome"), [(A.STOP, "STOPPED"), (A.KILL, "FAILED")])
def test_what_is_shut_down_before_it_began_never_begins(action: RunAction, outcome: str) -> None:
    driver = suspended("b").act(action, "b", "c").run(0)
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "NOT_CREATED", "c": "NOT_CREATED", "x": "STARTING"}
    driver.report("x").run()
    assert driver.status == outcome
    driver = Driver(workflow(*STEPS), runtime=scripted(a=[Work("DONE", 500)])).start().act(action, "b").run()
    assert driver.statuses()["b"] == "NOT_CREATED"
    assert driver.status == outcome


def test_what_runs_is_ended_when_it_is_shut_down() -> None:
    driver = suspended("b").act(A.STOP, "x").run(0)
    assert driver.statuses()["x"] == "STOPPED"
    assert driver.status == "IN_PROGRESS"
    assert driver.act(A.RESUME, "b").run().status == "STOPPED"


def test_refusals() -> None:
    driver = suspended("b")
    with pytest.raises(NotFound, match="has no step nobody"):
        driver.act(A.PAUSE, "nobody")
    with pytest.raises(WrongState, match="is not suspended"):
        driver.act(A.RESUME, "x")
    with pytest.raises(WrongState, match="ended already"):
        driver.act(A.PAUSE, "a")
