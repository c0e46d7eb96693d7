"""What a step waits for before and while it runs: breakpoints, signals, permits, time, people."""

import pytest
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import computed, foreach, noop, number, result, step, tag, text, workflow

from stretto.engine.effects import AnnounceSignals, LookForBreakpoint, StartWork, WatchSignals
from stretto.engine.events import BreakpointGone, CalledBack, Granted, SignalCame
from stretto.engine.kinds.sleep import LATEST
from stretto.engine.permits import PermitDefaults
from stretto.engine.settings import EngineSettings
from stretto.engine.why import why
from stretto.model.actions import StepAction
from stretto.model.artifact import DynamicOutputArtifact
from stretto.model.errors import WrongState
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.model.trigger import SignalOperator
from stretto.model.wire.scalars import decimal_of
from stretto.model.workflow import Criticality, Semantics

S = StepStatus
A = StepAction
ITEMS = {"i": computed("return new long[]{1, 2, 3};", ParamType.LONG_ARRAY)}


def real(value: str) -> ParamDefinition:
    return ParamDefinition(type=ParamType.DOUBLE, value=decimal_of(value))


def wants(name: str, **match: tuple[SignalOperator, object]) -> SignalDependencyDefinition:
    params = {
        key: SignalMatchParam(param=value if not isinstance(value, int) else number(value), operator=operator)  # type: ignore[arg-type]
        for key, (operator, value) in match.items()
    }
    return SignalDependencyDefinition(name=name, match_params=params or None)


# --------------------------------------------------------------------------------------- at a breakpoint
def test_a_breakpoint_holds_each_round_of_a_loop_until_it_goes() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, noop("a"))), breakpoints=frozenset({"a"})).start().run(0)
    flows = [driver.child("l", index) for index in (1, 2, 3)]
    assert {driver.attempt("a", flow).status for flow in flows} == {S.PAUSED}
    assert "breakpoint" in str(why(flows[0], "a"))
    driver.step("a", A.RESUME, run=flows[0].run.key).run(0)
    assert driver.live("l") == [2, 3]
    driver.standing.clear()
    for flow in flows[1:]:
        driver.send(BreakpointGone(attempt=driver.attempt("a", flow).key))
    assert driver.run().status == "SUCCEEDED"


def test_a_breakpoint_that_is_gone_already_holds_nothing_for_long() -> None:
    driver = Driver(workflow(noop("a")), breakpoints=frozenset({"a"}))
    driver.start()
    driver.standing.clear()
    assert any(isinstance(effect, LookForBreakpoint) for effect in driver.effects)
    driver.send(BreakpointGone(attempt=driver.attempt("a").key))
    assert driver.attempt("a").pause_time is not None
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize("resumed", [True, False])
def test_a_step_looks_for_its_signals_after_a_breakpoint(resumed: bool) -> None:
    a = step("a", signal_dependencies=(wants("s"),))
    driver = Driver(workflow(a), breakpoints=frozenset({"a"})).start().run(0)
    assert not any(isinstance(effect, WatchSignals) for effect in driver.effects)
    if resumed:
        driver.step("a", A.RESUME)
    else:
        driver.send(BreakpointGone(attempt=driver.attempt("a").key))
    assert driver.attempt("a").status is S.WAITING_FOR_SIGNALS
    driver.world.announce("s")
    assert driver.run().status == "SUCCEEDED"


def test_every_new_attempt_is_held_again() -> None:
    driver = Driver(
        workflow(step("a")), breakpoints=frozenset({"a"}), runtime=scripted(a=["USER_ERROR", "DONE"])
    )
    driver.start().run(0).step("a", A.RESUME).run(60_000)
    assert (driver.attempt("a").key.number, driver.attempt("a").status) == (2, S.PAUSED)


# ----------------------------------------------------------------------------------------------- signals
def test_a_step_waits_for_every_signal_with_the_values_it_wants() -> None:
    above = wants("level", watermark=(SignalOperator.GREATER_THAN, computed("return 2 * 5;")))
    a = step(
        "a",
        signal_dependencies=(above, wants("go_${name}")),
        params={"w": computed("return params.getFromSignalDependency('0', 'watermark');")},
    )
    driver = Driver(workflow(a, params={"name": text("now")})).start().run(0)
    driver.world.announce("level", watermark=5)
    driver.world.announce("go_now")
    driver.run(0)
    assert [reason.subject for reason in driver.why("a").reasons] == ["level"]
    assert "watermark > 10" in str(driver.why("a"))
    driver.world.announce("level", watermark=11)
    assert driver.run().status == "SUCCEEDED"
    assert driver.value("a", "w") == 11


def test_a_signal_that_came_twice_or_for_nothing_changes_nothing() -> None:
    driver = Driver(
        workflow(step("a", signal_dependencies=(wants("s"), wants("t")))), runtime=scripted(a=[FOREVER])
    )
    driver.start().run(0)
    key = driver.attempt("a").key
    driver.send(SignalCame(attempt=key, index=0, signal_id=1))
    for index, signal_id in ((0, 9), (7, 1)):
        assert not driver.send(SignalCame(attempt=key, index=index, signal_id=signal_id)).changes
    driver.send(SignalCame(attempt=key, index=1, signal_id=2))
    assert driver.attempt("a").status is S.STARTING
    assert not driver.send(SignalCame(attempt=key, index=1, signal_id=3)).changes


def test_matched_signals_are_kept_by_a_retry() -> None:
    a = step("a", signal_dependencies=(wants("s"),))
    driver = Driver(workflow(a), runtime=scripted(a=["USER_ERROR", "DONE"])).start().run(0)
    driver.world.announce("s")
    assert driver.run().status == "SUCCEEDED"
    assert len([effect for effect in driver.effects if isinstance(effect, WatchSignals)]) == 1


def test_bypass_ends_the_wait_for_signals() -> None:
    driver = Driver(workflow(step("a", signal_dependencies=(wants("s"),)))).start().run(0)
    driver.step("a", A.BYPASS_STEP_DEPENDENCIES).run()
    assert driver.status == "SUCCEEDED"
    signals = driver.attempt("a").signals
    assert signals is not None
    assert signals.info is not None
    assert signals.info.message == "Signal step dependencies have been bypassed by user [ann]"


def test_a_step_announces_its_signals_when_it_has_succeeded() -> None:
    output = SignalOutputDefinition(name="done_${p}", params={"n": computed("p + 1")}, payload={"k": [1]})
    found = result({"name": "demo_table", "rows": 3, "big": 1.5, "on": True}, ParamType.MAP)
    artifact = {"maestro_dynamic_output": DynamicOutputArtifact(signal_outputs=[found])}
    a = step("a", params={"p": number(1)}, signal_outputs=(output,))
    driver = Driver(
        workflow(a), runtime=scripted(a=[Work("DONE", artifacts=artifact, outputs={"p": result(4)})])
    ).finish()
    (effect,) = [each for each in driver.effects if isinstance(each, AnnounceSignals)]
    assert effect.outputs == (
        {"name": "done_4", "params": {"n": 5}, "payload": {"k": [1]}},
        {"name": "demo_table", "params": {"rows": 3}, "payload": {"big": 1.5, "on": True}},
    )
    driver = Driver(workflow(a), runtime=scripted(a=["FATAL_ERROR"])).finish()
    assert not any(isinstance(effect, AnnounceSignals) for effect in driver.effects)


# ----------------------------------------------------------------------------------------------- permits
@pytest.mark.parametrize(
    "state", ["DONE", "FATAL_ERROR", "STOPPED", "TIMED_OUT", "USER_ERROR", "PLATFORM_ERROR"]
)
def test_limits_are_never_exceeded_and_permits_always_given_back(state: str) -> None:
    steps = [step(f"s{n}", tags=(tag("two"), tag("odd") if n % 2 else tag("even", 1))) for n in range(8)]
    driver = Driver(workflow(*steps), limits={"two": 2}, runtime=lambda _effect: Work(state, 1_000)).finish()
    assert driver.world.most_held["two"] == 2
    assert driver.world.most_held["even"] == 1


def test_steps_of_a_run_and_its_loops_obey_the_instance_limit() -> None:
    leaves: list[AnyStep] = [step(f"s{n}") for n in range(5)]
    steps = (*leaves, foreach("l", ITEMS, step("inner"), noop("plain")))
    driver = Driver(
        workflow(*steps, instance_step_concurrency=2), runtime=lambda _effect: Work("DONE", 1_000)
    )
    assert driver.finish().status == "SUCCEEDED"
    assert driver.world.most_held["maestro_w:1:1"] == 2
    assert not any("loop" in tag for tag in driver.world.most_held)


@pytest.mark.parametrize(
    "settings",
    [EngineSettings(step_concurrency=1), EngineSettings(permit_defaults=PermitDefaults(workflow=1, step=1))],
)
def test_a_loop_does_not_hold_what_its_steps_wait_for(settings: EngineSettings) -> None:
    driver = Driver(workflow(foreach("l", ITEMS, step("a"), noop("b"))), settings=settings).finish()
    assert driver.status == "SUCCEEDED"
    assert driver.world.most_held["maestro_w"] == 1


def test_the_more_critical_goes_first() -> None:
    for criticality in (None, Criticality.HIGH):
        driver = Driver(
            workflow(step("a", tags=(tag("t"),)), criticality=criticality), limits={"t": 0}
        ).start()
        assert driver.effects[-1].criticality == criticality  # type: ignore[attr-defined]
        assert "permit of the tag t" in str(driver.why("a"))


def test_a_grant_for_an_attempt_that_does_not_wait_is_dropped() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    assert not driver.send(Granted(attempt=driver.attempt("a").key)).changes
    assert len([effect for effect in driver.effects if isinstance(effect, StartWork)]) == 1


# ---------------------------------------------------------------------------------------- time and people
@pytest.mark.parametrize(
    ("params", "seconds"),
    [
        ({"sleep_seconds": number(30)}, 30),
        ({"sleep_seconds": number(0)}, 0),
        ({"sleep_seconds": number(-5)}, 0),
        ({"sleep_until": number(1_700_000_090_000)}, 90),
        ({"sleep_until": number(1)}, 0),
        ({}, 3),
    ],
)
def test_sleep(params: dict[str, object], seconds: int) -> None:
    driver = Driver(workflow(step("a", "b", type="Sleep", params=params), noop("b"))).start()
    if seconds:
        assert driver.attempt("a").status is S.RUNNING
        assert driver.why("a").reasons[0].until == driver.now + seconds * 1_000
    driver.run()
    assert driver.status == "SUCCEEDED"
    assert driver.attempt("a").end_time - driver.attempt("a").start_time == seconds * 1_000  # type: ignore[operator]


@pytest.mark.parametrize(
    "params",
    [
        {"sleep_millis": real("Infinity")},
        {"sleep_seconds": number(2**70)},
        {"sleep_until": number(2**63)},
    ],
)
def test_a_sleep_for_ever_ends_in_the_year_9999(params: dict[str, object]) -> None:
    driver = Driver(workflow(step("a", type="Sleep", params=params), semantics=Semantics.STRETTO)).start()
    assert driver.why("a").reasons[0].until == LATEST


@pytest.mark.parametrize("params", [{"sleep_millis": real("-Infinity")}, {"sleep_seconds": number(-(2**70))}])
def test_a_sleep_until_long_ago_is_none(params: dict[str, object]) -> None:
    driver = Driver(workflow(step("a", type="Sleep", params=params), semantics=Semantics.STRETTO)).start()
    assert driver.status == "SUCCEEDED"


def test_nobody_sleeps_for_nan() -> None:
    sleep = step("a", type="Sleep", params={"sleep_millis": real("NaN")})
    driver = Driver(workflow(sleep, semantics=Semantics.STRETTO)).finish()
    assert driver.statuses() == {"a": "FATALLY_FAILED"}
    assert driver.attempt("a").reason == "Param [sleep_millis] is NaN: no step can sleep for that long"


def test_a_sleep_that_makes_no_sense_fails_the_step() -> None:
    driver = Driver(workflow(step("a", type="Sleep", params={"sleep_until": text("soon")}))).finish()
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    assert "soon" in str(driver.attempt("a").reason)


def test_an_answer_ends_a_wait() -> None:
    wait = step("a", "b", type="Wait", params={"p": number(1)})
    driver = Driver(workflow(wait, noop("b"))).start()
    assert driver.why("a").reasons[0].cause == "PERSON"
    key = driver.attempt("a").key
    driver.send(CalledBack(attempt=key, approved=True, user="bob", outputs={"p": result(9)}))
    assert driver.status == "SUCCEEDED"
    assert driver.value("a", "p") == 9
    assert driver.lines("a") == ["User [bob] approved the step"]


def test_a_refusal_fails_a_wait_for_good() -> None:
    driver = Driver(workflow(step("a", "b", type="Wait"), noop("b"))).start()
    driver.send(CalledBack(attempt=driver.attempt("a").key, approved=False, message="not today"))
    assert driver.statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED"}
    assert driver.attempt("a").reason == "not today"


def test_a_refusal_without_a_note_names_who_refused() -> None:
    for user, name in (("bob", "bob"), (None, "unknown")):
        driver = Driver(workflow(step("a", type="Wait"))).start()
        driver.send(CalledBack(attempt=driver.attempt("a").key, approved=False, user=user))
        assert driver.attempt("a").reason == f"user [{name}] refused it"


def test_an_answer_for_a_step_that_waits_for_none_is_refused() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    for key in (driver.attempt("a").key, driver.attempt("a").key._replace(step_id="nobody")):
        with pytest.raises(WrongState, match="does not wait for an answer"):
            driver.send(CalledBack(attempt=key, approved=True))
