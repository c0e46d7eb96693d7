"""A step that announces signals has succeeded only when they are stored."""

from typing import Any

import pytest
from tests.engine.driver import Driver, Work, scripted
from tests.engine.shapes import UNIQUE, computed, noop, number, result, step, workflow

from stretto.engine.effects import AnnounceSignals, SetTimer
from stretto.engine.events import Fetched, RunAction, SignalsAnnounced
from stretto.model.actions import StepAction
from stretto.model.artifact import DynamicOutputArtifact
from stretto.model.param import ParamType
from stretto.model.retry import RetryPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.signal_instance import SignalOutput
from stretto.model.status import StepStatus
from stretto.model.workflow import Semantics

S = StepStatus
DONE = (SignalOutputDefinition(name="done", params={"n": number(7)}),)


class Silent(Driver):
    """Nobody takes its announcements."""

    def _AnnounceSignals(self, effect: AnnounceSignals) -> None:  # noqa: N802 - named like the effect
        pass

    def answer(self, *outputs: SignalOutput) -> "Silent":
        self.send(SignalsAnnounced(attempt=self.attempt("a").key, outputs=outputs))
        return self

    def asked(self) -> list[Any]:
        return [each.outputs for each in self.effects if isinstance(each, AnnounceSignals)]


def waiting(*after: Any, **fields: Any) -> Silent:
    a = step("a", *(after or ("b",)), **{"signal_outputs": DONE, **fields})
    driver = Silent(workflow(a, noop("b"), step("other")), runtime=scripted(other=[Work(after=None)]))
    driver.start().run(0)
    assert driver.attempt("a").status is S.FINISHING
    return driver


@pytest.mark.parametrize("kind", ["Python", "NoOp"])
def test_what_follows_waits_until_the_signals_are_stored(kind: str) -> None:
    driver = waiting(type=kind)
    assert driver.asked() == [({"name": "done", "params": {"n": 7}, "payload": {}},)]
    assert driver.statuses()["b"] == "NOT_CREATED"
    assert "signals are being announced" in str(driver.why("a"))
    driver.answer(SignalOutput(name="done", params={"n": 7}, signal_id=5, announce_time=9))
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "other": "STARTING"}
    left = driver.attempt("a").signal_outputs
    assert left is not None
    assert [(each.signal_id, each.announce_time) for each in left.outputs] == [(5, 9)]
    assert (left.info and left.info.message) == "Signal step outputs have been completed."
    assert not driver.send(SignalsAnnounced(attempt=driver.attempt("a").key)).changes


def test_a_step_that_announces_nothing_does_not_wait() -> None:
    driver = Silent(workflow(step("a", "b"), noop("b"))).finish()
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED"}
    assert driver.attempt("a").announced is False


def test_signals_that_the_work_found_out_are_waited_for_too() -> None:
    found = result({"name": "late", "n": 1}, ParamType.MAP)
    artifacts = {"maestro_dynamic_output": DynamicOutputArtifact(signal_outputs=[found])}
    driver = Silent(workflow(step("a")), runtime=scripted(a=[Work(artifacts=artifacts)]))
    driver.start().run(0)
    assert driver.attempt("a").status is S.FINISHING
    assert driver.answer().status == "SUCCEEDED"


def test_signals_carry_whole_numbers_of_64_bits() -> None:
    found = result({"name": "late", "n": 2**70}, ParamType.MAP)
    artifacts = {"maestro_dynamic_output": DynamicOutputArtifact(signal_outputs=[found])}
    wide = (SignalOutputDefinition(name="done", params={"n": number(2**70)}),)
    for outputs in (wide, ()):
        flow = workflow(step("a", signal_outputs=outputs), semantics=Semantics.STRETTO)
        works = [Work(artifacts={} if outputs else artifacts)]
        driver = Silent(flow, runtime=scripted(a=works)).finish()
        assert driver.statuses() == {"a": "FATALLY_FAILED"}
        assert "of a signal is a whole number that needs more than 64 bits" in str(driver.attempt("a").reason)


@pytest.mark.parametrize("action", [StepAction.STOP, StepAction.KILL, StepAction.SKIP])
def test_it_can_be_ended_meanwhile(action: StepAction) -> None:
    ends = {StepAction.STOP: S.STOPPED, StepAction.KILL: S.FATALLY_FAILED, StepAction.SKIP: S.SKIPPED}
    driver = waiting().step("a", action)
    assert driver.attempt("a").status is ends[action]
    assert not driver.send(SignalsAnnounced(attempt=driver.attempt("a").key)).changes
    assert driver.act(RunAction.STOP).run().flow.is_over


@pytest.mark.parametrize("action", [RunAction.STOP, RunAction.KILL, RunAction.TIME_OUT])
def test_it_does_not_hold_up_the_end_of_its_run(action: RunAction) -> None:
    assert waiting().act(action).run().flow.is_over


@pytest.mark.parametrize("kind", ["Python", "NoOp", "Sleep"])
@pytest.mark.parametrize("limit", [0, 1])
def test_it_times_out_like_any_other_step(kind: str, limit: int) -> None:
    params = {"sleep_seconds": number(0)} if kind == "Sleep" else None
    policy = RetryPolicy(timeout_retry_limit=limit)
    driver = waiting(type=kind, timeout=5, retry_policy=policy, params=params)
    assert sum(isinstance(each, SetTimer) and each.attempt is not None for each in driver.effects) == 2
    driver.run(5_000)
    assert driver.attempt("a").status is (S.TIMEOUT_FAILED if limit else S.TIMED_OUT)
    if limit:
        driver.run(60_000)
        driver.answer()
        assert driver.attempt("a").key.number == 2
        assert driver.attempt("a").status is S.SUCCEEDED


def test_the_signals_are_those_of_the_moment_when_the_work_was_done() -> None:
    clock = computed("return new DateTime().getMillis();")
    outputs = (SignalOutputDefinition(name="done", params={"at": clock, "late": UNIQUE}),)
    driver = waiting(signal_outputs=outputs)
    finished = driver.attempt("a").finish_time
    assert [each[0]["params"]["at"] for each in driver.asked()] == [finished]
    # It is asked again, as after a crash.
    driver.run(1_000).send(Fetched(attempt=driver.attempt("a").key, values={}))
    assert [each[0]["params"]["at"] for each in driver.asked()] == [finished, finished]


def test_an_edge_that_lacks_a_value_does_not_announce_again() -> None:
    driver = waiting(("b", "params.nextUniqueId() > 0"))
    driver.fetching = False
    driver.answer()
    assert (driver.attempt("a").status, driver.attempt("a").announced) == (S.FINISHING, True)
    assert "fetched" in str(driver.why("a"))
    key = driver.attempt("a").key
    driver.send(Fetched(attempt=key, values={("unique", key): 1}))
    assert driver.statuses()["b"] == "SUCCEEDED"
    assert len(driver.asked()) == 1


def test_an_edge_without_signals_is_decided_as_of_when_the_work_was_done() -> None:
    late = "params.nextUniqueId() > 0 && new DateTime().getMillis() == finished"
    a = step(
        "a", ("b", late), type="NoOp", params={"finished": computed("return new DateTime().getMillis();")}
    )
    driver = Driver(workflow(a, noop("b")))
    driver.fetching = False
    driver.start().run(5_000)
    key = driver.attempt("a").key
    driver.send(Fetched(attempt=key, values={("unique", key): 1}))
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED"}


def test_a_step_that_is_skipped_meanwhile_and_lacks_a_value_is_skipped() -> None:
    driver = waiting(("b", "params.nextUniqueId() > 0"))
    driver.fetching = False
    driver.step("a", StepAction.SKIP)
    assert driver.attempt("a").decided is S.SKIPPED
    driver.answer()
    key = driver.attempt("a").key
    driver.send(Fetched(attempt=key, values={("unique", key): 1}))
    assert driver.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED", "other": "STARTING"}
