"""Runtimes that answer nonsense, values that are missing, and faults of our own."""

from copy import copy
from typing import Any

import pytest
from simulation.flows import caches_of, flows_of, records_of
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.invariants import Watchman
from tests.engine.shapes import (
    ITEMS,
    UNIQUE,
    computed,
    foreach,
    noop,
    number,
    result,
    step,
    tag,
    text,
    while_,
    workflow,
)

from stretto.engine import events as happened
from stretto.engine.decide import decide
from stretto.engine.effects import Effect, TerminateWork
from stretto.engine.events import Fetched, Reported, ResultState, RunAction, Woken
from stretto.engine.machine.begin import begin_again
from stretto.engine.records import WakeReason
from stretto.engine.turn import IllegalMove, Turn
from stretto.model.param import ParamType
from stretto.model.signal import SignalOutputDefinition
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import FailureMode

S = StepStatus


# ------------------------------------------------------------------------------------------------- outputs
def test_outputs_become_the_params_that_later_steps_read() -> None:
    a = step("a", "b", params={"p": number(1)})
    b = step("b", params={"q": computed("return params.getFromStep('a', 'p') + 1;")}, type="NoOp")
    driver = Driver(workflow(a, b), runtime=scripted(a=[Work(outputs={"p": result(5)})])).finish()
    assert (driver.value("a", "p"), driver.value("b", "q")) == (5, 6)
    assert driver.attempt("a").outputs == {}


@pytest.mark.parametrize(
    ("params", "outputs", "reason"),
    [
        ({}, {"p": result(5)}, "Invalid output parameter [p]"),
        ({"p": number(1)}, {"p": result("x", ParamType.STRING)}, "p"),
        ({"p": number(1)}, {"p": "nonsense"}, "internal error"),
        ({"p": text("")}, {"p": result("x" * 5_000_000, ParamType.STRING)}, "size"),
    ],
)
def test_outputs_that_do_not_fit_fail_the_step_internally(params: Any, outputs: Any, reason: str) -> None:
    a = step("a", params=params, failure_mode=FailureMode.IGNORE_FAILURE)
    driver = Driver(workflow(a, step("b")), runtime=scripted(a=[Work(outputs=outputs)])).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "SUCCEEDED"}
    assert reason in str(driver.attempt("a").reason)
    assert driver.status == "FAILED"


# ------------------------------------------------------------------------------------------------ nonsense
@pytest.mark.parametrize("more", [{"state": "FOO"}, {"artifacts": 5}, {"timeline": 5}, {"outputs": 7}])
def test_an_answer_that_makes_no_sense_ends_the_work_and_the_step(more: dict[str, Any]) -> None:
    driver = (
        Driver(workflow(step("a", "b"), noop("b"), step("c")), runtime=scripted(a=[FOREVER])).start().run(0)
    )
    fields = {"state": ResultState.CONTINUE, **more}
    driver.send(Reported(attempt=driver.attempt("a").key, launch=1, **fields))
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("a").ending is S.INTERNALLY_FAILED
    driver.run()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "NOT_CREATED", "c": "SUCCEEDED"}
    assert driver.attempt("a").reason
    assert driver.status == "FAILED"


def test_nonsense_after_a_termination_still_ends_the_step() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start().run(0)
    driver.stubborn = True
    driver.act(RunAction.STOP)
    driver.send(Reported(attempt=driver.attempt("a").key, launch=1, state="FOO"))  # type: ignore[arg-type]
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    assert driver.flow.is_over


@pytest.mark.parametrize("key", [("a", 2), ("nobody", 1)])
def test_answers_of_other_attempts_and_launches_do_not_count(key: tuple[str, int]) -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    run = driver.flow.run.key
    attempt = driver.attempt("a").key._replace(step_id=key[0], number=key[1])
    assert not driver.send(Reported(attempt=attempt, launch=1, state=ResultState.DONE)).changes
    assert not driver.send(
        Reported(attempt=driver.attempt("a").key, launch=2, state=ResultState.DONE)
    ).changes
    due = driver.now
    assert not driver.send(Woken(attempt=driver.attempt("a").key, reason=WakeReason.POLL, due=due)).changes
    assert not driver.send(happened.StepTimeDue(attempt=driver.attempt("a").key, due=due)).changes
    assert not driver.send(happened.Launched(run=run)).changes


# ------------------------------------------------------------------------------------------------- missing
def test_a_value_that_must_be_fetched_gives_what_it_would_have_given_at_once() -> None:
    dice = computed("return new DateTime().getMillis();")
    params = {"late": UNIQUE, "now": dice}
    at_once = Driver(workflow(step("a", params={"now": dice}))).finish()
    waiting = Driver(workflow(step("a", params=params)))
    waiting.fetching = False
    waiting.start().run(3_600_000)
    assert waiting.attempt("a").status is S.EVALUATING_PARAMS
    assert "fetched" in str(waiting.why("a"))
    key = waiting.attempt("a").key
    waiting.send(Fetched(attempt=key, values={("unique", key): 8}))
    assert waiting.run().value("a", "late") == 8
    assert waiting.value("a", "now") == at_once.value("a", "now")
    assert waiting.attempt("a").asked_at is None


def test_a_value_that_comes_twice_launches_nothing_twice() -> None:
    driver = (
        Driver(workflow(step("a", params={"late": UNIQUE})), runtime=scripted(a=[FOREVER])).start().run(0)
    )
    key = driver.attempt("a").key
    assert not driver.send(Fetched(attempt=key, values={("unique", key): 9})).effects
    assert not driver.send(Fetched(attempt=key._replace(number=7), values={})).changes
    assert not driver.send(Fetched(attempt=key._replace(step_id="nobody"), values={})).changes
    assert driver.attempt("a").status is S.STARTING


def test_signals_of_a_step_may_need_a_value_before_and_after() -> None:
    outputs = (SignalOutputDefinition(name="done", params={"n": UNIQUE}),)
    driver = Driver(workflow(step("a", signal_outputs=outputs))).finish()
    assert driver.world.signals[0].params == {"n": 4711}
    named = (SignalOutputDefinition(name="${v}"),)
    bad = Driver(workflow(step("a", signal_outputs=named))).finish()
    assert bad.statuses() == {"a": "INTERNALLY_FAILED"}


# -------------------------------------------------------------------------------------------------- faults
def rich(runtime: Any = None) -> Driver:
    """A run in which a decision has a lot to do."""
    steps = (
        step("a", "b", "l", ("c", "p > 0"), params={"p": number(1)}, tags=(tag("t", 1),)),
        step("b", "d", tags=(tag("t", 1),)),
        noop("c", "d"),
        noop("d"),
        foreach("l", ITEMS, step("x", "y"), noop("y"), concurrency=2),
        foreach("m", ITEMS, noop("n")),
        while_("w", "n < 2", {"n": number(0)}, step("z", params={"n": computed("n + 1")})),
    )
    return Driver(workflow(*steps), runtime=runtime or scripted(x=["USER_ERROR", "DONE"]))


class Boom(BaseException):
    """Not an `Exception`: nobody contains it."""


def state_of(driver: Driver) -> tuple[Any, ...]:
    flow = driver.flow
    records = {key: copy(record) for key, record in records_of(flow).items()}
    objects = {key: id(record) for key, record in records_of(flow).items()}
    return records, objects, caches_of(flow), set(flow.tree.live), [id(each) for each in flows_of(flow)]


def events_of(driver: Driver) -> list[tuple[happened.Event, int]]:
    """Everything that happens in a run, with its time."""
    seen: list[tuple[happened.Event, int]] = []
    send = driver.send

    def noted(event: happened.Event) -> Any:
        seen.append((event, driver.now))
        return send(event)

    driver.send = noted  # type: ignore[method-assign]
    driver.finish()
    return seen


@pytest.mark.parametrize("point", ["move", "move_run", "act", "add_run", "add_attempt", "add_loop", "later"])
def test_after_a_decision_that_broke_off_everything_is_as_before(
    point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = events_of(rich())
    driver = rich()
    real = getattr(Turn, point)
    breaks = 0
    for event, now in seen:
        before = state_of(driver)
        for number_of_call in range(1, 400):
            calls = 0

            def fails(self: Turn, *args: Any, limit: int = number_of_call) -> Any:
                nonlocal calls
                calls += 1
                if calls == limit:
                    raise Boom
                return real(self, *args)

            with monkeypatch.context() as patch, pytest.MonkeyPatch.context():
                patch.setattr(Turn, point, fails)
                try:
                    decide(driver.flow, event, now)
                except Boom:
                    breaks += 1
                    assert state_of(driver) == before
                else:
                    break
        else:
            raise AssertionError("the decision never gets to its end")
    assert driver.flow.is_over
    assert breaks > 1


@pytest.mark.parametrize("point", ["move", "act", "add_attempt", "add_run", "later"])
def test_a_fault_of_our_own_harms_one_step_and_never_the_run(
    point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(Turn, point)
    for number_of_call in range(2, 40, 3):
        driver = rich()
        calls = 0

        def fails(self: Turn, *args: Any, limit: int = number_of_call) -> Any:
            nonlocal calls
            calls += 1
            if calls == limit:
                raise ZeroDivisionError("ours")
            return real(self, *args)

        with monkeypatch.context() as patch:
            patch.setattr(Turn, point, fails)
            try:
                driver.start()
            except ZeroDivisionError:
                driver.watchman = Watchman(driver)
                driver.world.queue.clear()
                driver.start()  # the message is delivered once more
            driver.run()
        assert driver.flow.is_over, (number_of_call, driver.statuses())


def test_a_fault_that_can_not_be_contained_is_raised_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start().run(0)
    before = state_of(driver)

    def broken(*_args: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Turn, "move", broken)
    monkeypatch.setattr(Turn, "act", broken)
    with pytest.raises(RuntimeError, match="broken"):
        driver.report("a")
    assert state_of(driver) == before


def test_only_listed_moves_are_made() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    turn = Turn(driver.flow, driver.now)
    with pytest.raises(IllegalMove, match="STARTING -> SUCCEEDED"):
        turn.move(driver.flow, driver.attempt("a"), S.SUCCEEDED)
    with pytest.raises(IllegalMove, match="IN_PROGRESS -> CREATED"):
        turn.move_run(driver.flow, RunStatus.CREATED)
    with pytest.raises(LookupError):
        begin_again(turn, Driver(workflow(step("a"))).flow, 0)
    assert issubclass(TerminateWork, Effect)
