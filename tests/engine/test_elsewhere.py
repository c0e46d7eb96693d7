"""Expressions that are too long for a decision are evaluated elsewhere, and the step waits for them."""

import pickle

import pytest
from msgspec.structs import replace
from tests.engine.driver import FOREVER, Driver, Work, scripted
from tests.engine.shapes import ITEMS, UNIQUE, computed, foreach, noop, number, step, while_, workflow

from stretto.engine.effects import EvaluateElsewhere, Fetch
from stretto.engine.elsewhere import answer, question_of
from stretto.engine.events import Evaluated, Fetched
from stretto.engine.settings import EngineSettings
from stretto.engine.why import Cause
from stretto.model.actions import StepAction
from stretto.model.initiator import SignalInitiator
from stretto.model.param import Parameter, ParamType
from stretto.model.retry import RetryPolicy
from stretto.model.signal import SignalDependencyDefinition, SignalMatchParam, SignalOutputDefinition
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode
from stretto.model.trigger import SignalOperator

S = StepStatus
LITTLE = EngineSettings(expression_visits=150)
LONG = "long s = 0; for (int i = 0; i < 400; i += 1) {s += i;} return s;"
ENDLESS = "long s = 0; for (int i = 0; i < 25000; i += 0) {s += i;} return s;"
SUM = sum(range(400))


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
    a = step("a", ("b", long), ("c", "1 / (p - 2) > 0" if failing else "p > 1"), params={"p": number(2)})
    driver = Driver(workflow(a, noop("b"), noop("c")), settings=LITTLE).start().run(0)
    assert driver.attempt("a").status is S.FINISHING
    found = driver.why("b")
    assert [(each.cause, each.subject) for each in found.reasons] == [(Cause.CONDITION, "a")]
    assert str(found) == f"its predecessor a is done, and decides whether [{long}] holds"
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
    assert driver.why("b").reasons[0].cause is Cause.CONDITION
    driver.send(answered(driver))
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}
    driver = Driver(workflow(a, noop("b")), settings=LITTLE, runtime=scripted(a=[FOREVER])).start().run(0)
    driver.step("a", StepAction.SKIP).run(0)
    driver.send(answered(driver))
    assert driver.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED"}


def test_a_step_that_has_not_ended_decides_nothing() -> None:
    a = step("a", ("b", "p > 1"), params={"p": number(2)})
    driver = Driver(workflow(a, noop("b")), runtime=scripted(a=[FOREVER])).start().run(0)
    assert [each.cause for each in driver.why("b").reasons] == [Cause.PREDECESSOR]


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


# ----------------------------------------------------------------------------------- all that is evaluated
def until_it_rests(driver: Driver, step_id: str = "a", most: int = 20) -> Driver:
    """Whenever somebody asks for it, the question is answered."""
    for _ in range(most):
        asked = [each for each in driver.effects if isinstance(each, EvaluateElsewhere)]
        if driver.attempt(step_id).asked_at is None or not asked:
            return driver
        driver.send(answered(driver, step_id))
        driver.run(0)
    raise AssertionError("it asks for ever")


def long(result: str) -> str:
    """An expression that takes long and then has this result."""
    return f"{LONG[:-9]} return {result};"


def test_the_condition_of_a_while_may_take_long_in_each_round() -> None:
    made = while_(
        "a", long(f"s == {SUM} && n < 3"), {"n": number(0)}, noop("x", params={"n": computed("n + 1")})
    )
    driver = Driver(workflow(made), settings=LITTLE).start().run(0)
    assert driver.attempt("a").status is S.RUNNING
    assert driver.why("a").reasons[0].cause == "VALUE"
    until_it_rests(driver)
    assert driver.status == "SUCCEEDED"
    assert len(driver.iterations("a")) == 3
    assert not driver.flow.fetched  # what was answered for a round is gone with it


def test_a_condition_of_a_while_that_can_not_be_evaluated_is_fatal() -> None:
    made = while_("a", ENDLESS.replace("return s;", "return s > 0;"), {"n": number(0)}, noop("x"))
    for mode, status in ((None, "FATALLY_FAILED"), (FailureMode.IGNORE_FAILURE, "COMPLETED_WITH_ERROR")):
        driver = Driver(workflow(replace(made, failure_mode=mode)), settings=LITTLE).start().run(0)
        until_it_rests(driver)
        assert driver.statuses() == {"a": status}
        assert "25001" in str(driver.attempt("a").reason)


@pytest.mark.parametrize(("result", "tries"), [("s > 0", 2), ("s < 0", 1)])
def test_retry_if_may_take_long(result: str, tries: int) -> None:
    policy = RetryPolicy(error_retry_limit=1, retry_if=long(result))
    a = step("a", retry_policy=policy)
    driver = Driver(workflow(a), settings=LITTLE, runtime=scripted(a=["USER_ERROR"])).start().run(0)
    assert driver.attempt("a").decided is S.USER_FAILED
    until_it_rests(driver)
    until_it_rests(driver.run())
    assert driver.attempt("a").key.number == tries
    assert driver.status == "FAILED"


@pytest.mark.parametrize(("work", "status"), [(Work("USER_ERROR"), "FATALLY_FAILED"), (FOREVER, "TIMED_OUT")])
def test_a_retry_if_that_fails_there_too_ends_the_step(work: Work, status: str) -> None:
    condition = ENDLESS.replace("return s;", "return s > 0;")
    policy = RetryPolicy(error_retry_limit=1, timeout_retry_limit=1, retry_if=condition)
    a = step("a", retry_policy=policy, timeout=5)
    driver = Driver(workflow(a), settings=LITTLE, runtime=scripted(a=[work])).start().run(5_000)
    assert driver.attempt("a").decided is not None
    until_it_rests(driver)
    assert driver.statuses() == {"a": status}
    assert any("Not retried, because retry_if fails" in line for line in driver.lines("a"))


def test_values_that_signals_must_match_may_take_long() -> None:
    match = SignalMatchParam(operator=SignalOperator.EQUALS_TO, param=computed(LONG))
    wanted = SignalDependencyDefinition(name="go", match_params={"n": match})
    driver = Driver(workflow(step("a", signal_dependencies=(wanted,))), settings=LITTLE).start().run(0)
    assert driver.attempt("a").status is S.CREATED
    until_it_rests(driver)
    assert driver.attempt("a").status is S.WAITING_FOR_SIGNALS
    driver.world.announce("go", n=SUM)
    assert driver.run(0).status == "SUCCEEDED"


def test_signals_that_a_step_announces_may_take_long() -> None:
    output = SignalOutputDefinition(name="done", params={"n": computed(long("s + p"))})
    a = step("a", ("b", long("s > 0")), params={"p": number(2)}, signal_outputs=(output,))
    driver = Driver(workflow(a, noop("b")), settings=LITTLE).start().run(0)
    assert driver.attempt("a").status is S.FINISHING
    until_it_rests(driver)
    assert driver.status == "SUCCEEDED"
    assert [each.params for each in driver.world.signals] == [{"n": SUM + 2}]


def test_params_of_a_step_that_is_skipped_before_it_had_them_may_take_long() -> None:
    dependency = SignalDependencyDefinition(name="never")
    a = step("a", ("b", f"p == {SUM}"), params={"p": computed(LONG)}, signal_dependencies=(dependency,))
    driver = Driver(workflow(a, noop("b")), settings=LITTLE).start().run(0)
    driver.step("a", StepAction.SKIP).run(0)
    assert driver.attempt("a").decided is S.SKIPPED
    until_it_rests(driver)
    assert driver.statuses() == {"a": "SKIPPED", "b": "SUCCEEDED"}


@pytest.mark.parametrize(("work", "ended"), [("DONE", "SUCCEEDED"), ("FATAL_ERROR", "COMPLETED_WITH_ERROR")])
def test_a_condition_sees_there_how_the_step_ended(work: str, ended: str) -> None:
    text = long(f"s > 0 && params.getFromStep('a', 'MAESTRO_STEP_STATUS') == '{ended}'")
    a = step("a", ("b", text), failure_mode=FailureMode.IGNORE_FAILURE)
    driver = Driver(workflow(a, noop("b")), settings=LITTLE, runtime=scripted(a=[work])).start().run(0)
    until_it_rests(driver)
    assert driver.statuses() == {"a": ended, "b": "SUCCEEDED"}


def test_an_answer_that_comes_twice_is_not_taken_for_another() -> None:
    """The parameter is called like the step after it, and is false."""
    params = {"b": computed(long("s < 0"), ParamType.BOOLEAN)}
    a = step("a", ("b", long("s > 0")), params=params)
    driver = Driver(workflow(a, noop("b")), settings=LITTLE).start().run(0)
    first = answered(driver)
    driver.send(first)
    driver.run(0)
    assert driver.attempt("a").status is S.FINISHING
    driver.send(first)
    assert driver.attempt("a").status is S.FINISHING
    until_it_rests(driver)
    assert driver.statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED"}


def test_who_waits_for_something_else_has_no_question() -> None:
    steps = (foreach("a", ITEMS, step("x"), concurrency=1), step("open", type="Wait"))
    driver = Driver(workflow(*steps), runtime=scripted(x=["FATAL_ERROR"])).start().run(0)
    driver.fetching = False
    driver.step("a", StepAction.RESTART)
    assert driver.attempt("a").asked_at is not None
    assert question_of(driver.flow, driver.attempt("a").key) is None


def test_a_step_without_retry_if_asks_nothing_for_its_retry() -> None:
    driver = Driver(workflow(step("a")), runtime=scripted(a=[FOREVER])).start()
    attempt = driver.attempt("a")
    attempt.decided, attempt.asked_at = S.USER_FAILED, driver.now
    question = question_of(driver.flow, attempt.key)
    assert question is not None
    assert answer(question) == Evaluated(attempt=attempt.key)
