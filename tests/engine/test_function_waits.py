"""A launch whose functions no running process knows: it waits, begins, ends, or fails after its time."""

from typing import Any

import msgspec
import pytest
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import step, workflow

from stretto.engine.effects import StartWork, TerminateWork
from stretto.engine.events import (
    FunctionsFound,
    FunctionsMissing,
    Reported,
    ResultState,
    RunAction,
    WorkLost,
)
from stretto.engine.records import AttemptRecord
from stretto.engine.recovery import recovery_of
from stretto.engine.settings import EngineSettings
from stretto.engine.why import Cause, why
from stretto.model.actions import StepAction
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.status import StepStatus

HOUR = 3_600_000


def waiting(within: int = HOUR, functions: tuple[str, ...] = ("flows:extra",), **more: Any) -> Driver:
    """A run whose step `a` is launched, and waits for functions."""
    text = workflow(step("a", **more))
    driver = Driver(text, runtime=scripted(a=[FOREVER]), settings=EngineSettings(function_within=within))
    driver.start().run(0)
    record = driver.attempt("a")
    driver.send(FunctionsMissing(attempt=record.key, launch=launch_of(record), functions=functions))
    return driver


def launch_of(record: AttemptRecord) -> int:
    assert record.launch is not None
    return record.launch


def found(driver: Driver) -> None:
    record = driver.attempt("a")
    driver.send(FunctionsFound(attempt=record.key, launch=launch_of(record)))


def test_a_launch_without_a_process_waits_and_says_so() -> None:
    driver = waiting()
    record = driver.attempt("a")
    assert record.status is StepStatus.STARTING
    answer = why(driver.flow, "a")
    assert answer is not None
    (reason,) = answer.reasons
    assert (reason.cause, reason.subject) == (Cause.FUNCTION, "flows:extra")
    assert reason.text.startswith("no running process knows the function `flows:extra`; if none joins")
    assert (reason.since, reason.until) == (driver.now, driver.now + HOUR)
    assert "The step waits: no running process knows the function" in str(record.timeline)


def test_several_functions_are_all_named() -> None:
    driver = waiting(functions=("f", "g"))
    assert "no running process knows all of the functions `f`, `g`" in str(why(driver.flow, "a"))


def test_a_wait_that_is_told_again_keeps_its_time() -> None:
    driver = waiting()
    before = msgspec.structs.replace(driver.attempt("a"))
    driver.run(60_000)
    record = driver.attempt("a")
    driver.send(FunctionsMissing(attempt=record.key, launch=launch_of(record), functions=("flows:extra",)))
    assert driver.attempt("a").function_wait == before.function_wait
    assert driver.attempt("a").wake_at == before.wake_at


def test_the_launch_begins_when_a_process_knows_its_functions() -> None:
    driver = waiting()
    driver.run(60_000)
    driver.effects.clear()
    found(driver)
    record = driver.attempt("a")
    (start,) = [effect for effect in driver.effects if isinstance(effect, StartWork)]
    assert (start.attempt, start.launch) == (record.key, record.launch)
    assert (record.function_wait, record.wake_at, record.wake_reason) == (None, None, None)
    assert driver.report("a", ResultState.DONE).run().status == "SUCCEEDED"


def test_the_timeout_of_a_step_stands_still_while_it_waits() -> None:
    driver = waiting(timeout=10)
    driver.run(600_000)
    assert driver.attempt("a").status is StepStatus.STARTING
    found(driver)
    driver.run(9_000)
    assert driver.attempt("a").status is not StepStatus.TIMED_OUT
    driver.run(1_000)
    assert driver.attempt("a").status is StepStatus.TIMED_OUT


def test_after_its_time_the_step_fails_and_is_not_retried() -> None:
    policy = RetryPolicy(
        error_retry_limit=3,
        platform_retry_limit=3,
        backoff=FixedBackoff(error_retry_backoff_in_secs=1, platform_retry_backoff_in_secs=1),
    )
    driver = waiting(retry_policy=policy)
    driver.run(HOUR - 1)
    assert driver.attempt("a").status is StepStatus.STARTING
    driver.run(1)
    record = driver.attempt("a")
    assert (record.status, record.key.number) == (StepStatus.FATALLY_FAILED, 1)
    assert record.reason is not None
    assert record.reason.startswith(
        "no running process knows the function `flows:extra`, and none has joined within 3600 s. Deploy"
    )
    assert driver.status == "FAILED"


def test_without_a_time_to_wait_the_step_fails_at_once() -> None:
    driver = waiting(within=0)
    record = driver.attempt("a")
    assert (record.status, record.function_wait) == (StepStatus.FATALLY_FAILED, None)
    assert "no running process knows the function `flows:extra`. Deploy" in str(record.reason)


@pytest.mark.parametrize("action", [StepAction.STOP, StepAction.KILL, StepAction.SKIP])
def test_a_step_that_waits_is_ended_without_asking_anybody(action: StepAction) -> None:
    driver = waiting()
    driver.effects.clear()
    driver.step("a", action).run(0)
    assert not [effect for effect in driver.effects if isinstance(effect, TerminateWork)]
    assert driver.attempt("a").status.is_terminal
    assert driver.attempt("a").function_wait is None
    assert driver.run().flow.is_over


def test_a_run_that_is_stopped_does_not_wait() -> None:
    assert waiting().act(RunAction.STOP).run(0).status == "STOPPED"


@pytest.mark.parametrize("state", [ResultState.DONE, ResultState.CONTINUE])
def test_a_late_answer_of_the_launch_ends_the_wait(state: ResultState) -> None:
    driver = waiting()
    record = driver.attempt("a")
    driver.send(Reported(attempt=record.key, launch=launch_of(record), state=state))
    now = driver.attempt("a")
    assert (now.function_wait, now.wake_at) == (None, None)
    assert now.status is (StepStatus.SUCCEEDED if state is ResultState.DONE else StepStatus.RUNNING)


def test_work_that_nobody_has_begun_can_not_be_lost() -> None:
    driver = waiting()
    before = msgspec.structs.replace(driver.attempt("a"))
    driver.send(WorkLost(attempt=before.key, launch=launch_of(before)))
    assert driver.attempt("a") == before


def test_functions_that_are_found_for_another_launch_begin_nothing() -> None:
    driver = waiting()
    driver.effects.clear()
    record = driver.attempt("a")
    driver.send(FunctionsFound(attempt=record.key, launch=launch_of(record) + 1))
    assert not driver.effects
    found(driver)
    found(driver)  # once more, although it has begun
    assert len([effect for effect in driver.effects if isinstance(effect, StartWork)]) == 1


def test_a_loaded_run_has_its_timer_and_starts_nothing_by_itself() -> None:
    driver = waiting()
    recovery = recovery_of(driver.flow)
    assert not recovery.events
    assert not [effect for effect in recovery.effects if isinstance(effect, StartWork)]
    dues = [getattr(effect, "due", None) for effect in recovery.effects]
    assert driver.attempt("a").wake_at in dues
