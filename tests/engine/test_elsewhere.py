"""Expressions that are too long for a decision are evaluated elsewhere, and the step waits for them."""

import pickle

import pytest
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import UNIQUE, computed, noop, number, step, workflow

from stretto.engine.effects import EvaluateElsewhere, Fetch
from stretto.engine.elsewhere import answer, question_of
from stretto.engine.events import Evaluated, Fetched
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.initiator import SignalInitiator
from stretto.model.param import Parameter, ParamType
from stretto.model.signal import SignalDependencyDefinition
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode

S = StepStatus
LITTLE = EngineSettings(expression_visits=2_000)
LONG = "long s = 0; for (int i = 0; i < 5000; i += 1) {s += i;} return s;"
ENDLESS = "long s = 0; for (int i = 0; i < 25000; i += 0) {s += i;} return s;"
SUM = sum(range(5000))


def answered(driver: Driver, step_id: str = "a") -> Evaluated:
    """What a process of its own would send back: the question crosses a border."""
    assert isinstance(driver.effects[-1], EvaluateElsewhere)
    question = question_of(driver.flow, driver.attempt(step_id).key)
    return answer(pickle.loads(pickle.dumps(question)))  # noqa: S301 - our own


def test_params_that_take_long_are_evaluated_elsewhere_with_the_same_result() -> None:
    params = {"p": computed(LONG), "now": computed("return new DateTime().getMillis();")}
    roomy = Driver(workflow(step("a", params=params))).finish()
    driver = Driver(workflow(step("a", params=params)), settings=LITTLE).start().run(3_600_000)
    assert driver.attempt("a").status is S.EVALUATING_PARAMS
    assert "evaluated" in str(driver.why("a"))
    driver.send(answered(driver))
    driver.run()
    assert driver.status == "SUCCEEDED"
    assert driver.value("a", "p") == SUM
    assert driver.value("a", "now") == roomy.value("a", "now")


def test_what_fails_there_too_fails_the_step() -> None:
    driver = Driver(workflow(step("a", params={"p": computed(ENDLESS)})), settings=LITTLE).start()
    driver.send(answered(driver))
    assert driver.statuses() == {"a": "INTERNALLY_FAILED"}
    assert "25001" in str(driver.attempt("a").reason)


def test_a_value_that_is_missing_there_is_fetched_and_the_evaluation_goes_there_again() -> None:
    params = {"p": computed(LONG), "q": computed("p + r"), "r": UNIQUE}
    driver = Driver(workflow(step("a", params=params)), settings=LITTLE)
    driver.fetching = False
    driver.start()
    event = answered(driver)
    key = driver.attempt("a").key
    assert event.missing == (("unique", key),)
    driver.send(event)
    assert isinstance(driver.effects[-1], Fetch)
    driver.send(Fetched(attempt=key, values={("unique", key): 1}))
    driver.send(answered(driver))
    assert driver.run().value("a", "q") == SUM + 1


@pytest.mark.parametrize("failing", [False, True])
def test_conditions_that_take_long_are_evaluated_elsewhere(failing: bool) -> None:
    long = f"{LONG[:-9]} return s == {SUM};"
    a = step("a", ("b", long), ("c", f"!(s == {SUM})" if failing else "p > 1"), params={"p": number(2)})
    driver = Driver(workflow(a, noop("b"), noop("c")), settings=LITTLE).start().run(0)
    assert driver.attempt("a").status is S.FINISHING
    event = answered(driver)
    driver.send(event)
    if failing:
        assert event.error is not None
        assert driver.statuses() == {"a": "INTERNALLY_FAILED", "b": "NOT_CREATED", "c": "NOT_CREATED"}
    else:
        assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "SUCCEEDED"}


def test_also_those_of_a_step_that_is_skipped_or_whose_failure_is_ignored() -> None:
    long = f"{LONG[:-9]} return s == {SUM};"
    a = step("a", ("b", long), failure_mode=FailureMode.IGNORE_FAILURE)
    driver = (
        Driver(workflow(a, noop("b")), settings=LITTLE, runtime=scripted(a=["FATAL_ERROR"])).start().run(0)
    )
    driver.send(answered(driver))
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}
    driver = Driver(workflow(a, noop("b")), settings=LITTLE, runtime=scripted(a=[FOREVER])).start().run(0)
    driver.step("a", StepAction.SKIP).run(0)
    driver.send(answered(driver))
    assert driver.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED"}


def test_a_condition_there_may_lack_a_value() -> None:
    long = f"long n = params.nextUniqueId(); {LONG[:-9]} return s > n;"
    driver = Driver(workflow(step("a", ("b", long)), noop("b")), settings=LITTLE)
    driver.fetched["unique", driver.flow.run.key] = 1
    driver.start().run(0)
    assert isinstance(driver.effects[-1], EvaluateElsewhere)
    driver.flow.fetched.clear()
    assert answered(driver).missing


def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    key = driver.attempt("a").key
    assert not driver.send(Evaluated(attempt=key)).changes
    assert not driver.send(Evaluated(attempt=key._replace(number=2))).changes
    assert question_of(driver.flow, key) is None


def test_it_sees_there_what_it_would_have_seen_here() -> None:
    before = step("before", "a", params={"v": number(3)}, type="NoOp")
    reads = {
        "p": computed(LONG),
        "v": computed("return params.getFromStep('before', 'v');"),
        "s": computed("return params.getFromSignal('go', 'n');"),
        "d": computed("return params.getFromSignalDependency('0', 'n');"),
        "x": computed("return params.getFromSignalOrDefault('nobody', 'n', '7');", ParamType.STRING),
    }
    a = step("a", params=reads, signal_dependencies=(SignalDependencyDefinition(name="go"),))
    given = Parameter(type=ParamType.LONG, value=1, evaluated_result=1, evaluated_time=1)
    initiator = SignalInitiator(trigger_uuid="t", signal_id_map={"go": 1}, params={"n": given})
    driver = Driver(workflow(before, a), settings=LITTLE, initiator=initiator)
    driver.world.announce("go", n=5)
    driver.start().run(0)
    for _ in range(5):
        if driver.attempt("a").status is S.EVALUATING_PARAMS:
            driver.send(answered(driver))
            driver.run(0)
    assert driver.status == "SUCCEEDED"
    assert [driver.value("a", name) for name in "vsdx"] == [3, 5, 5, "7"]


def test_loops_and_children_are_looked_up_under_the_attempt_that_made_them() -> None:
    driver = Driver(workflow(step("a", params={"p": computed(LONG)})), settings=LITTLE).start()
    question = question_of(driver.flow, driver.attempt("a").key)
    assert question is not None
    context = question.scope.context
    assert context.foreach("l", "x", "v").key == ("foreach", "l", 0, "x", "v")  # type: ignore[union-attr]
    assert context.subworkflow("a", "x", "v").key == ("subworkflow", "a", 1, "x", "v")  # type: ignore[union-attr]
    assert context.signal_dependency(0, "n") is None
    assert context.signal("go", "n") is None
    assert context.step("nobody") is None
