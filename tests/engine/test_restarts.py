"""The next run of an instance: what it covers, what it takes over, and what waits for a user."""

import pytest
from msgspec.structs import replace
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import ITEMS, computed, foreach, noop, number, result, step, workflow

from stretto.engine.effects import StartWork
from stretto.engine.events import RunAction
from stretto.engine.opening import plan_of_run, restarted_step
from stretto.model.actions import StepAction
from stretto.model.errors import NotFound, WrongState
from stretto.model.param import ParamMode
from stretto.model.run_config import RestartConfig, RunPolicy
from stretto.model.status import StepStatus

P = RunPolicy
CHAIN = (step("a", "b"), step("b", "c", "d"), step("c", "e"), step("d", "e"), step("e"), step("x"))


def failed() -> Driver:
    """Failed at `c`: `a`, `b`, `d` and `x` are complete, `e` never began."""
    return Driver(workflow(*CHAIN), runtime=scripted(c=["FATAL_ERROR"])).finish()


def started(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


def test_from_incomplete_covers_what_is_not_complete_and_what_follows() -> None:
    again = restarted(failed(), P.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    again.finish()
    assert started(again) == ["c", "e"]
    assert again.flow.run.key.run_id == 2
    assert again.status == "SUCCEEDED"


def test_from_the_beginning_covers_everything() -> None:
    again = restarted(failed(), P.RESTART_FROM_BEGINNING)
    again.runtime = scripted()
    assert sorted(started(again.finish())) == ["a", "b", "c", "d", "e", "x"]


def test_from_a_step_the_other_roots_wait_for_a_user() -> None:
    again = restarted(failed(), P.RESTART_FROM_SPECIFIC, "d")
    again.runtime = scripted(d=[FOREVER])
    again.start().run(0)
    assert again.statuses() == {"c": "NOT_CREATED", "d": "STARTING", "e": "NOT_CREATED"}
    assert again.why("c").reasons[0].cause == "PERSON"
    again.step("c", StepAction.RESTART).run(0)
    assert again.attempt("c").manual
    again.report("d").run()
    assert again.statuses() == {"c": "SUCCEEDED", "d": "SUCCEEDED", "e": "SUCCEEDED"}
    assert again.status == "SUCCEEDED"


def test_a_run_does_not_wait_for_roots_that_nobody_starts() -> None:
    again = restarted(failed(), P.RESTART_FROM_SPECIFIC, "d")
    assert again.finish().statuses() == {"c": "NOT_CREATED", "d": "SUCCEEDED", "e": "NOT_CREATED"}
    assert again.status == "SUCCEEDED"
    with pytest.raises(WrongState, match="before it is created"):
        restarted(failed(), P.RESTART_FROM_SPECIFIC, "d").step("c", StepAction.RESTART)


def test_a_root_that_a_user_starts_obeys_a_pause() -> None:
    again = restarted(failed(), P.RESTART_FROM_SPECIFIC, "d")
    again.runtime = scripted(d=[FOREVER])
    again.start().act(RunAction.PAUSE)
    with pytest.raises(WrongState, match="paused"):
        again.step("c", StepAction.RESTART)


def test_steps_can_be_skipped_and_their_params_changed() -> None:
    steps = (step("a", "b", params={"p": number(1)}), noop("b"))
    first = Driver(workflow(*steps), runtime=scripted(a=["FATAL_ERROR"])).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE, skip=("a",)).finish()
    assert again.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED"}
    assert again.lines("a") == ["Step is skipped because of a user skip action."]
    changed = restarted(first, P.RESTART_FROM_INCOMPLETE, step_params={"a": {"p": number(9)}})
    changed.runtime = scripted()
    assert changed.finish().value("a", "p") == 9


def test_params_of_the_run_are_changed_and_others_keep_their_results() -> None:
    free = replace(number(1), mode=ParamMode.MUTABLE)
    steps = (step("a", params={"v": computed("p + q")}),)
    first = Driver(
        workflow(*steps, params={"p": free, "q": number(10)}), runtime=scripted(a=["FATAL_ERROR"])
    ).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE, params={"p": number(5)})
    again.runtime = scripted()
    assert again.finish().value("a", "v") == 15


def test_steps_of_earlier_runs_can_still_be_read() -> None:
    read = computed("return params.getFromStep('a', 'p');")
    loop = computed("return params.getFromForeach('l', 'x', 'v')[1];")
    steps = (
        step("a", "l", params={"p": number(1)}),
        foreach("l", ITEMS, step("x", params={"v": computed("i * 2")}), after=("b",)),
        step("b", params={"q": read, "r": loop}),
    )
    runtime = scripted(a=[Work(outputs={"p": result(7)})], b=["FATAL_ERROR"])
    first = Driver(workflow(*steps), runtime=runtime).finish()
    again = restarted(first, P.RESTART_FROM_INCOMPLETE)
    again.fetched["foreach", "l", 0, "x", "v"] = first.look_up(
        first.attempt("b").key, ("foreach", "l", 1, "x", "v")
    )
    again.runtime = scripted()
    assert again.finish().value("b", "q") == 7
    assert again.value("b", "r") == 4


def test_refusals() -> None:
    done = dict.fromkeys("abcdex", StepStatus.SUCCEEDED)
    with pytest.raises(WrongState, match="nothing is left to restart"):
        plan_of_run(workflow(*CHAIN), P.RESTART_FROM_INCOMPLETE, done)
    with pytest.raises(NotFound, match="has no step nobody"):
        restarted(failed(), P.RESTART_FROM_SPECIFIC, "nobody")
    assert restarted_step(RestartConfig()) is None
    assert len(plan_of_run(workflow(*CHAIN), P.START_FRESH_NEW_RUN).steps) == 6


def test_a_failed_step_is_skipped_by_a_new_attempt_in_the_same_run() -> None:
    steps = (step("a", "b"), noop("b"), step("x"))
    driver = Driver(workflow(*steps), runtime=scripted(a=["FATAL_ERROR"], x=[FOREVER])).start().run(0)
    driver.step("a", StepAction.SKIP)
    assert [each.status for each in attempts_of(driver, "a")] == [
        StepStatus.FATALLY_FAILED,
        StepStatus.SKIPPED,
    ]
    assert driver.statuses()["b"] == "SUCCEEDED"
