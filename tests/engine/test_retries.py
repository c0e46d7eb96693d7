"""Attempts that follow a failure: how many, after how long, and when not."""

from itertools import pairwise
from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.shapes import UNIQUE, noop, number, result, step, tag, workflow

from stretto.engine.effects import SetTimer, StartWork, TerminateWork
from stretto.engine.events import Fetched, OutputTold, Reported, ResultState, RunAction, WorkLost
from stretto.engine.machine.report import WORK_LOST
from stretto.model.artifact import DefaultArtifact, RetryArtifact
from stretto.model.retry import ExponentialBackoff, FixedBackoff, RetryPolicy
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogEvent

S = StepStatus


def retried(state: str, policy: RetryPolicy | None, **fields: Any) -> Driver:
    driver = Driver(workflow(step("a", retry_policy=policy, **fields)), runtime=scripted(a=[state]))
    return driver.finish()


def gaps(driver: Driver) -> list[int]:
    """Seconds between the end of an attempt and the beginning of the next."""
    made = attempts_of(driver, "a")
    return [(b.create_time - a.end_time) // 1_000 for a, b in pairwise(made)]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("state", "kind", "delays"),
    [
        ("USER_ERROR", S.USER_FAILED, [60, 120]),
        ("PLATFORM_ERROR", S.PLATFORM_FAILED, [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]),
    ],
)
def test_the_default_policy(state: str, kind: StepStatus, delays: list[int]) -> None:
    driver = retried(state, None)
    assert gaps(driver) == delays
    statuses = [each.status for each in attempts_of(driver, "a")]
    assert statuses == [kind] * len(delays) + [S.FATALLY_FAILED]
    assert driver.status == "FAILED"


def test_fixed_and_exponential_back_off_with_their_caps() -> None:
    fixed = RetryPolicy(error_retry_limit=3, backoff=FixedBackoff(error_retry_backoff_in_secs=7))
    assert gaps(retried("USER_ERROR", fixed)) == [7, 7, 7]
    grown = ExponentialBackoff(
        error_retry_backoff_in_secs=2, error_retry_exponent=3, error_retry_limit_in_secs=10
    )
    assert gaps(retried("USER_ERROR", RetryPolicy(error_retry_limit=4, backoff=grown))) == [2, 6, 10, 10]


def test_each_class_of_failure_has_its_own_budget() -> None:
    policy = RetryPolicy(error_retry_limit=1, platform_retry_limit=1, timeout_retry_limit=0)
    states: list[Work | str] = ["USER_ERROR", "PLATFORM_ERROR", "USER_ERROR"]
    driver = Driver(workflow(step("a", retry_policy=policy)), runtime=scripted(a=states)).finish()
    made = attempts_of(driver, "a")
    assert [each.status for each in made] == [S.USER_FAILED, S.PLATFORM_FAILED, S.FATALLY_FAILED]
    assert (made[2].error_retries, made[2].platform_retries, made[2].timeout_retries) == (1, 1, 0)
    assert {each.sequence for each in made} == {3}
    assert driver.lines("a") == []
    assert [line.message for line in made[0].timeline] == ["Retrying task in [1m]"]  # type: ignore[union-attr]


def test_success_on_a_retry_is_success() -> None:
    driver = Driver(workflow(step("a", "b"), noop("b")), runtime=scripted(a=["USER_ERROR", "DONE"])).finish()
    assert driver.status == "SUCCEEDED"
    assert driver.attempt("a").key.number == 2


@pytest.mark.parametrize("state", ["FATAL_ERROR", "STOPPED", "TIMED_OUT"])
def test_other_ends_are_not_retried(state: str) -> None:
    assert len(attempts_of(retried(state, RetryPolicy(error_retry_limit=9)), "a")) == 1


def test_the_work_itself_may_forbid_another_try() -> None:
    for retryable, attempts in ((False, 1), (True, 3)):
        artifact = {"maestro_retry": RetryArtifact(retryable=retryable)}
        driver = Driver(workflow(step("a")), runtime=scripted(a=[Work("USER_ERROR", artifacts=artifact)]))
        assert len(attempts_of(driver.finish(), "a")) == attempts
        assert driver.attempt("a").status is S.FATALLY_FAILED


# ---------------------------------------------------------------------------------------------- expression
@pytest.mark.parametrize(("text", "attempts"), [("p > 1", 3), ("p > 100", 1), ("nobody > 1", 1)])
def test_an_expression_decides_on_the_retry(text: str, attempts: int) -> None:
    policy = RetryPolicy(retry_if=text)
    driver = retried("USER_ERROR", policy, params={"p": number(5)})
    assert len(attempts_of(driver, "a")) == attempts
    assert driver.attempt("a").status is S.FATALLY_FAILED
    assert any("retry_if" in line for line in driver.lines("a")) is ("nobody" in text)


@pytest.mark.parametrize(("text", "status"), [("> 0", S.USER_FAILED), ("< 0", S.FATALLY_FAILED)])
def test_an_expression_may_have_to_wait_for_a_value(text: str, status: StepStatus) -> None:
    policy = RetryPolicy(retry_if=f"params.nextUniqueId() {text}")
    driver = Driver(
        workflow(step("a", retry_policy=policy), step("b")), runtime=scripted(a=["USER_ERROR"], b=[FOREVER])
    )
    driver.fetching = False
    driver.start().run(0)
    assert driver.attempt("a").decided is S.USER_FAILED
    assert driver.attempt("a").status is S.STARTING
    driver.send(Fetched(attempt=driver.attempt("a").key, values={("unique", driver.attempt("a").key): 3}))
    assert driver.attempt("a").status is status


def test_a_back_off_reads_as_a_time_to_wait_for() -> None:
    driver = (
        Driver(workflow(step("a")), runtime=scripted(a=[Work("USER_ERROR", message="boom")])).start().run(0)
    )
    (reason,) = driver.why("a").reasons
    assert reason.cause == "TIME"
    assert reason.until == driver.now + 60_000
    assert "boom" in reason.text


# ------------------------------------------------------------------------------------------------ timeouts
def test_work_is_terminated_before_it_is_tried_again() -> None:
    policy = RetryPolicy(timeout_retry_limit=1, backoff=FixedBackoff(timeout_retry_backoff_in_secs=5))
    driver = Driver(workflow(step("a", retry_policy=policy, timeout=10)), runtime=scripted(a=[FOREVER]))
    driver.stubborn = True
    driver.start().run(10_000)
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("a").ending is S.TIMEOUT_FAILED
    driver.run(60_000)
    assert driver.attempt("a").key.number == 1
    driver.report("a", ResultState.DONE)  # whatever it says now
    assert driver.attempt("a").status is S.TIMEOUT_FAILED
    driver.stubborn = False
    driver.run()
    made = attempts_of(driver, "a")
    assert [each.status for each in made] == [S.TIMEOUT_FAILED, S.TIMED_OUT]
    assert made[1].timeout_retries == 1
    assert driver.status == "TIMED_OUT"


def test_a_step_without_work_is_retried_after_a_timeout_too() -> None:
    policy = RetryPolicy(timeout_retry_limit=1)
    driver = Driver(workflow(step("a", type="Wait", retry_policy=policy, timeout="10 s"))).finish()
    assert [each.status for each in attempts_of(driver, "a")] == [S.TIMEOUT_FAILED, S.TIMED_OUT]


def test_a_timeout_waits_for_a_value_that_decides_on_the_retry() -> None:
    policy = RetryPolicy(timeout_retry_limit=1, retry_if="params.nextUniqueId() < 0")
    driver = Driver(workflow(step("a", retry_policy=policy, timeout=10)), runtime=scripted(a=[FOREVER]))
    assert driver.finish().status == "TIMED_OUT"
    assert [each.status for each in attempts_of(driver, "a")] == [S.TIMED_OUT]


def test_the_time_of_a_step_counts_from_when_it_starts() -> None:
    driver = Driver(
        workflow(step("a", timeout=10, tags=(tag("t"),))), limits={"t": 0}, runtime=scripted(a=[FOREVER])
    )
    driver.start().run(60_000)
    driver.world.limits["t"] = 1
    driver.world.grant()
    driver.run(9_999)
    assert driver.attempt("a").status is S.STARTING
    assert driver.run(1).attempt("a").status is S.TIMED_OUT


def test_a_timeout_of_an_attempt_that_is_ending_or_done_changes_nothing() -> None:
    driver = Driver(workflow(step("a", timeout=10), step("b")), runtime=scripted(a=[FOREVER], b=[FOREVER]))
    driver.stubborn = True
    driver.start().run(5_000)
    driver.act(RunAction.STOP).run(10_000)
    assert driver.attempt("a").ending is S.STOPPED
    driver = Driver(workflow(step("a", ("b", "params.nextUniqueId() > 0"), timeout=10), noop("b")))
    driver.fetching = False
    driver.start().run(10_000)
    assert driver.attempt("a").status is S.TIMED_OUT  # FINISHING: nothing is left to terminate
    assert not any(isinstance(effect, TerminateWork) for effect in driver.effects)


def test_a_timeout_that_makes_no_sense_fails_the_step() -> None:
    for bad in ("0", "121 days", "${nobody}"):
        driver = Driver(workflow(step("a", timeout=bad))).finish()
        assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    assert Driver(workflow(step("a"), timeout="${nobody}")).finish().status == "FAILED"


# ----------------------------------------------------------------------------------------- polls and losses
def test_work_that_does_not_report_itself_is_looked_at() -> None:
    driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start().run(0)
    driver.report("a", ResultState.CONTINUE, again_after=2_000)
    assert driver.attempt("a").status is S.RUNNING
    assert driver.why("a").reasons[0].cause == "WORK"
    driver.run(2_000)
    assert driver.effects[-1].launch == 1  # type: ignore[attr-defined]
    assert driver.attempt("a").wake_at is None
    driver.report("a", ResultState.CONTINUE, again_after=2_000).report("a").run()
    assert driver.status == "SUCCEEDED"


def test_lost_work_is_launched_anew_and_only_the_new_launch_counts() -> None:
    driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start().run(0)
    driver.report("a", ResultState.CONTINUE)
    driver.tree.generation = 5
    key = driver.attempt("a").key
    driver.send(WorkLost(attempt=key, launch=1))
    driver.send(WorkLost(attempt=key, launch=1))
    assert [each.launch for each in driver.effects if isinstance(each, StartWork)] == [1, 5]
    driver.send(Reported(attempt=key, launch=1, state=ResultState.FATAL_ERROR))
    assert driver.attempt("a").status is S.RUNNING
    driver.stubborn = True
    driver.act(RunAction.STOP)
    driver.send(WorkLost(attempt=key, launch=5))  # it was to end anyway
    assert driver.status == "STOPPED"


def test_each_launch_of_lost_work_has_a_higher_number() -> None:
    """A node that worked for the owner was lost; the owner is still the same, and so is its generation."""
    driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start().run(0)
    driver.tree.generation = 3
    key = driver.attempt("a").key
    for launch in (1, 3, 4):
        driver.send(WorkLost(attempt=key, launch=launch))
    driver.tree.generation = 5  # the number that the last owner has reached by itself
    driver.send(WorkLost(attempt=key, launch=5))
    assert [each.launch for each in driver.effects if isinstance(each, StartWork)] == [1, 3, 4, 5, 6]
    said = [each.message for each in driver.attempt("a").timeline if isinstance(each, LogEvent)]
    assert WORK_LOST in said


def test_outputs_that_are_told_do_not_say_that_the_work_was_started() -> None:
    driver = Driver(workflow(step("a", params={"n": number(1)})), runtime=lambda _effect: None)
    driver.start().run(0)
    key = driver.attempt("a").key
    driver.send(OutputTold(attempt=key, outputs={"n": result(7)}, artifacts={"told": DefaultArtifact()}))
    assert driver.attempt("a").status is S.STARTING  # whoever comes after a crash calls the runtime
    driver.report("a").run()
    assert (driver.attempt("a").params or {})["n"].evaluated_result == 7
    assert "told" in driver.attempt("a").artifacts
    driver.send(OutputTold(attempt=key, outputs={"n": result(8)}))  # nobody waits for it any more
    assert driver.attempt("a").outputs == {}


def test_permits_are_given_back_before_a_back_off() -> None:
    steps = (step("a", tags=(tag("t"),)), step("b", tags=(tag("t"),)))
    driver = Driver(workflow(*steps), limits={"t": 1}, runtime=scripted(a=["USER_ERROR", "DONE"]))
    driver.start().run(0)
    assert driver.attempt("b").status is S.SUCCEEDED
    assert driver.run().status == "SUCCEEDED"


def test_a_failed_attempt_keeps_what_its_work_left() -> None:
    policy = RetryPolicy(error_retry_limit=1)
    params = {"p": number(1)}
    work = Work("USER_ERROR", outputs={"p": result(2)}, message="boom")
    a = step("a", retry_policy=policy, params=params, failure_mode=FailureMode.IGNORE_FAILURE)
    driver = Driver(workflow(a), runtime=scripted(a=[work])).finish()
    assert [each.reason for each in attempts_of(driver, "a")] == ["boom", "boom"]
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR"}
    assert UNIQUE.expression  # the value that other tests wait for
    assert any(isinstance(effect, SetTimer) for effect in driver.effects)


def test_nothing_is_tried_again_in_a_run_that_is_being_ended() -> None:
    policy = RetryPolicy(timeout_retry_limit=3)
    driver = Driver(
        workflow(step("a", retry_policy=policy, timeout=10)), runtime=scripted(a=[FOREVER])
    ).start()
    driver.stubborn = True
    driver.run(10_000).act(RunAction.STOP)
    assert driver.attempt("a").ending is S.TIMEOUT_FAILED
    driver.report("a")
    assert driver.statuses() == {"a": "TIMED_OUT"}
    assert driver.flow.is_over
