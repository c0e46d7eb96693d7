"""When a step begins, whether it runs, and what that means for what follows it."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import noop, number, step, workflow

from stretto.engine.events import RunAction
from stretto.model.actions import StepAction
from stretto.model.step import FailureMode


def joined(a: str, b: str) -> Driver:
    """A and B, each in a way of its own, are the predecessors of C."""
    conditions = {"true": "true", "false": "1 > 2"}
    modes = {"COMPLETED_WITH_ERROR": FailureMode.IGNORE_FAILURE}
    steps = [
        step(name, ("c", conditions.get(how, "true")), failure_mode=modes.get(how))
        for name, how in (("a", a), ("b", b))
    ]
    gate = noop(
        "gate",
        ("a", "1 > 2" if a == "UNSATISFIED" else "true"),
        ("b", "1 > 2" if b == "UNSATISFIED" else "true"),
    )
    works = {"FATALLY_FAILED": "FATAL_ERROR", "COMPLETED_WITH_ERROR": "FATAL_ERROR"}
    script = {
        name: [FOREVER if how in {"STOPPED", "SKIPPED"} else works.get(how, "DONE")]
        for name, how in (("a", a), ("b", b))
    }
    driver = Driver(workflow(gate, *steps, step("c")), runtime=scripted(**script)).start().run(0)
    for name, how in (("a", a), ("b", b)):
        if how in {"STOPPED", "SKIPPED"}:
            driver.step(name, StepAction.STOP if how == "STOPPED" else StepAction.SKIP)
    return driver.run()


@pytest.mark.parametrize(
    ("a", "b", "c", "run"),
    [
        ("true", "true", "SUCCEEDED", "SUCCEEDED"),
        ("true", "false", "SUCCEEDED", "SUCCEEDED"),
        ("true", "UNSATISFIED", "SUCCEEDED", "SUCCEEDED"),
        ("false", "false", "UNSATISFIED", "SUCCEEDED"),
        ("UNSATISFIED", "UNSATISFIED", "UNSATISFIED", "SUCCEEDED"),
        ("false", "UNSATISFIED", "UNSATISFIED", "SUCCEEDED"),
        ("true", "FATALLY_FAILED", "NOT_CREATED", "FAILED"),
        ("true", "STOPPED", "NOT_CREATED", "STOPPED"),
        ("true", "COMPLETED_WITH_ERROR", "SUCCEEDED", "SUCCEEDED"),
        ("false", "COMPLETED_WITH_ERROR", "SUCCEEDED", "SUCCEEDED"),
        ("true", "SKIPPED", "SUCCEEDED", "SUCCEEDED"),
        ("false", "SKIPPED", "SUCCEEDED", "SUCCEEDED"),
    ],
)
def test_a_join_waits_for_all_and_runs_if_one_edge_is_taken(a: str, b: str, c: str, run: str) -> None:
    driver = joined(a, b)
    assert driver.statuses()["c"] == c
    assert driver.status == run


def test_a_join_begins_once_after_the_last_of_its_predecessors() -> None:
    script = scripted(a=[Work("DONE", 1_000)], b=[Work("DONE", 5_000)], d=["DONE"])
    driver = Driver(workflow(step("a", "c", "d"), step("b", "c"), step("c"), step("d")), runtime=script)
    driver.finish()
    assert driver.attempt("c").create_time == driver.attempt("b").end_time
    assert driver.attempt("d").end_time == driver.attempt("a").end_time  # no level barrier


def test_what_no_edge_leads_to_passes_on_to_a_join_that_another_branch_takes() -> None:
    steps = (noop("a", ("b", "false"), "d"), noop("b", "c"), noop("c", "d"), noop("d"))
    driver = Driver(workflow(*steps)).finish()
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "UNSATISFIED", "c": "UNSATISFIED", "d": "SUCCEEDED"}
    assert driver.attempt("b").reason == "no incoming edge is taken"


def test_a_condition_sees_the_params_of_its_step_and_how_it_ended() -> None:
    status = "params.getFromStep('a', 'MAESTRO_STEP_STATUS')"
    ends = {"good": f"{status} == 'SUCCEEDED'", "bad": f"{status} == 'COMPLETED_WITH_ERROR'"}
    a = step(
        "a",
        *ends.items(),
        ("more", "p > 2"),
        params={"p": number(3)},
        failure_mode=FailureMode.IGNORE_FAILURE,
    )
    steps = (a, noop("good"), noop("bad"), noop("more"))
    driver = Driver(workflow(*steps), runtime=scripted(a=["FATAL_ERROR"])).finish()
    assert driver.statuses() == {
        "a": "COMPLETED_WITH_ERROR",
        "good": "UNSATISFIED",
        "bad": "SUCCEEDED",
        "more": "SUCCEEDED",
    }


def test_a_condition_that_can_not_be_evaluated_fails_its_step_internally() -> None:
    driver = Driver(workflow(noop("a", ("b", "nobody > 1")), noop("b"))).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "NOT_CREATED"}
    assert driver.status == "FAILED"
    assert "nobody" in str(driver.attempt("a").reason)
    ignored = step("a", ("b", "nobody > 1"), failure_mode=FailureMode.IGNORE_FAILURE)
    driver = Driver(workflow(ignored, noop("b")), runtime=scripted(a=["FATAL_ERROR"])).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "NOT_CREATED"}


# ------------------------------------------------------------------------------------------- failure modes
def failing(mode: FailureMode | None) -> Driver:
    """`a` fails while `b`, which has a successor, is under way, and `w` is held."""
    steps = (step("a", "x", failure_mode=mode), step("b", "c"), step("c"), step("x"), step("w"))
    script = scripted(a=[Work("FATAL_ERROR", 1_000, "boom")], b=[Work("DONE", 5_000)])
    driver = Driver(workflow(*steps), runtime=script)
    driver.start().run()
    return driver


def test_fail_after_running_lets_the_others_end() -> None:
    for mode in (None, FailureMode.FAIL_AFTER_RUNNING):
        driver = failing(mode)
        assert driver.statuses() == {
            "a": "FATALLY_FAILED",
            "b": "SUCCEEDED",
            "c": "SUCCEEDED",
            "x": "NOT_CREATED",
            "w": "SUCCEEDED",
        }
        assert driver.status == "FAILED"
        assert "Step [a] failed: boom" in driver.lines()


def test_fail_immediately_stops_the_others_and_lets_nothing_begin() -> None:
    driver = failing(FailureMode.FAIL_IMMEDIATELY)
    assert driver.statuses()["b"] == "STOPPED"
    assert driver.statuses()["c"] == "NOT_CREATED"
    assert driver.attempt("b").reason == "step a failed"
    assert driver.status == "FAILED"


def test_fail_immediately_ends_back_offs_and_what_is_held() -> None:
    steps = (step("a", failure_mode=FailureMode.FAIL_IMMEDIATELY), step("b"), noop("n", "held"), noop("held"))
    driver = Driver(workflow(*steps), runtime=scripted(a=[Work("FATAL_ERROR", 1_000)], b=["USER_ERROR"]))
    driver.act(RunAction.PAUSE, "held").start().run(0)
    assert driver.why("held").reasons[0].cause == "PAUSE"
    driver.run()
    assert driver.statuses() == {
        "a": "FATALLY_FAILED",
        "b": "STOPPED",
        "n": "SUCCEEDED",
        "held": "NOT_CREATED",
    }
    assert driver.status == "FAILED"


def test_ignore_failure_goes_on_as_after_a_success() -> None:
    driver = failing(FailureMode.IGNORE_FAILURE)
    assert driver.statuses()["a"] == "COMPLETED_WITH_ERROR"
    assert driver.statuses()["x"] == "SUCCEEDED"
    assert driver.status == "SUCCEEDED"
    assert driver.attempt("a").reason == "boom"


@pytest.mark.parametrize(
    ("ends", "run"),
    [
        (("FATAL_ERROR", "TIMED_OUT", "STOPPED"), "FAILED"),
        (("DONE", "TIMED_OUT", "STOPPED"), "TIMED_OUT"),
        (("DONE", "DONE", "STOPPED"), "STOPPED"),
        (("DONE", "DONE", "DONE"), "SUCCEEDED"),
    ],
)
def test_a_run_ends_like_the_worst_of_its_steps(ends: tuple[str, str, str], run: str) -> None:
    script = {name: [end] for name, end in zip("abc", ends, strict=True)}
    assert (
        Driver(workflow(step("a"), step("b"), step("c")), runtime=scripted(**script)).finish().status == run
    )


def test_a_workflow_without_steps_succeeds_at_once() -> None:
    driver = Driver(workflow()).finish()
    assert driver.status == "SUCCEEDED"
    assert driver.decisions == 1
