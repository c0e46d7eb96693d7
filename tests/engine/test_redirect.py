"""Redirect: a step goes back, and everything from there to itself runs again; a bounded number of times."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.shapes import ITEMS, foreach, noop, step, tag, workflow

from stretto.engine.events import RunAction
from stretto.engine.settings import EngineSettings
from stretto.model.status import StepStatus

BACK = Work(redirect="a")


def runs_of(driver: Driver) -> dict[str, int]:
    return {each.id: len(attempts_of(driver, each.id)) for each in driver.flow.plan.steps}


def test_the_way_back_runs_again_and_what_follows_once() -> None:
    steps = (
        step("first", "a"),
        step("a", "b", "c"),
        step("b", "d"),
        step("c", "d"),
        step("d", "e"),
        step("e"),
    )
    driver = Driver(workflow(*steps), runtime=scripted(d=[BACK, BACK, "DONE"])).finish()
    assert runs_of(driver) == {"first": 1, "a": 3, "b": 3, "c": 3, "d": 3, "e": 1}
    assert driver.status == "SUCCEEDED"
    assert "Redirected to step a" in [line.message for line in attempts_of(driver, "d")[0].timeline]  # type: ignore[union-attr]


def test_what_lies_beside_the_way_back_does_not_run_again() -> None:
    """`side` follows `a` and has run; `late` follows `a` too and waits for `slow`: it begins once."""
    steps = (
        step("a", "b", "side", "late"),
        step("b", "end"),
        step("side"),
        step("slow", "late"),
        step("late"),
        step("end"),
    )
    script = scripted(b=[BACK, "DONE"], slow=[Work("DONE", 9_000)])
    driver = Driver(workflow(*steps), runtime=script).start().run(5_000)
    assert driver.statuses()["late"] == "NOT_CREATED"
    driver.run()
    assert runs_of(driver) == {"a": 2, "b": 2, "side": 1, "slow": 1, "late": 1, "end": 1}
    assert driver.status == "SUCCEEDED"


def test_a_side_branch_that_has_not_begun_waits_for_the_second_run() -> None:
    steps = (step("a", "b", ("late", "true")), step("b"), step("slow", "late"), step("late"))
    script = scripted(a=["DONE", Work("DONE", 9_000)], b=[BACK, "DONE"], slow=[Work("DONE", 5_000)])
    driver = Driver(workflow(*steps), runtime=script).finish()
    assert driver.attempt("late").create_time == driver.attempt("a").end_time


def test_branches_are_decided_anew() -> None:
    flip = "params.getFromStep('a', 'MAESTRO_STEP_STATUS') == 'SUCCEEDED'"
    steps = (step("a", ("b", flip), ("c", f"!({flip})")), noop("b", "d"), noop("c", "d"), step("d"))
    driver = Driver(workflow(*steps), runtime=scripted(d=[BACK, "DONE"])).finish()
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "UNSATISFIED", "d": "SUCCEEDED"}
    assert runs_of(driver)["c"] == 2


def test_a_step_may_go_back_to_itself_and_a_loop_on_the_way_uses_new_ids() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[BACK, "DONE"])).finish()
    assert runs_of(driver) == {"a": 2}
    steps = (foreach("a", ITEMS, noop("x"), after=("b",)), step("b"))
    driver = Driver(workflow(*steps), runtime=scripted(b=[BACK, "DONE"])).finish()
    assert {run.key.run_id for run in driver.iterations("a")} == {1, 2}
    assert len(driver.iterations("a")) == 10


@pytest.mark.parametrize("target", ["nobody", "c", "x"])
def test_only_an_earlier_step_can_be_gone_back_to(target: str) -> None:
    steps = (step("a", "b"), step("b", "c"), step("c"), step("x"))
    driver = Driver(workflow(*steps), runtime=scripted(b=[Work(redirect=target)])).finish()
    assert driver.attempt("b").reason == f"step b can not go back to {target}: it is not before it"
    assert driver.status == "FAILED"


def test_going_back_is_bounded() -> None:
    settings = EngineSettings(redirects=4)
    driver = Driver(
        workflow(step("a", "b"), step("b")), runtime=scripted(b=[BACK]), settings=settings
    ).finish()
    assert runs_of(driver) == {"a": 4, "b": 4}
    assert driver.attempt("b").reason == "step a has run 4 times, which is the limit"


def test_permits_are_given_back_and_a_pause_holds_the_way_back() -> None:
    steps = (step("a", "b", tags=(tag("t", 1),)), step("b", tags=(tag("t", 1),)))
    driver = (
        Driver(workflow(*steps), runtime=scripted(b=[Work(after=1_000, redirect="a"), "DONE"])).start().run(0)
    )
    driver.act(RunAction.PAUSE).run(5_000)
    assert driver.attempt("a").superseded
    assert driver.status == "PAUSED"
    driver.act(RunAction.RESUME).run()
    assert driver.status == "SUCCEEDED"
    assert driver.world.no_permit_is_left


def test_attempts_count_on_over_a_redirect_and_retries_start_anew() -> None:
    driver = Driver(
        workflow(step("a", "b"), step("b")), runtime=scripted(a=["USER_ERROR", "DONE"], b=[BACK, "DONE"])
    )
    driver.finish()
    made = attempts_of(driver, "a")
    assert [each.key.number for each in made] == [1, 2, 3]
    assert [each.error_retries for each in made] == [0, 1, 0]
    assert made[2].status is StepStatus.SUCCEEDED
    assert FOREVER.after is None
