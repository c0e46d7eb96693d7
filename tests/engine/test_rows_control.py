"""The rows of the union table about control and views that the engine alone can show."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import (
    foreach,
    noop,
    number,
    numbers,
    step,
    tag,
    workflow,
)

from stretto.engine.effects import StartWork
from stretto.engine.events import BreakpointGone, RunAction
from stretto.model.actions import StepAction
from stretto.model.errors import WrongState
from stretto.model.retry import RetryPolicy
from stretto.model.run_config import RunPolicy
from stretto.model.signal import SignalDependencyDefinition
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode

S = StepStatus
A, R = StepAction, RunAction


def started(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


def test_row_88_a_stopped_sleep_ends_at_once_with_the_reason() -> None:
    driver = (
        Driver(workflow(step("a", "b", type="Sleep", params={"sleep_seconds": number(60)}), noop("b")))
        .start()
        .run(1_000)
    )
    driver.act(R.STOP)
    assert driver.status == "STOPPED"
    assert driver.attempt("a").reason == "stop by ann"
    assert driver.statuses()["b"] == "NOT_CREATED"


def test_row_91_while_paused_nothing_starts() -> None:
    driver = (
        Driver(workflow(step("a", "b"), step("b")), runtime=scripted(a=[Work("DONE", 500)])).start().run(0)
    )
    driver.act(R.PAUSE).run(60_000)
    assert (driver.status, started(driver)) == ("PAUSED", ["a"])


def test_row_92_after_a_pause_each_step_has_run_once() -> None:
    driver = (
        Driver(workflow(step("a", "b"), step("b", "c"), step("c")), runtime=lambda _e: Work("DONE", 500))
        .start()
        .run(600)
    )
    driver.act(R.PAUSE).run(5_000).act(R.RESUME).run()
    assert (driver.status, started(driver)) == ("SUCCEEDED", ["a", "b", "c"])


def test_row_93_a_command_in_the_wrong_state_is_refused() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    with pytest.raises(WrongState, match="not paused"):
        driver.act(R.RESUME)
    assert driver.status == "IN_PROGRESS"


def test_row_94_killing_a_step_harms_only_that_step() -> None:
    driver = (
        Driver(workflow(step("a", "b"), noop("b"), step("c")), runtime=scripted(a=[FOREVER])).start().run(0)
    )
    driver.step("a", A.KILL).run()
    assert driver.statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED", "c": "SUCCEEDED"}


def test_row_95_skipping_a_blocked_step_lets_the_workflow_succeed() -> None:
    driver = Driver(workflow(step("a", "b", tags=(tag("t", 0),)), noop("b"))).start().run(0).step("a", A.SKIP)
    assert driver.status == "SUCCEEDED"


def test_row_97_a_restart_runs_what_is_left() -> None:
    steps = [step(f"s{n}", *([f"s{n + 1}"] if n < 5 else [])) for n in range(1, 6)]
    first = Driver(workflow(*steps), runtime=scripted(s3=["FATAL_ERROR"])).finish()
    again = restarted(first, RunPolicy.RESTART_FROM_INCOMPLETE)
    again.runtime = scripted()
    assert started(again.finish()) == ["s3", "s4", "s5"]
    assert again.flow.run.key.run_id == 2


def test_row_99_a_breakpoint_holds_every_round() -> None:
    driver = Driver(
        workflow(foreach("l", {"i": numbers(1, 2, 3)}, noop("a"))), breakpoints=frozenset({"a"})
    ).start()
    flows = [driver.child("l", n) for n in (1, 2, 3)]
    driver.step("a", A.RESUME, run=flows[1].run.key)
    assert driver.live("l") == [1, 3]
    for flow in (flows[0], flows[2]):
        driver.send(BreakpointGone(attempt=driver.attempt("a", flow).key))
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("mode", "slow", "run"),
    [
        (FailureMode.FAIL_AFTER_RUNNING, "SUCCEEDED", "FAILED"),
        (FailureMode.FAIL_IMMEDIATELY, "STOPPED", "FAILED"),
        (FailureMode.IGNORE_FAILURE, "SUCCEEDED", "SUCCEEDED"),
    ],
)
def test_row_100_failure_modes(mode: FailureMode, slow: str, run: str) -> None:
    script = scripted(a=[Work("FATAL_ERROR", 100)], b=[Work("DONE", 900)])
    driver = Driver(workflow(step("a", failure_mode=mode), step("b")), runtime=script).finish()
    assert (driver.statuses()["b"], driver.status) == (slow, run)


def test_row_102_an_expression_that_is_false_means_one_attempt() -> None:
    driver = Driver(
        workflow(step("a", retry_policy=RetryPolicy(retry_if="1 > 2"))), runtime=scripted(a=["USER_ERROR"])
    )
    assert len(attempts_of(driver.finish(), "a")) == 1


def test_row_104_no_more_steps_at_once_than_the_instance_may_run() -> None:
    steps = [step(f"s{n}") for n in range(20)]
    driver = Driver(
        workflow(*steps, instance_step_concurrency=5), runtime=lambda _e: Work("DONE", 1_000)
    ).finish()
    assert driver.world.most_held["maestro_w:1:1"] == 5


def test_row_105_one_permit_makes_two_steps_serial() -> None:
    steps = (step("a", tags=(tag("t"),)), step("b", tags=(tag("t"),)))
    driver = Driver(workflow(*steps), limits={"t": 1}, runtime=lambda _e: Work("DONE", 1_000)).start().run(0)
    assert driver.attempt("b").status is S.WAITING_FOR_PERMITS
    driver.run()
    assert driver.attempt("b").start_time == driver.attempt("a").end_time


def test_row_111_every_status_on_the_way_has_its_time() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[Work("DONE", 10)])).finish()
    a = driver.attempt("a")
    times = (a.create_time, a.initialize_time, a.wait_signal_time, a.evaluate_param_time, a.wait_permit_time)
    assert None not in (*times, a.start_time, a.execute_time, a.finish_time, a.end_time)


def test_row_115_each_attempt_can_be_read() -> None:
    driver = Driver(
        workflow(step("a")), runtime=scripted(a=[Work("USER_ERROR", message="first"), "DONE"])
    ).finish()
    assert [(each.key.number, each.status.value) for each in attempts_of(driver, "a")] == [
        (1, "USER_FAILED"),
        (2, "SUCCEEDED"),
    ]


def test_row_116_the_timeline_shows_the_reason_of_a_retry() -> None:
    driver = Driver(
        workflow(step("a")), runtime=scripted(a=[Work("USER_ERROR", message="boom"), "DONE"])
    ).finish()
    first = attempts_of(driver, "a")[0]
    assert (first.reason, first.timeline[-1].message) == ("boom", "Retrying task in [1m]")  # type: ignore[union-attr]


def test_row_96_bypass_ends_the_wait_for_signals() -> None:
    a = step("a", signal_dependencies=(SignalDependencyDefinition(name="s"),))
    driver = Driver(workflow(a), runtime=scripted(a=[FOREVER])).start().run(0)
    driver.step("a", A.BYPASS_STEP_DEPENDENCIES)
    assert driver.attempt("a").status is S.STARTING
