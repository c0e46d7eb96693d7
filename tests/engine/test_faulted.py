"""A step, or a run, that can not go on because of us: it ends, and nothing around it gets stuck."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import ITEMS, foreach, noop, step, subworkflow, workflow
from tests.engine.situations import LATE_EDGE, driver_of, in_status, sample

from stretto.engine.effects import StopChild, TerminateWork
from stretto.engine.events import Faulted, Fetched, RunAction, RunFaulted
from stretto.engine.turn import Turn
from stretto.model.actions import StepAction
from stretto.model.retry import RetryPolicy
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode
from stretto.model.timeline import LogEvent, LogLevel

S = StepStatus
WAITS = [status for status in S if status is not S.NOT_CREATED and not status.is_terminal]


def fault(driver: Driver, step_id: str = "job1") -> Driver:
    flow = next(each for each in driver.tree.live.values() if step_id in each.plan.numbers)
    driver.send(Faulted(attempt=driver.attempt(step_id, flow).key, message="a row can not be stored"))
    return driver


# --------------------------------------------------------------------------------------------------- steps
@pytest.mark.parametrize("status", WAITS)
def test_a_step_that_can_not_go_on_fails_and_the_others_do_not(status: StepStatus) -> None:
    driver = fault(in_status(status)).run(0)
    assert driver.attempt("job1").status is S.INTERNALLY_FAILED
    assert driver.lines("job1")[-1] == "a row can not be stored"
    assert driver.attempt("other").status is S.STARTING
    assert driver.report("other").run().status == "FAILED"


def test_its_work_is_ended_first() -> None:
    driver = in_status(S.RUNNING)
    driver.stubborn = True
    fault(driver)
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("job1").ending is S.INTERNALLY_FAILED
    fault(driver)  # and this is as good as the answer that does not come
    assert driver.attempt("job1").status is S.INTERNALLY_FAILED


@pytest.mark.parametrize(
    ("action", "end"),
    [(StepAction.STOP, S.STOPPED), (StepAction.KILL, S.FATALLY_FAILED), (StepAction.SKIP, S.SKIPPED)],
)
def test_for_work_that_was_asked_to_end_it_is_the_answer(action: StepAction, end: StepStatus) -> None:
    driver = in_status(S.RUNNING)
    driver.stubborn = True
    fault(driver.step("job1", action))
    assert driver.attempt("job1").status is end
    assert "a row can not be stored" in driver.lines("job1")


def test_a_look_that_went_wrong_is_no_answer_to_a_step_that_is_being_ended() -> None:
    """It was put before the step was asked to end, and is heard of afterwards."""
    driver = in_status(S.RUNNING)
    driver.stubborn = True
    driver.step("job1", StepAction.STOP)
    attempt = driver.attempt("job1")
    driver.send(Faulted(attempt=attempt.key, message="a look went wrong", answers=False))
    assert (attempt.status, attempt.ending) == (S.RUNNING, S.STOPPED)
    assert fault(driver).attempt("job1").status is S.STOPPED


def test_a_timeout_that_waits_for_the_answer_is_tried_again() -> None:
    policy = RetryPolicy(timeout_retry_limit=1)
    driver = Driver(
        workflow(step("a", timeout=5, retry_policy=policy)), runtime=scripted(a=[FOREVER, "DONE"])
    )
    driver.stubborn = True
    fault(driver.start().run(5_000), "a")
    assert driver.attempt("a").status is S.TIMEOUT_FAILED
    assert driver.run().status == "SUCCEEDED"


def test_a_step_between_two_attempts_has_failed_for_good() -> None:
    driver = fault(in_status(S.USER_FAILED))
    assert driver.attempt("job1").status is S.FATALLY_FAILED
    assert driver.attempt("job1").reason == "a row can not be stored"


@pytest.mark.parametrize("status", [S.SUCCEEDED, S.FATALLY_FAILED, S.STOPPED, S.SKIPPED])
def test_what_has_ended_stays_so(status: StepStatus) -> None:
    driver = in_status(status)
    key = driver.attempt("job1").key
    for old in (key, key._replace(number=7), key._replace(step_id="nobody")):
        decision = driver.send(Faulted(attempt=old, message="late"))
        assert not decision.changes
        assert not decision.effects


def test_a_step_whose_end_waits_for_a_value_ends_at_once() -> None:
    driver = driver_of(sample(LATE_EDGE), Work("DONE", 10**9)).start().run(0)
    driver.fetching = False
    driver.step("job1", StepAction.SKIP).run(0)
    assert (driver.attempt("job1").decided, driver.attempt("job1").ending) == (S.SKIPPED, S.SKIPPED)
    driver.send(Fetched(attempt=driver.attempt("job1").key, values={}))  # not what is missing
    assert driver.attempt("job1").decided is S.SKIPPED
    assert fault(driver).attempt("job1").status is S.INTERNALLY_FAILED


def test_a_loop_ends_with_its_iterations() -> None:
    body = foreach("l", ITEMS, step("x"), concurrency=2)
    driver = Driver(workflow(body), runtime=scripted(x=[FOREVER])).start().run(0)
    driver.stubborn = True
    fault(driver, "l")
    assert driver.attempt("l").ending is S.INTERNALLY_FAILED
    assert not driver.send(Faulted(attempt=driver.attempt("l").key, message="again")).changes
    fault(fault(driver, "x"), "x")
    assert driver.statuses() == {"l": "INTERNALLY_FAILED"}
    assert driver.flow.is_over


def test_a_step_that_waits_for_a_child_stops_it_and_then_need_not_wait() -> None:
    library = {"kid": workflow(step("toil"), id="kid")}
    parent = workflow(subworkflow("s", "kid"))
    driver = Driver(parent, runtime=scripted(toil=[FOREVER]), library=library).start().run(0)
    for child in driver.world.children.values():
        child.stubborn = True
    fault(driver, "s")
    assert isinstance(driver.effects[-1], StopChild)
    assert fault(driver, "s").statuses() == {"s": "INTERNALLY_FAILED"}


def test_a_fault_while_a_fault_is_dealt_with_still_ends_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = in_status(S.RUNNING)
    driver.stubborn = True
    driver.step("job1", StepAction.SKIP)
    real, calls = Turn.move, 0

    def fails(self: Turn, *args: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ZeroDivisionError("ours")
        real(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Turn, "move", fails)
    assert fault(driver).attempt("job1").status is S.INTERNALLY_FAILED


# ---------------------------------------------------------------------------------------------------- runs
def run_fault(driver: Driver, times: int = 1) -> Driver:
    for _ in range(times):
        driver.send(RunFaulted(run=driver.flow.run.key, message="nobody can keep this run"))
    return driver


def test_a_run_that_can_not_go_on_fails_as_if_it_were_killed() -> None:
    mode = FailureMode.IGNORE_FAILURE
    steps = (step("a", "b", failure_mode=mode), noop("b"), foreach("l", ITEMS, step("x")))
    driver = Driver(workflow(*steps), runtime=scripted(a=[FOREVER], x=[FOREVER])).start().run(0)
    run_fault(driver)
    line = LogEvent(timestamp=driver.now, level=LogLevel.ERROR, message="nobody can keep this run")
    assert driver.flow.run.timeline[1:] == (line,)
    driver.run()
    assert driver.statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED", "l": "FATALLY_FAILED"}
    assert driver.status == "FAILED"


def test_a_run_that_is_being_ended_notes_it_and_ends_so() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start().run(0)
    run_fault(driver.act(RunAction.STOP), 2)
    assert driver.lines()[-1] == "nobody can keep this run"
    assert driver.run().status == "STOPPED"
    assert not driver.send(RunFaulted(run=driver.flow.run.key, message="late")).changes


def test_a_run_that_has_not_begun_fails_at_once() -> None:
    driver = run_fault(Driver(workflow(step("a"))))
    assert (driver.status, driver.statuses()) == ("FAILED", {"a": "NOT_CREATED"})


def test_an_iteration_that_can_not_go_on_fails_and_its_loop_says_so() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, step("x"))), runtime=scripted(x=[FOREVER])).start().run(0)
    driver.send(RunFaulted(run=driver.child("l", 2).run.key, message="broken"))
    driver.run(0)
    assert driver.live("l") == [1, 3, 4, 5]
    for flow in list(driver.tree.live.values())[1:]:
        record = driver.attempt("x", flow)
        driver.send(Faulted(attempt=record.key, message="broken"))
    assert driver.run().statuses() == {"l": "FATALLY_FAILED"}
