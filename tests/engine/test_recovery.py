"""After every commit the owner of a run may die. Whoever loads it asks again, and it ends the same way."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from simulation.flows import caches_of, loaded, records_of
from tests.engine.crashing import Death, Mortal, ends
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.lives import LIVES, alive
from tests.engine.shapes import foreach, noop, numbers, step, subworkflow, tag, workflow
from tests.engine.situations import in_status
from tests.engine.test_chaos import WORKS, answer_all, carry_out, command, shapes
from tests.engine.test_oracle import Interpreter, scenario

from stretto.engine import effects as todo
from stretto.engine.effects import StartWork
from stretto.engine.events import Fetched, Reported, ResultState, Resumed, RunAction
from stretto.engine.records import WakeReason
from stretto.engine.recovery import Recovery, recovery_of
from stretto.model.errors import StrettoError
from stretto.model.status import StepStatus

S = StepStatus
MOST = 60  # decisions in the life of one run
DEATHS = st.sampled_from([None, None, None, *Death])


# ----------------------------------------------------------------------------------------------- one death
@pytest.mark.parametrize("death", Death)
@pytest.mark.parametrize("name", LIVES)
def test_a_run_whose_owner_dies_once_ends_as_if_nobody_had(name: str, death: Death) -> None:
    quiet = alive(LIVES[name]()).finish()
    wanted = ends(quiet)
    assert quiet.decisions < MOST
    for moment in range(1, quiet.decisions + 1):
        driver = alive(LIVES[name](), dies=lambda count, moment=moment: death if count == moment else None)
        driver.finish()
        assert driver.deaths == 1
        assert ends(driver) == wanted, moment
        assert {each.name for each in driver.world.signals} == {each.name for each in quiet.world.signals}


# ------------------------------------------------------------------------------------------------ many deaths
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario(), st.randoms(use_true_random=False), st.data())
def test_random_workflows_end_the_same_way_however_often_owners_die(made: Any, dice: Any, data: Any) -> None:
    steps, script = made
    wanted, run = Interpreter(script).run(steps)

    def work(effect: StartWork) -> Work:
        said = script[effect.attempt.step_id]
        return Work(said[min(effect.attempt.number, len(said)) - 1], dice.randrange(0, 5_000))

    driver = Mortal(workflow(*steps), runtime=work, dies=lambda _: data.draw(DEATHS)).finish()
    assert driver.statuses() == wanted
    assert driver.status == run


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(command(), max_size=10), st.randoms(use_true_random=False), st.data())
def test_whatever_is_asked_when_and_whoever_dies_the_run_can_end(commands: Any, dice: Any, data: Any) -> None:
    library = {"kid": workflow(step("toil"), id="kid")}
    driver = Mortal(
        workflow(*shapes()),
        runtime=lambda _: dice.choice(WORKS),
        library=library,
        dies=lambda _: data.draw(DEATHS),
    )
    driver.start()
    for kind, action, name, number in commands:
        with suppress(StrettoError):
            carry_out(driver, kind, action, name, number)
    for last in (RunAction.STOP, RunAction.KILL):  # the first ends the run, the second what undoes it
        with suppress(StrettoError):
            driver.act(last)
        answer_all(driver)
    assert driver.flow.is_over, driver.statuses()


# ------------------------------------------------------------------------------------------ what is asked
def asked(driver: Driver, step_id: str) -> list[Any]:
    """What is asked again for a step, beside its timeout."""
    recovery = recovery_of(loaded(driver.flow))
    mine = [each for each in (*recovery.events, *recovery.effects) if _is_about(each, step_id)]
    return [each for each in mine if not (isinstance(each, todo.SetTimer) and each.reason is None)]


def _is_about(each: Any, step_id: str) -> bool:
    attempt = getattr(each, "attempt", None)
    return attempt is not None and attempt.step_id == step_id


def test_nothing_is_changed_by_asking() -> None:
    driver = in_status(S.RUNNING)
    before = (repr(records_of(driver.flow)), caches_of(driver.flow))
    recovery_of(driver.flow)
    assert (repr(records_of(driver.flow)), caches_of(driver.flow)) == before


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (S.CREATED, [Fetched]),
        (S.PAUSED, [todo.LookForBreakpoint]),
        (S.WAITING_FOR_SIGNALS, [todo.WatchSignals]),
        (S.EVALUATING_PARAMS, [Fetched]),
        (S.WAITING_FOR_PERMITS, [todo.AskPermits]),
        (S.STARTING, [todo.StartWork]),
        (S.RUNNING, [todo.LookAtWork]),
        (S.FINISHING, [Fetched]),
        (S.USER_FAILED, [todo.SetTimer]),
        (S.SUCCEEDED, []),
        (S.FATALLY_FAILED, []),
        (S.INITIALIZED, [Fetched]),
    ],
)
def test_what_is_asked_in_each_status(status: StepStatus, wanted: list[type]) -> None:
    assert [type(each) for each in asked(in_status(status), "job1")] == wanted


@pytest.mark.parametrize("status", [S.WAITING_FOR_SIGNALS, S.WAITING_FOR_PERMITS, S.STARTING])
def test_it_is_asked_as_it_was_the_first_time(status: StepStatus) -> None:
    driver = in_status(status)
    (again,) = asked(driver, "job1")
    assert again in driver.effects


def test_an_attempt_that_waits_for_nothing_asks_for_nothing() -> None:
    driver = in_status(S.WAITING_FOR_SIGNALS)
    driver.attempt("job1").signals = None
    assert asked(driver, "job1") == []


def test_timers_are_set_again() -> None:
    driver = in_status(S.RUNNING)
    attempt = driver.attempt("job1")
    driver.send(Reported(attempt=attempt.key, launch=1, state=ResultState.CONTINUE, again_after=500))
    timers = [each for each in recovery_of(driver.flow).effects if isinstance(each, todo.SetTimer)]
    known = [each for each in driver.effects if isinstance(each, todo.SetTimer)]
    assert {(each.attempt, each.due, each.reason) for each in timers} <= {
        (each.attempt, each.due, each.reason) for each in known
    }
    assert {each.reason for each in timers if each.attempt == attempt.key} == {None, WakeReason.POLL}
    assert any(each.attempt is None for each in timers)


def test_work_that_is_being_ended_is_asked_to_end() -> None:
    driver = in_status(S.RUNNING)
    driver.stubborn = True
    driver.act(RunAction.STOP)
    assert asked(driver, "job1") == [todo.TerminateWork(attempt=driver.attempt("job1").key, launch=1)]


def test_a_loop_and_its_iterations_ask_each_for_itself() -> None:
    body = foreach("l", {"i": numbers(1, 2, 3)}, step("x", tags=(tag("t", 1),)), concurrency=2)
    driver = Driver(workflow(body), runtime=scripted(x=[FOREVER])).start().run(0)
    assert asked(driver, "l") == [Resumed(attempt=driver.attempt("l").key)]
    assert sorted(type(each).__name__ for each in asked(driver, "x")) == ["AskPermits", "StartWork"]


@pytest.mark.parametrize("sync", [True, False])
def test_a_child_is_started_once_more_until_it_is_known(sync: bool) -> None:
    driver = Driver(
        workflow(subworkflow("s", "kid", sync=sync)), library={"kid": workflow(step("k"), id="kid")}
    )
    driver.start()
    (again,) = asked(driver, "s")
    assert again == next(each for each in driver.effects if isinstance(each, todo.StartChild))
    driver.act(RunAction.STOP)
    (again,) = asked(driver, "s")
    if sync:
        assert again == todo.StopChild(attempt=driver.attempt("s").key, child=None, user="stop by ann")
    else:
        assert isinstance(again, todo.StartChild)


def test_a_child_that_is_known_says_by_itself_when_it_ends() -> None:
    kid = workflow(step("k"), id="kid")
    driver = Driver(workflow(subworkflow("s", "kid")), library={"kid": kid}, runtime=lambda _: None)
    driver.start().run(0)
    assert asked(driver, "s") == []
    driver.act(RunAction.STOP)
    assert asked(driver, "s") == [each for each in driver.effects if isinstance(each, todo.StopChild)]


def test_a_run_that_has_ended_says_so_again() -> None:
    driver = Driver(workflow(noop("a"))).finish()
    ended = todo.RunEnded(run=driver.flow.run.key, status=driver.flow.run.status)
    assert recovery_of(loaded(driver.flow)) == Recovery([], [ended])


def test_a_run_that_has_not_begun_asks_for_nothing() -> None:
    assert recovery_of(Driver(workflow(step("a"))).flow) == Recovery([], [])
