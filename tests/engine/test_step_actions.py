"""Every action in every status of a step: what the table lists happens, anything else is refused."""

from copy import copy

import pytest
from simulation.flows import caches_of, records_of
from tests.engine.situations import (
    BAD_PARAM,
    LATE_PARAM,
    RESTING,
    driver_of,
    in_status,
    let_end,
    sample,
)

from stretto.engine.effects import StartWork, TerminateWork
from stretto.engine.events import Fetched, RunAction, StepActed
from stretto.engine.records import AttemptKey
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import NotFound, WrongState
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode

S, A = StepStatus, StepAction
ENDS = {A.STOP: S.STOPPED, A.KILL: S.FATALLY_FAILED, A.SKIP: S.SKIPPED}


def expected(status: StepStatus, action: StepAction) -> StepStatus | None:
    """The status of the newest attempt after the action; None: refused."""
    if action not in STEP_ACTIONS[status] or action is A.PAUSE:
        return None
    if action in ENDS and status.is_wakeable:
        return ENDS[action]
    if action is A.RESUME or action is A.BYPASS_STEP_DEPENDENCIES:
        return S.STARTING
    if not status.is_restartable:
        return None
    if action is A.SKIP:
        return S.SKIPPED
    return {S.INTERNALLY_FAILED: S.INTERNALLY_FAILED, S.STOPPED: S.WAITING_FOR_SIGNALS}.get(
        status, S.STARTING
    )


@pytest.mark.parametrize("action", list(A))
@pytest.mark.parametrize("status", RESTING)
def test_action_in_status(status: StepStatus, action: StepAction) -> None:
    driver = in_status(status)
    driver.runtime = lambda _effect: None
    driver.fetching = True
    number = driver.attempt("job1").key.number
    wanted = expected(status, action)
    if wanted is None:
        before = {key: copy(record) for key, record in records_of(driver.flow).items()}
        caches = caches_of(driver.flow)
        with pytest.raises(WrongState):
            driver.step("job1", action)
        assert records_of(driver.flow) == before
        assert caches_of(driver.flow) == caches
    else:
        driver.step("job1", action)
        driver.world.run(0)
        attempt = driver.attempt("job1")
        assert attempt.status is wanted
        assert attempt.key.number == number + (action is A.RESTART or not status.is_wakeable)
        assert "ann" in "".join(driver.lines("job1")) or attempt.key.number > number


@pytest.mark.parametrize("status", [status for status in RESTING if status.is_wakeable])
def test_a_skipped_step_lets_its_successors_run(status: StepStatus) -> None:
    if A.SKIP in STEP_ACTIONS[status]:
        driver = in_status(status)
        driver.fetching = True
        let_end(driver.step("job1", A.SKIP).run(0))
        assert driver.statuses() == {
            "before": "SUCCEEDED",
            "job1": "SKIPPED",
            "after": "SUCCEEDED",
            "other": "SUCCEEDED",
        }
        assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize("status", [status for status in RESTING if status.is_wakeable])
@pytest.mark.parametrize(("action", "outcome"), [(A.STOP, "STOPPED"), (A.KILL, "FAILED")])
def test_what_follows_an_ended_step_never_begins(
    status: StepStatus, action: StepAction, outcome: str
) -> None:
    driver = in_status(status)
    driver.step("job1", action).run(0)
    let_end(driver)
    assert driver.statuses()["after"] == "NOT_CREATED"
    assert driver.status == outcome


@pytest.mark.parametrize("status", [S.STARTING, S.RUNNING])
def test_work_is_terminated_before_its_step_ends(status: StepStatus) -> None:
    driver = in_status(status)
    driver.stubborn = True
    driver.step("job1", A.STOP).run(1_000)
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("job1").status is status
    assert str(driver.why("job1")) == "its work is being ended, then it is STOPPED"
    with pytest.raises(WrongState, match="being ended already"):
        driver.step("job1", A.KILL)
    driver.report("job1")
    assert driver.attempt("job1").status is S.STOPPED
    assert driver.attempt("job1").reason == "stop by ann"


def test_a_step_is_not_known_before_it_is_created() -> None:
    driver = driver_of(sample()).start()
    message = (
        r"Cannot skip step \[sample-minimal-wf\]\[1\]\[after\] before it is created. Please try it again."
    )
    with pytest.raises(WrongState, match=message):
        driver.step("after", A.SKIP)
    with pytest.raises(NotFound, match="has no step nobody"):
        driver.step("nobody", A.STOP)


def test_an_action_on_an_attempt_that_is_not_the_newest_is_refused() -> None:
    driver = in_status(S.FATALLY_FAILED)
    driver.step("job1", A.RESTART)
    old = StepActed(attempt=AttemptKey(driver.flow.run.key, "job1", 1), action=A.STOP, user="ann")
    with pytest.raises(WrongState, match="attempt 1 is not the newest any more"):
        driver.send(old)


@pytest.mark.parametrize("mode", [FailureMode.IGNORE_FAILURE, FailureMode.FAIL_IMMEDIATELY])
@pytest.mark.parametrize("action", [A.RESTART, A.SKIP])
def test_only_fail_after_running_is_restarted_in_the_same_run(mode: FailureMode, action: StepAction) -> None:
    driver = in_status(S.INTERNALLY_FAILED, mode)
    with pytest.raises(WrongState, match=f"failure mode {mode}"):
        driver.step("job1", action)


@pytest.mark.parametrize("mode", list(FailureMode))
def test_a_killed_step_obeys_its_failure_mode_and_a_killed_run_does_not(mode: FailureMode) -> None:
    driver = in_status(S.RUNNING, mode).step("job1", A.KILL).run(0)
    ignored = mode is FailureMode.IGNORE_FAILURE
    assert driver.attempt("job1").status is (S.COMPLETED_WITH_ERROR if ignored else S.FATALLY_FAILED)
    assert driver.flow.is_over is (mode is FailureMode.FAIL_IMMEDIATELY)
    driver = in_status(S.RUNNING, mode).act(RunAction.KILL).run(0)
    assert driver.attempt("job1").status is S.FATALLY_FAILED
    assert driver.status == "FAILED"


def test_a_restart_by_hand_is_not_retried_and_brings_its_own_params() -> None:
    text = sample("params: {p: {type: LONG, value: 1}}", "retry_policy: {error_retry_limit: 5}")
    driver = driver_of(text, "FATAL_ERROR", "USER_ERROR").start().run(0)
    driver.step("job1", A.RESTART, params={"p": ParamDefinition(type=ParamType.LONG, value=7)}).run(0)
    started = [
        each for each in driver.effects if isinstance(each, StartWork) and each.attempt.step_id == "job1"
    ]
    assert [each.params["p"].evaluated_result for each in started] == [1, 7]
    assert driver.attempt("job1").status is S.FATALLY_FAILED


def test_a_restart_is_refused_while_the_run_is_held_or_ending() -> None:
    driver = in_status(S.FATALLY_FAILED).act(RunAction.PAUSE)
    with pytest.raises(WrongState, match="the run is paused"):
        driver.step("job1", A.RESTART)
    driver = in_status(S.FATALLY_FAILED)
    driver.stubborn = True
    driver.act(RunAction.STOP)
    with pytest.raises(WrongState, match="being ended"):
        driver.step("job1", A.RESTART)


def test_conditions_of_a_step_that_is_skipped_early_see_its_params() -> None:
    fields = (
        "params: {p: {type: LONG, value: 3}}",
        "tags: [full]",
        "transition: {successors: {after: 'p > 2'}}",
    )
    driver = driver_of(sample(*fields), limits={"full": 0}).start().run(0)
    driver.attempt("job1").params = None  # as if it had not come so far
    let_end(driver.step("job1", A.SKIP))
    assert driver.statuses()["after"] == "SUCCEEDED"
    assert driver.value("job1", "p") == 3


def test_skipping_waits_for_a_value_that_a_condition_reads() -> None:
    late = "transition: {successors: {after: 'p > 0'}}"
    driver = driver_of(sample(LATE_PARAM, "signal_dependencies: [{name: s}]", late)).start().run(0)
    driver.fetching = False
    driver.step("job1", A.SKIP)
    assert driver.attempt("job1").status is S.WAITING_FOR_SIGNALS
    assert driver.attempt("job1").decided is S.SKIPPED
    assert "fetched" in str(driver.why("job1"))
    driver.fetching = True
    driver.world.announce("s")  # too late: it is being skipped
    driver.run(0)
    key = driver.attempt("job1").key
    driver.send(Fetched(attempt=key, values={("unique", key): 5}))
    assert let_end(driver).statuses()["job1"] == "SKIPPED"
    assert driver.statuses()["after"] == "SUCCEEDED"


def test_a_condition_that_can_not_be_evaluated_fails_the_skipped_step() -> None:
    driver = driver_of(
        sample(BAD_PARAM, "signal_dependencies: [{name: s}]", "transition: {successors: {after: 'p > 0'}}")
    )
    driver.start().run(0).step("job1", A.SKIP)
    assert driver.attempt("job1").status is S.INTERNALLY_FAILED
