"""When a run has failed, what it completed is undone, in reverse and one by one."""

from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import computed, foreach, noop, number, numbers, result, step, workflow

from stretto.engine.effects import StartWork
from stretto.engine.events import RunAction
from stretto.engine.machine.undo import UNDO
from stretto.engine.records import Compensation
from stretto.model.step import FailureMode, TypedStep


def undone(name: str, *after: str, **fields: Any) -> TypedStep:
    back = step(f"undo_{name}", params={"v": computed(f"return params.getFromStep('{name}', 'v');")})
    return step(name, *after, compensation=back, params={"v": number(0)}, **fields)


def calls(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


def test_completed_steps_are_undone_in_reverse_with_what_they_left() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c", "d"), undone("d"))
    script = scripted(
        a=[Work("DONE", 1_000, outputs={"v": result(7)})], b=[Work("DONE", 1_000)], c=["FATAL_ERROR"]
    )
    driver = Driver(workflow(*steps), runtime=script).finish()
    assert calls(driver) == ["a", "b", "c", "undo_b", "undo_a"]
    (back,) = [
        each for each in driver.effects if isinstance(each, StartWork) and each.attempt.step_id == "undo_a"
    ]
    assert back.params["v"].evaluated_result == 7
    assert driver.status == "FAILED"
    assert driver.flow.run.compensation is Compensation.COMPENSATED
    assert driver.lines()[-2:] == ["Compensating 2 steps", "Compensated"]


def test_the_next_is_undone_only_when_the_one_before_is() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    script = scripted(c=["FATAL_ERROR"], undo_b=[Work("DONE", 9_000)])
    driver = Driver(workflow(*steps), runtime=script).start().run(8_000)
    assert driver.status == "IN_PROGRESS"
    assert driver.flow.run.compensation is Compensation.RUNNING
    assert calls(driver)[-1] == "undo_b"
    assert driver.run().flow.run.compensation is Compensation.COMPENSATED


def test_a_compensation_that_fails_is_for_a_person_to_look_at() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    driver = Driver(workflow(*steps), runtime=scripted(c=["FATAL_ERROR"], undo_b=["FATAL_ERROR"])).finish()
    assert calls(driver) == ["a", "b", "c", "undo_b"]
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.status == "FAILED"


@pytest.mark.parametrize("mode", [FailureMode.FAIL_IMMEDIATELY, FailureMode.FAIL_AFTER_RUNNING])
def test_what_still_runs_ends_first(mode: FailureMode) -> None:
    steps = (undone("a"), step("b"), step("c", failure_mode=mode))
    script = scripted(b=[Work("DONE", 5_000)], c=[Work("FATAL_ERROR", 1_000)])
    driver = Driver(workflow(*steps), runtime=script).finish()
    assert calls(driver) == ["a", "b", "c", "undo_a"]


@pytest.mark.parametrize("state", ["DONE", "STOPPED", "TIMED_OUT"])
def test_only_a_failed_run_is_undone(state: str) -> None:
    driver = Driver(workflow(undone("a", "b"), step("b")), runtime=scripted(b=[state])).finish()
    assert driver.flow.run.compensation is None


def test_a_run_in_which_nothing_can_be_undone_just_fails() -> None:
    driver = Driver(workflow(noop("a", "b"), step("b")), runtime=scripted(b=["FATAL_ERROR"])).finish()
    assert driver.flow.run.compensation is None


def test_a_run_can_be_stopped_and_paused_while_it_is_undone() -> None:
    steps = (undone("a", "b"), step("b"))
    driver = Driver(workflow(*steps), runtime=scripted(b=["FATAL_ERROR"], undo_a=[FOREVER])).start().run(0)
    assert list(driver.flow.children[UNDO]) == [1]
    driver.act(RunAction.PAUSE).act(RunAction.RESUME).run(0)
    driver.act(RunAction.STOP).run()
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.status == "FAILED"


def test_an_iteration_is_undone_by_itself() -> None:
    loop = foreach("l", {"i": numbers(1, 2)}, undone("a", "b"), step("b"))

    def fail(each: StartWork) -> Work:
        return Work(
            "FATAL_ERROR" if each.attempt.step_id == "b" and each.attempt.run.instance_id == 2 else "DONE"
        )

    driver = Driver(workflow(loop), runtime=fail).finish()
    assert calls(driver).count("undo_a") == 1
    assert [run.compensation for run in driver.iterations("l")] == [None, Compensation.COMPENSATED]


def test_a_run_that_is_killed_in_a_pause_is_undone_all_the_same() -> None:
    driver = (
        Driver(workflow(undone("a", "b"), step("b")), runtime=scripted(a=[Work("DONE", 500)])).start().run(0)
    )
    driver.act(RunAction.PAUSE).run(500).act(RunAction.KILL).run()
    assert driver.flow.run.compensation is Compensation.COMPENSATED
    assert driver.status == "FAILED"


def test_undoing_a_run_that_was_killed_can_be_stopped_too() -> None:
    driver = (
        Driver(workflow(undone("a"), step("b")), runtime=scripted(b=[FOREVER], undo_a=[FOREVER]))
        .start()
        .run(0)
    )
    driver.act(RunAction.KILL).run(1_000)
    assert driver.flow.children[UNDO]
    driver.act(RunAction.STOP).run(0)
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.status == "FAILED"
