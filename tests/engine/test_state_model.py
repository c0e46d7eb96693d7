"""Every event in every status of a step: a listed move, no change, or a refusal. Nothing else."""

from collections.abc import Callable

import pytest
from simulation.flows import STEP_REACH
from tests.engine.driver import Driver
from tests.engine.situations import RESTING, in_status

from stretto.engine import events as happened
from stretto.engine.decide import COMMANDS, HANDLERS
from stretto.engine.events import ResultState, RunAction
from stretto.engine.records import AttemptKey, RunKey, WakeReason
from stretto.model.actions import StepAction
from stretto.model.errors import StrettoError
from stretto.model.moves import STEP_MOVES
from stretto.model.param import Parameter, ParamType
from stretto.model.rollup import RollupOverview
from stretto.model.status import RunStatus, StepStatus

CHILD = RunKey("kid", 1, 1)


def made(driver: Driver) -> list[happened.Event]:
    """Every kind of event, about the step `job1` as it is now."""
    attempt = driver.attempt("job1")
    key, run = attempt.key, driver.flow.run.key
    now = driver.now
    due = attempt.wake_at or now
    value = Parameter(type=ParamType.LONG, value=1, evaluated_result=1, evaluated_time=1)
    return [
        happened.Launched(run=run),
        *(happened.Reported(attempt=key, launch=attempt.launch or 1, state=state) for state in ResultState),
        *(happened.Woken(attempt=key, reason=reason, due=due) for reason in WakeReason),
        happened.OutputTold(attempt=key, outputs={"after": value}),
        happened.WorkLost(attempt=key, launch=attempt.launch or 1),
        happened.FunctionsMissing(attempt=key, launch=attempt.launch or 1, functions=("f",)),
        happened.FunctionsFound(attempt=key, launch=attempt.launch or 1),
        happened.StepTimeDue(attempt=key, due=attempt.timeout_at or now),
        happened.RunTimeDue(run=run, due=driver.flow.run.timeout_at or now),
        happened.Granted(attempt=key),
        happened.SignalCame(attempt=key, index=0, signal_id=1),
        happened.Fetched(attempt=key, values={("unique", key): 1}),
        happened.Evaluated(attempt=key, params={"after": value}),
        happened.Evaluated(attempt=key, error="no"),
        happened.SignalsAnnounced(attempt=key),
        happened.BreakpointGone(attempt=key),
        happened.ChildStarted(attempt=key, child=CHILD, version_id=1, uuid="u"),
        happened.ChildRefused(attempt=key, message="no"),
        happened.ChildEnded(attempt=key, child=CHILD, status=RunStatus.FAILED),
        happened.ChildCounted(attempt=key, child=CHILD, version=1, rollup=RollupOverview()),
        happened.CalledBack(attempt=key, approved=True),
        *(happened.StepActed(attempt=key, action=action, user="ann") for action in StepAction),
        *(happened.RunActed(run=run, action=action, user="ann") for action in RunAction),
        *(happened.RunActed(run=run, action=action, user="ann", steps=("job1",)) for action in RunAction),
        *(happened.RunHeld(run=run, held=held, parent=CHILD) for held in (True, False)),
        happened.Resumed(attempt=key),
        happened.Faulted(attempt=key, message="ours"),
        happened.RunFaulted(run=run, message="ours"),
    ]


def test_every_kind_of_event_is_tried() -> None:
    tried = {type(event) for event in made(in_status(StepStatus.RUNNING))}
    assert tried == set(HANDLERS)


@pytest.mark.parametrize("status", RESTING)
def test_events_in_status(status: StepStatus) -> None:
    for number in range(len(made(in_status(status)))):
        driver = in_status(status)
        event = made(driver)[number]
        before = driver.attempt("job1")
        try:
            driver.send(event)  # the invariants are checked there
        except StrettoError:
            assert isinstance(event, COMMANDS)
            assert driver.attempt("job1").status is status
            continue
        now = driver.attempt("job1")
        if now is before:
            assert now.status in STEP_REACH.get(status, {status}), event
        else:
            assert StepStatus.CREATED in _moves(status), event
            assert now.key == AttemptKey(before.key.run, "job1", before.key.number + 1)


def _moves(status: StepStatus) -> set[StepStatus]:
    return set(STEP_MOVES.get(status, ()))


@pytest.mark.parametrize("status", RESTING)
def test_the_other_step_can_always_end_the_run(status: StepStatus) -> None:
    finish: Callable[[Driver], Driver] = lambda driver: driver.act(RunAction.STOP).run()  # noqa: E731
    assert finish(in_status(status)).flow.is_over


def test_what_a_runtime_can_say() -> None:
    assert [state.value for state in ResultState if not state.is_terminal] == ["CONTINUE"]
    bad = {"USER_ERROR", "PLATFORM_ERROR", "FATAL_ERROR", "TIMED_OUT"}
    assert {state.value for state in ResultState if state.is_failed} == bad
