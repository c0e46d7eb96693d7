"""What a step reads when it ends: its parameters, the run's, defaults; what nobody has, before the work."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.driver import Driver, Work, scripted
from tests.engine.shapes import computed, noop, number, result, step, text, workflow
from tests.engine.test_elsewhere import answered

from stretto.engine.effects import AnnounceSignals, StartWork
from stretto.engine.events import Fetched
from stretto.engine.settings import EngineSettings
from stretto.model.details import ErrorStatus
from stretto.model.retry import RetryPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.timeline import DetailsEvent
from stretto.model.workflow import Semantics


def output(name: str = "done", **params: Any) -> tuple[SignalOutputDefinition, ...]:
    return (SignalOutputDefinition(name=name, params=params),)


def carrying(payload: dict[str, Any], **params: Any) -> tuple[SignalOutputDefinition, ...]:
    return (SignalOutputDefinition(name="done", params=params, payload=payload),)


def announced(driver: Driver) -> list[dict[str, Any]]:
    (effect,) = [each for each in driver.effects if isinstance(each, AnnounceSignals)]
    return [dict(each) for each in effect.outputs]


def launched(driver: Driver) -> list[str]:
    return [each.attempt.step_id for each in driver.effects if isinstance(each, StartWork)]


def run(a: Any, *others: Any, semantics: Semantics | None = None, **params: Any) -> Driver:
    outputs = {"rows": result(7)} if a.params else {}
    runtime = scripted(a=[Work(outputs=outputs)])
    return Driver(workflow(a, *others, params=params, semantics=semantics), runtime=runtime).finish()


# --------------------------------------------------------------------------------------------- what is seen
def test_a_signal_has_a_value_of_the_name_of_a_parameter_of_the_step() -> None:
    driver = run(step("a", params={"rows": number(0)}, signal_outputs=output(rows=computed("rows"))))
    assert driver.status == "SUCCEEDED"
    assert announced(driver)[0]["params"] == {"rows": 7}


@pytest.mark.parametrize("name", ["workflow_instance_id", "step_attempt_id"])
def test_a_signal_of_a_step_without_parameters_reads_defaults(name: str) -> None:
    driver = run(step("a", signal_outputs=output(id=computed(name))))
    assert announced(driver)[0]["params"] == {"id": 1}


@pytest.mark.parametrize("semantics", [None, Semantics.STRETTO])
def test_a_signal_reads_the_run_and_other_values_of_itself(semantics: Semantics | None) -> None:
    values = {"n": computed("n + 1"), "own": computed("n * 10"), "sum": computed("own + n")}
    a = step("a", signal_outputs=output("of-${workflow_instance_id}", **values))
    driver = run(a, semantics=semantics, n=number(4))
    assert announced(driver) == [{"name": "of-1", "params": {"n": 5, "own": 40, "sum": 44}, "payload": {}}]


def test_a_payload_reads_the_step_the_run_and_other_values_of_the_signal() -> None:
    payload = {
        "of_step": {"type": "LONG", "expression": "rows + n"},
        "of_signal": {"type": "LONG", "expression": "own + of_step"},
        "plain": [1, {"a": None}],
    }
    a = step("a", params={"rows": number(0)}, signal_outputs=carrying(payload, own=number(100)))
    (found,) = announced(run(a, n=number(4)))
    assert found["payload"] == {"of_step": 11, "of_signal": 111, "plain": [1, {"a": None}]}


def test_a_payload_that_lacks_a_value_is_announced_when_it_has_come() -> None:
    payload = {"id": {"type": "LONG", "expression": "params.nextUniqueId()"}}
    driver = Driver(workflow(step("a", signal_outputs=carrying(payload))))
    driver.fetching = False
    driver.start().run(0)
    key = driver.attempt("a").key
    assert not [each for each in driver.effects if isinstance(each, AnnounceSignals)]
    driver.send(Fetched(attempt=key, values={("unique", key): 8}))
    assert announced(driver)[0]["payload"] == {"id": 8}


def test_a_condition_of_a_step_without_parameters_reads_defaults() -> None:
    driver = run(noop("a", ("b", "workflow_instance_id == 1"), ("c", "step_id == 'b'")), noop("b"), noop("c"))
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "UNSATISFIED"}


# -------------------------------------------------------------------------------------------- whose error
def error_of(driver: Driver) -> DetailsEvent:
    (found,) = [each for each in driver.attempt("a").timeline if isinstance(each, DetailsEvent)]
    return found


@pytest.mark.parametrize(
    ("a", "hint"),
    [
        (step("a", type="Shell", params={"command": text("echo $f")}), "for a shell variable write `$$f`"),
        (step("a", params={"p": text("on ${f}")}), "for the text itself write `$$f`"),
        (step("a", params={"p": computed("f + 1")}), "declare `f` as a parameter, or bring it"),
        (step("a", ("b", "f > 1")), "declare `f` as a parameter, or bring it"),
        (step("a", signal_outputs=output("to-${f}")), "for the text itself write `$$f`"),
    ],
)
def test_an_unknown_name_is_told_with_a_hint_and_is_not_retried(a: Any, hint: str) -> None:
    retried = replace(a, retry_policy=RetryPolicy(error_retry_limit=3, platform_retry_limit=3))
    driver = Driver(workflow(retried, noop("b"))).finish()
    assert driver.statuses()["a"] == "INTERNALLY_FAILED"
    assert driver.attempt("a").key.number == 1
    event = error_of(driver)
    assert (event.status, event.retryable) == (ErrorStatus.INTERNAL_ERROR, False)
    assert event.errors
    assert hint in event.message
    assert event.message == driver.attempt("a").reason


def test_what_can_not_be_evaluated_elsewhere_is_told_in_details() -> None:
    settings = EngineSettings(expression_visits=100)
    loop = "long s = 0; for (int i = 0; i < 1000; i += 1) {s += i;} return s / (p - p);"
    params = {"p": number(1), "q": computed(loop)}
    driver = Driver(workflow(step("a", params=params)), settings=settings)
    driver.fetching = False
    driver.start()
    driver.send(answered(driver))
    assert error_of(driver).status is ErrorStatus.INTERNAL_ERROR


# ----------------------------------------------------------------------------------------- before the work
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"signal_outputs": carrying({"rows": {"type": "LONG", "expression": "rowz"}})},
            "payload [rows] of the signal [done] refers to [rowz]",
        ),
        (
            {"signal_outputs": output(rows=computed("rowz"))},
            "param [rows] of the signal [done] refers to [rowz]",
        ),
        (
            {"signal_outputs": output(rows=computed("rows"))},
            "param [rows] of the signal [done] refers to [rows]",
        ),
        ({"signal_outputs": output("of-${table}")}, "the name of the signal [of-${table}] refers to [table]"),
        ({"signal_outputs": output(t=text("x ${table}"))}, "refers to [table]"),
        ({"edge": "day > 1"}, "the condition on the edge to [b] refers to [day]"),
    ],
)
def test_a_name_that_nobody_has_fails_the_step_before_its_work(fields: dict[str, Any], said: str) -> None:
    edge = fields.pop("edge", "true")
    driver = run(step("a", ("b", edge), **fields), noop("b"), semantics=Semantics.STRETTO)
    assert driver.statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED"}
    assert launched(driver) == []
    assert said in (driver.attempt("a").reason or "")


@pytest.mark.parametrize(
    "a", [step("a", ("b", "day > 1")), step("a", signal_outputs=output(rows=computed("rowz")))]
)
def test_in_maestro_the_step_fails_after_its_work(a: Any) -> None:
    driver = run(a, noop("b"))
    assert driver.statuses()["a"] == "INTERNALLY_FAILED"
    assert launched(driver) == ["a"]
    assert driver.attempt("a").finish_time is not None


@pytest.mark.parametrize("condition", ["x__y == 1", "params.get('day') == null", "bad ("])
def test_what_is_known_only_at_the_end_does_not_keep_the_work_back(condition: str) -> None:
    driver = run(step("a", ("b", condition)), noop("b"))
    assert launched(driver) == ["a"]
