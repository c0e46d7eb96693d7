"""Small rules that the other tests pass by."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.restarting import restarted
from tests.engine.shapes import (
    ITEMS,
    UNIQUE,
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    tag,
    text,
    workflow,
)

from stretto.engine.context import step_facts
from stretto.engine.effects import LookAtWork, StartWork, TerminateWork
from stretto.engine.events import Fetched, ResultState, RunAction
from stretto.engine.records import RunRecord
from stretto.engine.settings import EngineSettings
from stretto.engine.turn import Turn
from stretto.engine.why import why
from stretto.model.actions import StepAction
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.initiator import SignalInitiator
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalOutputDefinition
from stretto.model.status import StepStatus
from stretto.params import STEP_DEFAULTS

S, R = StepStatus, RunAction
BY_SIGNAL = SignalInitiator(trigger_uuid="t", signal_id_map={"go": 1})


def test_texts_of_a_definition_know_the_params_of_the_run() -> None:
    driver = Driver(
        workflow(step("a", timeout="${t} s"), params={"t": number(9)}), runtime=scripted(a=[FOREVER])
    )
    assert driver.finish().attempt("a").end_time == driver.attempt("a").start_time + 9_000  # type: ignore[operator]
    driver = Driver(workflow(step("a", timeout="${go__n}")), initiator=BY_SIGNAL)
    driver.world.announce("go", n=5)
    assert "known only later" in str(driver.finish().attempt("a").reason)


def test_names_of_signals_may_need_a_value_that_is_fetched() -> None:
    wanted = (SignalDependencyDefinition(name="s${go__n}"),)
    announced = (SignalOutputDefinition(name="out${go__n}"),)
    driver = Driver(
        workflow(step("a", signal_dependencies=wanted, signal_outputs=announced)), initiator=BY_SIGNAL
    )
    driver.world.announce("go", n=5)
    driver.world.announce("s5")
    driver.start()
    driver.flow.fetched.clear()
    assert driver.run().status == "SUCCEEDED"
    driver = Driver(workflow(step("a", signal_outputs=announced)), initiator=BY_SIGNAL)
    driver.world.announce("go", n=5)
    assert driver.finish().world.signals[-1].name == "out5"


def test_a_dependency_that_is_bypassed_has_no_params() -> None:
    read = computed("return params.getFromSignalDependency('0', 'n');")
    a = step("a", signal_dependencies=(SignalDependencyDefinition(name="s"),), params={"p": read})
    driver = Driver(workflow(a)).start().run(0).step("a", StepAction.BYPASS_STEP_DEPENDENCIES)
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    bad = computed("return params.getFromSignalDependency('7', 'n');")
    assert Driver(workflow(step("a", params={"p": bad}))).finish().statuses() == {"a": "INTERNALLY_FAILED"}


def test_a_loop_that_takes_too_long_times_out_with_its_iterations() -> None:
    driver = Driver(
        workflow(foreach("l", ITEMS, step("a"), timeout=5)), runtime=scripted(a=[FOREVER])
    ).finish()
    assert driver.statuses() == {"l": "TIMED_OUT"}
    assert {run.status.value for run in driver.iterations("l")} == {"TIMED_OUT"}


def test_a_loop_with_too_many_steps_stops_the_run() -> None:
    loop = foreach("l", {"i": numbers(*range(30))}, noop("a"), noop("b"), concurrency=2)
    driver = Driver(workflow(loop), settings=EngineSettings(leaves=10)).finish()
    assert driver.status == "STOPPED"
    assert "more than 10 steps" in driver.lines()[-1]


def test_what_an_ending_attempt_hears_does_not_start_it_again() -> None:
    driver = Driver(workflow(step("a", params={"p": UNIQUE})), runtime=lambda _effect: None).start().run(0)
    driver.report("a", ResultState.CONTINUE, again_after=1_000)
    driver.stubborn = True
    driver.act(R.STOP)
    key = driver.attempt("a").key
    driver.send(Fetched(attempt=key, values={}))
    driver.report("a", ResultState.CONTINUE, again_after=5_000).run(2_000)
    assert not any(isinstance(effect, LookAtWork) for effect in driver.effects)
    assert len([effect for effect in driver.effects if isinstance(effect, StartWork)]) == 1
    assert isinstance(driver.effects[-1], TerminateWork)
    assert driver.attempt("a").ending is S.STOPPED


@pytest.mark.parametrize("first", [R.PAUSE, R.STOP])
def test_an_iteration_may_be_ahead_of_its_run(first: RunAction) -> None:
    driver = Driver(
        workflow(foreach("l", ITEMS, step("a"), concurrency=2)), runtime=scripted(a=[FOREVER])
    ).start()
    driver.stubborn = True
    driver.act(first, run=driver.child("l", 1).run.key)
    driver.act(R.PAUSE)
    with pytest.raises(WrongState, match=r"run \[w\]\[1\]\[1\], to which it belongs, is paused"):
        driver.act(R.RESUME, run=driver.child("l", 2).run.key)
    driver.act(R.RESUME)
    assert driver.child("l", 2).run.status == "IN_PROGRESS"
    if first is R.PAUSE:  # whoever paused it resumes it
        assert driver.child("l", 1).run.status == "PAUSED"
        driver.act(R.RESUME, run=driver.child("l", 1).run.key)
        assert driver.child("l", 1).run.status == "IN_PROGRESS"
    driver.act(R.STOP)
    assert {flow.run.ending for flow in driver.flow.children[0].values()} == {"STOPPED"}


def test_a_restart_must_begin_at_a_root_of_what_it_covers() -> None:
    steps = (step("a", "b"), step("b"))
    first = Driver(workflow(*steps), runtime=scripted(a=["FATAL_ERROR"])).finish()
    with pytest.raises(InvalidRequest, match="should be one of root nodes"):
        restarted(first, RunPolicy.RESTART_FROM_SPECIFIC, "b")
    node = RestartNode(workflow_id="w", instance_id=1, step_id="b")
    given = {"policy": RunPolicy.RESTART_FROM_SPECIFIC, "restart": RestartConfig(restart_path=(node,))}
    assert Driver(workflow(*steps), run=given).finish().status == "FAILED"  # no step was ever made


def test_the_defaults_of_a_step_are_there_for_those_who_ask() -> None:
    driver = Driver(workflow(noop("a", "b"), noop("b"))).finish()
    params = step_facts(driver.flow, driver.attempt("a")).params
    assert len(params) == len(STEP_DEFAULTS)
    assert set(params) == set(STEP_DEFAULTS)


# ----------------------------------------------------------------------------------------------------- why
def test_why_names_every_predecessor_that_is_not_complete() -> None:
    steps = (step("a", "d"), step("b", "c"), step("c", "d"), noop("x", "d"), noop("d"))
    driver = Driver(workflow(*steps), runtime=scripted(a=[FOREVER], b=[FOREVER])).start().run(0)
    assert str(driver.why("d")) == "its predecessor a is STARTING; its predecessor c has not begun"
    assert why(driver.flow, "nobody") is None
    assert "its work goes on" in str(driver.why("a"))


def test_why_says_how_a_step_ended_and_why() -> None:
    steps = (step("a"), noop("b"), step("c"))
    driver = Driver(workflow(*steps), runtime=scripted(a=[Work("FATAL_ERROR", message="boom")], c=[FOREVER]))
    driver.start().run(0)
    assert str(driver.why("a")) == "it ended FATALLY_FAILED: boom"
    assert str(driver.why("b")) == "it ended SUCCEEDED"
    waits = step("a", signal_dependencies=(SignalDependencyDefinition(name="s"),))
    assert str(Driver(workflow(waits)).start().why("a")) == "it waits for the signal s"


def test_why_of_a_loop_counts() -> None:
    loop = foreach("l", ITEMS, step("a"), concurrency=2, tags=(tag("t"),))
    driver = (
        Driver(workflow(loop, params={"x": text("y")}), runtime=scripted(a=[Work("DONE", 500)]))
        .start()
        .run(600)
    )
    assert str(driver.why("l")) == "2 of 5 iterations have ended, 2 are under way"
    assert driver.of(RunRecord)


def test_a_signal_that_did_not_start_the_run_can_not_be_read() -> None:
    read = computed("return params.getFromSignal('nobody', 'n');")
    driver = Driver(workflow(step("a", params={"p": read})), initiator=BY_SIGNAL).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}


def test_a_value_for_an_attempt_whose_work_is_being_ended_is_of_no_use() -> None:
    driver = Driver(workflow(step("a", params={"p": UNIQUE})), runtime=lambda _effect: None).start().run(0)
    driver.stubborn = True
    driver.act(R.STOP)
    assert not driver.send(Fetched(attempt=driver.attempt("a").key, values={})).changes


def test_a_fault_while_an_attempt_waits_for_its_end_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(workflow(step("a")), runtime=lambda _effect: None).start().run(0)
    driver.stubborn = True
    driver.act(R.STOP)

    def broken(*_args: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Turn, "later", broken)
    with pytest.raises(RuntimeError, match="broken"):
        driver.send(Fetched(attempt=driver.attempt("a").key, values={}))
    assert driver.attempt("a").ending is S.STOPPED


def test_the_short_way_of_a_plain_step_leaves_the_same_record_as_the_long_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = (noop("a", "b", "c"), noop("b", "d"), noop("c", "d"), noop("d"))
    short = Driver(workflow(*steps)).finish()
    monkeypatch.setattr("stretto.engine.machine.begin._passes_freely", lambda *_: False)
    long = Driver(workflow(*steps)).finish()
    assert short.flow.attempts == long.flow.attempts
    assert short.flow.run == long.flow.run
    assert short.flow.counts[S.SUCCEEDED] == long.flow.counts[S.SUCCEEDED]
