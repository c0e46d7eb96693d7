"""When a run has failed, what it completed is undone, in reverse and one by one."""

from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import (
    computed,
    noop,
    number,
    result,
    step,
    workflow,
)

from stretto.engine.effects import StartWork
from stretto.engine.events import RunAction
from stretto.engine.flow import UNDO
from stretto.engine.records import Compensation
from stretto.model.actions import StepAction
from stretto.model.errors import WrongState
from stretto.model.retry import RetryPolicy
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


def test_one_step_is_counted_as_one() -> None:
    driver = Driver(workflow(undone("a", "b"), step("b")), runtime=scripted(b=["FATAL_ERROR"])).finish()
    assert driver.lines()[-2:] == ["Compensating 1 step", "Compensated"]


def test_the_next_is_undone_only_when_the_one_before_is() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    script = scripted(c=["FATAL_ERROR"], undo_b=[Work("DONE", 9_000)])
    driver = Driver(workflow(*steps), runtime=script).start().run(8_000)
    assert driver.status == "IN_PROGRESS"
    assert driver.flow.run.compensation is Compensation.RUNNING
    assert calls(driver)[-1] == "undo_b"
    assert driver.run().flow.run.compensation is Compensation.COMPENSATED


def test_an_undo_that_fails_keeps_no_other_from_running_and_is_named_on_the_timeline() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    failed = Work("FATAL_ERROR", message="no such seat")
    driver = Driver(workflow(*steps), runtime=scripted(c=["FATAL_ERROR"], undo_b=[failed])).finish()
    assert calls(driver) == ["a", "b", "c", "undo_b", "undo_a"]
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.flow.run.undone == {"a": 0}
    assert driver.status == "FAILED"
    assert driver.lines()[-2:] == [
        "Step [b] is not undone: its undo [undo_b] ended FATALLY_FAILED: no such seat",
        "The compensation failed: 1 of 2 steps is not undone",
    ]


def test_an_undo_with_fail_immediately_stops_the_others() -> None:
    back = step("undo_b", failure_mode=FailureMode.FAIL_IMMEDIATELY)
    steps = (undone("a", "b"), step("b", "c", compensation=back), step("c"))
    driver = Driver(workflow(*steps), runtime=scripted(c=["FATAL_ERROR"], undo_b=["FATAL_ERROR"])).finish()
    assert calls(driver) == ["a", "b", "c", "undo_b"]
    assert (
        driver.lines()[-2] == "Step [a] is not undone: its undo [undo_a] did not begin (step undo_b failed)"
    )


@pytest.mark.parametrize("mode", [FailureMode.FAIL_IMMEDIATELY, FailureMode.FAIL_AFTER_RUNNING])
def test_what_still_runs_ends_first(mode: FailureMode) -> None:
    steps = (undone("a"), step("b"), step("c", failure_mode=mode))
    script = scripted(b=[Work("DONE", 5_000)], c=[Work("FATAL_ERROR", 1_000)])
    driver = Driver(workflow(*steps), runtime=script).finish()
    assert calls(driver) == ["a", "b", "c", "undo_a"]


@pytest.mark.parametrize("state", ["DONE", "STOPPED"])
def test_a_run_that_succeeds_or_is_stopped_is_not_undone(state: str) -> None:
    driver = Driver(workflow(undone("a", "b"), step("b")), runtime=scripted(b=[state])).finish()
    assert driver.flow.run.compensation is None


@pytest.mark.parametrize("state", ["STOPPED", "TIMED_OUT", "FATAL_ERROR"])
def test_with_undo_on_stop_every_bad_end_is_undone(state: str) -> None:
    definition = workflow(undone("a", "b"), step("b"), undo_on_stop=True)
    driver = Driver(definition, runtime=scripted(b=[state])).finish()
    assert calls(driver) == ["a", "b", "undo_a"]
    assert driver.flow.run.compensation is Compensation.COMPENSATED


def test_a_run_whose_step_times_out_is_undone_and_stays_timed_out() -> None:
    slow = step("b", timeout=5, retry_policy=RetryPolicy(timeout_retry_limit=0))
    driver = Driver(workflow(undone("a", "b"), slow), runtime=scripted(b=[FOREVER])).finish()
    assert calls(driver) == ["a", "b", "undo_a"]
    assert (driver.status, driver.flow.run.compensation) == ("TIMED_OUT", Compensation.COMPENSATED)


def test_a_run_that_times_out_is_undone_however_long_that_takes() -> None:
    definition = workflow(undone("a", "b"), step("b"), timeout=60)
    runtime = scripted(a=[Work("DONE", 50_000)], b=[FOREVER], undo_a=[Work("DONE", 100_000)])
    driver = Driver(definition, runtime=runtime).finish()
    assert (driver.status, driver.flow.run.compensation) == ("TIMED_OUT", Compensation.COMPENSATED)


def test_the_timeout_of_a_failed_run_does_not_end_its_undo() -> None:
    definition = workflow(undone("a", "b"), step("b"), timeout=60)
    runtime = scripted(b=["FATAL_ERROR"], undo_a=[Work("DONE", 100_000)])
    driver = Driver(definition, runtime=runtime).finish()
    assert (driver.status, driver.flow.run.compensation) == ("FAILED", Compensation.COMPENSATED)


def test_a_run_in_which_nothing_can_be_undone_just_fails() -> None:
    driver = Driver(workflow(noop("a", "b"), step("b")), runtime=scripted(b=["FATAL_ERROR"])).finish()
    assert driver.flow.run.compensation is None


# ------------------------------------------------------------------------------------------ what users ask
def test_a_run_can_be_paused_and_killed_while_it_is_undone_but_not_stopped() -> None:
    steps = (undone("a", "b"), step("b"))
    driver = Driver(workflow(*steps), runtime=scripted(b=["FATAL_ERROR"], undo_a=[FOREVER])).start().run(0)
    assert list(driver.flow.children[UNDO]) == [1]
    driver.act(RunAction.PAUSE).act(RunAction.RESUME).run(0)
    driver.act(RunAction.STOP)
    assert driver.flow.run.ending is None
    assert driver.lines()[-1] == (
        "stop by ann: what the run did is being undone all the same; kill it to leave the rest as it is"
    )
    with pytest.raises(WrongState, match="is being undone"):
        driver.step("b", StepAction.RESTART)
    driver.act(RunAction.KILL).run()
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.status == "FAILED"


def test_why_says_that_a_step_will_not_begin_because_the_run_is_being_undone() -> None:
    steps = (undone("a", "b"), step("b", "c"), step("c"))
    driver = Driver(workflow(*steps), runtime=scripted(b=["FATAL_ERROR"], undo_a=[FOREVER])).start().run(0)
    assert str(driver.why("c")) == "the run did not get so far: what it did is being undone"


def test_a_pause_holds_the_next_undo() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    script = scripted(c=["FATAL_ERROR"], undo_b=[Work("DONE", 500)])
    driver = Driver(workflow(*steps), runtime=script).start().run(0)
    driver.act(RunAction.PAUSE).run(1_000)
    assert calls(driver)[-1] == "undo_b"
    driver.act(RunAction.RESUME).run()
    assert driver.flow.run.compensation is Compensation.COMPENSATED


def test_an_undo_that_is_shut_down_before_it_begins_is_passed_over() -> None:
    steps = (undone("a", "b"), undone("b", "c"), step("c"))
    script = scripted(c=["FATAL_ERROR"], undo_b=[Work("DONE", 500)])
    driver = Driver(workflow(*steps), runtime=script).start().run(0)
    (undo,) = driver.flow.children[UNDO].values()
    driver.act(RunAction.KILL, "undo_a", run=undo.run.key).run()
    assert driver.flow.run.undone == {"b": 0}
    assert driver.flow.run.compensation is Compensation.FAILED


def test_a_run_that_is_stopped_twice_with_undo_on_stop_is_undone_once() -> None:
    runtime = scripted(b=[FOREVER], undo_a=[Work("DONE", 500)])
    driver = Driver(workflow(undone("a", "b"), step("b"), undo_on_stop=True), runtime=runtime).start().run(0)
    driver.act(RunAction.STOP).run(0).act(RunAction.STOP).run()
    assert (driver.status, driver.flow.run.compensation) == ("STOPPED", Compensation.COMPENSATED)


def test_a_run_that_is_killed_in_a_pause_is_undone_all_the_same() -> None:
    driver = (
        Driver(workflow(undone("a", "b"), step("b")), runtime=scripted(a=[Work("DONE", 500)])).start().run(0)
    )
    driver.act(RunAction.PAUSE).run(500).act(RunAction.KILL).run()
    assert driver.flow.run.compensation is Compensation.COMPENSATED
    assert driver.status == "FAILED"


def test_the_undo_of_a_run_that_was_killed_can_be_killed_too() -> None:
    driver = (
        Driver(workflow(undone("a"), step("b")), runtime=scripted(b=[FOREVER], undo_a=[FOREVER]))
        .start()
        .run(0)
    )
    driver.act(RunAction.KILL).run(1_000)
    assert driver.flow.children[UNDO]
    driver.act(RunAction.KILL).run(0)
    assert driver.flow.run.compensation is Compensation.FAILED
    assert driver.status == "FAILED"
