"""Steps that time out, or can not be decided, are failed steps, except in definitions that follow Maestro."""

import pickle
from typing import Any

import pytest
from tests.engine.driver import FOREVER, Driver, Work, attempts_of, scripted
from tests.engine.shapes import (
    ITEMS,
    computed,
    foreach,
    noop,
    number,
    step,
    subworkflow,
    while_,
    workflow,
)

from stretto.definition.forms.outcomes import failed_condition
from stretto.engine.effects import EvaluateElsewhere
from stretto.engine.elsewhere import answer, question_of
from stretto.engine.events import Evaluated, Faulted, RunAction
from stretto.engine.records import Compensation
from stretto.engine.settings import EngineSettings
from stretto.model.actions import StepAction
from stretto.model.details import ErrorStatus
from stretto.model.retry import FixedBackoff, RetryPolicy
from stretto.model.signal import SignalOutputDefinition
from stretto.model.status import RunStatus
from stretto.model.step import AnyStep, FailureMode, TemplateStep, TypedStep
from stretto.model.timeline import DetailsEvent
from stretto.model.workflow import Semantics, Workflow

M, STRETTO = Semantics.MAESTRO, Semantics.STRETTO
IGNORE = {"failure_mode": FailureMode.IGNORE_FAILURE}
AT_ONCE = {"failure_mode": FailureMode.FAIL_IMMEDIATELY}
TIMES_OUT = scripted(a=[FOREVER])
BROKEN = {"p": computed("return 1 / 0;")}
ON_FAILURE = ("b", failed_condition("a"))
OTHERWISE = ("c", f"!({failed_condition('a')})")
LITTLE = EngineSettings(expression_visits=150)
ENDLESS = "long s = 0; for (int i = 0; i < 25000; i += 0) {s += i;} return s;"
LONG = "long s = 0; for (int i = 0; i < 400; i += 1) {s += i;} return s;"


def ours(*steps: AnyStep, **fields: Any) -> Workflow:
    return workflow(*steps, semantics=STRETTO, **fields)


def answered(driver: Driver, step_id: str = "a") -> Evaluated:
    """What a process of its own sends back."""
    assert isinstance(driver.effects[-1], EvaluateElsewhere)
    question = question_of(driver.flow, driver.attempt(step_id).key)
    return answer(pickle.loads(pickle.dumps(question)))  # noqa: S301 - our own


# ------------------------------------------------------------------------------------------------ time-outs
@pytest.mark.parametrize(
    ("semantics", "statuses", "run"),
    [
        (M, {"a": "TIMED_OUT", "b": "NOT_CREATED", "c": "NOT_CREATED"}, "TIMED_OUT"),
        (STRETTO, {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}, "SUCCEEDED"),
    ],
)
def test_failure_edges_of_a_step_that_timed_out(
    semantics: Semantics, statuses: dict[str, str], run: str
) -> None:
    steps = (step("a", ON_FAILURE, OTHERWISE, timeout=5, **IGNORE), noop("b"), noop("c"))
    driver = Driver(workflow(*steps, semantics=semantics), runtime=TIMES_OUT).finish()
    assert driver.statuses() == statuses
    assert driver.status == run
    assert driver.attempt("a").reason == "timed out"


@pytest.mark.parametrize(("semantics", "run"), [(M, "TIMED_OUT"), (STRETTO, "FAILED")])
def test_a_run_in_which_a_step_timed_out_has_failed(semantics: Semantics, run: str) -> None:
    definition = workflow(step("a", "b", timeout=5), noop("b"), semantics=semantics)
    driver = Driver(definition, runtime=TIMES_OUT).finish()
    assert driver.statuses() == {"a": "TIMED_OUT", "b": "NOT_CREATED"}
    assert driver.status == run
    assert ("Step [a] failed: timed out" in driver.lines()) is (semantics is STRETTO)
    assert str(driver.why("a")) == "it ended TIMED_OUT: timed out"


def test_what_a_runtime_says_timed_out_has_failed() -> None:
    steps = (step("a", ON_FAILURE, **IGNORE), noop("b"))
    driver = Driver(ours(*steps), runtime=scripted(a=["TIMED_OUT"])).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}
    driver = Driver(ours(step("a")), runtime=scripted(a=["TIMED_OUT"])).finish()
    assert (driver.statuses(), driver.status) == ({"a": "TIMED_OUT"}, "FAILED")


def test_a_step_is_tried_again_before_its_timeout_counts() -> None:
    policy = RetryPolicy(timeout_retry_limit=2, backoff=FixedBackoff(timeout_retry_backoff_in_secs=3))
    definition = ours(step("a", timeout=5, retry_policy=policy, **IGNORE))
    driver = Driver(definition, runtime=TIMES_OUT).finish()
    made = [each.status for each in attempts_of(driver, "a")]
    assert made == ["TIMEOUT_FAILED", "TIMEOUT_FAILED", "COMPLETED_WITH_ERROR"]
    assert driver.status == "SUCCEEDED"


def test_a_timeout_with_fail_immediately_stops_the_others() -> None:
    definition = ours(step("a", timeout=5, **AT_ONCE), step("b"))
    driver = Driver(definition, runtime=scripted(a=[FOREVER], b=[FOREVER])).finish()
    assert driver.statuses() == {"a": "TIMED_OUT", "b": "STOPPED"}
    assert driver.status == "FAILED"


def test_a_run_in_which_a_step_timed_out_is_undone() -> None:
    back = step("back")
    definition = ours(step("a", "b", compensation=back), step("b", timeout=5))
    driver = Driver(definition, runtime=scripted(b=[FOREVER])).finish()
    assert driver.flow.run.compensation is Compensation.COMPENSATED
    assert driver.status == "FAILED"


def test_an_undoing_that_times_out_has_failed() -> None:
    definition = ours(step("a", "b", compensation=step("back", timeout=5)), step("b"))
    driver = Driver(definition, runtime=scripted(b=["FATAL_ERROR"], back=[FOREVER])).finish()
    assert driver.flow.run.compensation is Compensation.FAILED


@pytest.mark.parametrize("mode", [{}, IGNORE, AT_ONCE])
@pytest.mark.parametrize("semantics", [M, STRETTO])
def test_a_timeout_of_the_run_is_the_runs(semantics: Semantics, mode: dict[str, Any]) -> None:
    definition = workflow(
        step("a", "b", **mode), noop("b"), step("c", **mode), timeout=5, semantics=semantics
    )
    driver = Driver(definition, runtime=scripted(a=[FOREVER], c=[FOREVER])).finish()
    assert driver.statuses() == {"a": "TIMED_OUT", "b": "NOT_CREATED", "c": "TIMED_OUT"}
    assert driver.status == "TIMED_OUT"


def test_a_run_that_is_stopped_while_a_step_times_out_does_not_go_on() -> None:
    driver = Driver(ours(step("a", "b", timeout=5, **IGNORE), noop("b")), runtime=TIMES_OUT)
    driver.stubborn = True
    driver.start().run(6_000)
    assert driver.attempt("a").ending == "TIMED_OUT"
    driver.act(RunAction.STOP)
    driver.send(Faulted(attempt=driver.attempt("a").key, message="gone", answers=True))
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "NOT_CREATED"}
    assert driver.status == "STOPPED"


def test_a_question_that_nobody_answers_in_time_is_handled() -> None:
    steps = (step("a", ON_FAILURE, OTHERWISE, type="Wait", timeout="2 days", **IGNORE), noop("b"), noop("c"))
    driver = Driver(ours(*steps)).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}


def test_a_step_that_times_out_while_it_announces_its_signals_takes_its_failure_edge() -> None:
    """What another process has evaluated for the edges of a step that succeeded does not count any more."""
    succeeded = f"{LONG[:-9]} return params.getFromStep('a', 'MAESTRO_STEP_STATUS') == 'SUCCEEDED';"
    signals = (SignalOutputDefinition(name="s", params={"n": computed(LONG)}),)
    a = step("a", ("b", succeeded), ("c", failed_condition("a")), timeout=5, signal_outputs=signals, **IGNORE)
    driver = Driver(ours(a, noop("b"), noop("c")), settings=LITTLE)
    vars(driver)["_AnnounceSignals"] = lambda _effect: None
    driver.start().run(0)
    driver.send(answered(driver))
    assert driver.attempt("a").status == "FINISHING"
    driver.run(6_000)
    driver.send(answered(driver))
    assert driver.run().statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "UNSATISFIED", "c": "SUCCEEDED"}


# --------------------------------------------------------------------------------- loops, children, templates
def test_an_iteration_in_which_a_step_timed_out_has_failed() -> None:
    loop = foreach("a", ITEMS, step("s", timeout=5), after=(ON_FAILURE, OTHERWISE), concurrency=1, **IGNORE)
    driver = Driver(ours(loop, noop("b"), noop("c")), runtime=scripted(s=[FOREVER])).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}
    assert [each.status for each in driver.iterations("a")] == [RunStatus.FAILED]  # and no other begins


@pytest.mark.parametrize(
    "loop",
    [
        foreach("a", ITEMS, step("s"), after=(ON_FAILURE,), timeout=5, **IGNORE),
        while_("a", "i < 3", {"i": number(0)}, step("s"), after=(ON_FAILURE,), timeout=5, **IGNORE),
    ],
)
def test_a_loop_that_times_out_has_failed(loop: AnyStep) -> None:
    driver = Driver(ours(loop, noop("b")), runtime=scripted(s=[FOREVER])).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}
    assert {each.status for each in driver.iterations("a")} == {RunStatus.TIMED_OUT}
    assert driver.status == "SUCCEEDED"


@pytest.mark.parametrize(
    ("child", "timeout"),
    [
        (workflow(step("s"), id="child"), 5),
        (workflow(step("s"), id="child", timeout=5), None),
        (workflow(step("s", timeout=5), id="child"), None),
        (workflow(step("s", timeout=5), id="child", semantics=STRETTO), None),
    ],
)
def test_a_subworkflow_that_takes_too_long_has_failed(child: Workflow, timeout: int | None) -> None:
    call = subworkflow("a", "child", ON_FAILURE, timeout=timeout, **IGNORE)
    driver = Driver(ours(call, noop("b")), runtime=scripted(s=[FOREVER]), library={"child": child}).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}


def test_a_step_of_a_template_that_times_out_fails_the_template() -> None:
    driver = Driver(
        ours(TemplateStep(id="a", sub_type="t"), noop("b")),
        runtime=scripted(s=[FOREVER]),
        library={"t": workflow(step("s", timeout=5), id="t")},
    ).finish()
    assert driver.statuses()["a"] == "FATALLY_FAILED"
    assert driver.status == "FAILED"


def test_sub_steps_that_time_out_are_among_those_that_may_fail() -> None:
    added = (step("x", timeout=5), noop("y"))
    for tolerance, status in [(0.5, "SUCCEEDED"), (0.1, "FATALLY_FAILED")]:
        script = scripted(a=[Work(added=added, tolerance=tolerance)], x=[FOREVER])
        assert Driver(ours(step("a")), runtime=script).finish().statuses() == {"a": status}


# --------------------------------------------------------------------------------- what can not be decided
@pytest.mark.parametrize(
    ("semantics", "statuses", "run"),
    [
        (M, {"a": "INTERNALLY_FAILED", "b": "NOT_CREATED", "c": "NOT_CREATED"}, "FAILED"),
        (STRETTO, {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}, "SUCCEEDED"),
    ],
)
def test_a_step_whose_parameters_can_not_be_evaluated_has_failed(
    semantics: Semantics, statuses: dict[str, str], run: str
) -> None:
    steps = (step("a", ON_FAILURE, OTHERWISE, params=BROKEN, **IGNORE), noop("b"), noop("c"))
    driver = Driver(workflow(*steps, semantics=semantics)).finish()
    assert driver.statuses() == statuses
    assert driver.status == run
    assert "divided by zero" in str(driver.attempt("a").reason)


USERS_ERRORS = {
    "a name that nothing has": step("a", params={"p": computed("nobody + 1")}),
    "a division by zero": step("a", params=BROKEN),
    "a wrong type": step("a", params={"p": computed("return 'many';")}),
    "a step that nobody knows": step("a", params={"p": computed("zz__rows + 1")}),
    "a timeout": step("a", timeout="${nobody}"),
    "the items of a loop": foreach("a", {"i": computed("nobody")}, noop("s")),
    "an edge": step("a", ("b", "nobody == 1")),
    "an edge that divides by zero": step("a", ("b", "1 / 0 > 1")),
}


@pytest.mark.parametrize("broken", USERS_ERRORS.values(), ids=USERS_ERRORS)
def test_what_somebody_wrote_is_no_internal_failure_outside_of_maestro(broken: AnyStep) -> None:
    for semantics, status, said in [
        (M, "INTERNALLY_FAILED", {ErrorStatus.INTERNAL_ERROR}),
        (STRETTO, "FATALLY_FAILED", {ErrorStatus.BAD_REQUEST, ErrorStatus.UNPROCESSABLE_ENTITY}),
    ]:
        driver = Driver(workflow(broken, noop("b"), semantics=semantics)).finish()
        assert driver.statuses()["a"] == status
        (event,) = [each for each in driver.attempt("a").timeline if isinstance(each, DetailsEvent)]
        assert event.status in said
        assert driver.status == "FAILED"


def test_what_can_not_be_evaluated_elsewhere_is_no_internal_failure_either() -> None:
    a = step("a", params={"p": computed(ENDLESS)})
    driver = Driver(ours(a), settings=LITTLE).start()
    driver.send(answered(driver))
    assert driver.run().statuses() == {"a": "FATALLY_FAILED"}


def test_a_fault_of_our_own_stays_internal() -> None:
    driver = Driver(ours(step("a")), runtime=scripted(a=[FOREVER])).start()
    driver.send(Faulted(attempt=driver.attempt("a").key, message="can not be stored"))
    assert driver.run().statuses() == {"a": "INTERNALLY_FAILED"}


def test_it_is_not_retried_and_not_ignored_by_other_modes() -> None:
    policy = RetryPolicy(error_retry_limit=5, platform_retry_limit=5)
    driver = Driver(ours(step("a", params=BROKEN, retry_policy=policy))).finish()
    assert [each.status for each in attempts_of(driver, "a")] == ["FATALLY_FAILED"]
    steps = (noop("0", "a"), step("a", params=BROKEN, **AT_ONCE), step("b"))
    driver = Driver(ours(*steps), runtime=scripted(b=[FOREVER])).finish()
    assert driver.statuses() == {"0": "SUCCEEDED", "a": "FATALLY_FAILED", "b": "STOPPED"}


@pytest.mark.parametrize(
    "broken",
    [
        foreach("a", {"i": computed("return 1 / 0;")}, noop("s"), after=(ON_FAILURE,), **IGNORE),
        while_("a", "i < 1 / 0", {"i": number(0)}, noop("s"), after=(ON_FAILURE,), **IGNORE),
        subworkflow("a", "${nobody}", ON_FAILURE, **IGNORE),
        step("a", ON_FAILURE, timeout="${nobody}", **IGNORE),
    ],
)
def test_whatever_can_not_be_evaluated_fails_the_step(broken: AnyStep) -> None:
    driver = Driver(ours(broken, noop("b"))).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}


def test_parameters_that_can_not_be_evaluated_elsewhere_fail_the_step() -> None:
    a = step("a", ON_FAILURE, params={"p": computed(ENDLESS)}, **IGNORE)
    driver = Driver(ours(a, noop("b")), settings=LITTLE).start()
    driver.send(answered(driver))
    assert driver.run().statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}


def test_an_edge_that_can_not_be_decided_fails_its_step() -> None:
    steps = (step("a", ON_FAILURE, ("c", f"{OTHERWISE[1]} && 1 / 0 > 1"), **IGNORE), noop("b"), noop("c"))
    driver = Driver(ours(*steps)).finish()
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}


@pytest.mark.parametrize("state", ["DONE", "FATAL_ERROR"])
def test_an_edge_that_can_not_be_decided_after_a_failure_either_is_not_ignored(state: str) -> None:
    steps = (step("a", ("b", "1 / 0 > 1"), **IGNORE), noop("b"))
    driver = Driver(ours(*steps), runtime=scripted(a=[state])).finish()
    assert driver.statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED"}
    assert driver.status == "FAILED"


def test_nor_is_one_that_can_not_be_decided_elsewhere() -> None:
    steps = (step("a", ("b", f"{ENDLESS[:-9]} return s > 1;"), **IGNORE), noop("b"))
    driver = Driver(ours(*steps), settings=LITTLE).start().run(0)
    driver.send(answered(driver))
    assert driver.attempt("a").decided == "COMPLETED_WITH_ERROR"
    driver.send(answered(driver))
    assert driver.run().statuses() == {"a": "FATALLY_FAILED", "b": "NOT_CREATED"}


def test_a_fault_of_our_own_fails_the_step_like_any_other() -> None:
    driver = Driver(ours(step("a", ON_FAILURE, **IGNORE), noop("b")), runtime=scripted(a=[FOREVER])).start()
    driver.send(Faulted(attempt=driver.attempt("a").key, message="can not be stored"))
    assert driver.run().statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}


def test_a_failed_step_gets_no_parameters_for_its_edges() -> None:
    """A step that is killed before its parameters are evaluated has none; in Maestro it gets them then."""
    for semantics, status in [(M, "COMPLETED_WITH_ERROR"), (STRETTO, "FATALLY_FAILED")]:
        a = step("a", ("b", "n > 2"), params={"n": number(3)}, **IGNORE)
        driver = Driver(workflow(a, noop("b"), semantics=semantics), breakpoints=frozenset({"a"})).start()
        driver.step("a", StepAction.KILL)
        assert driver.run().statuses()["a"] == status


# ------------------------------------------------------------------------- what conditions read of a failure
def placeheld(*after: Any, **fields: Any) -> TypedStep:
    return step("a", *after, params={"result": number(0)}, **fields)


@pytest.mark.parametrize(
    ("semantics", "statuses"), [(M, ("SUCCEEDED", "UNSATISFIED")), (STRETTO, ("UNSATISFIED", "SUCCEEDED"))]
)
def test_an_edge_reads_null_for_the_result_of_a_step_that_failed(
    semantics: Semantics, statuses: tuple[str, str]
) -> None:
    steps = (placeheld(("b", "result == 0"), ("c", "a__result == null"), **IGNORE), noop("b"), noop("c"))
    definition = workflow(*steps, semantics=semantics)
    for settings in (None, LITTLE):
        driver = Driver(definition, runtime=scripted(a=["FATAL_ERROR"]), settings=settings).finish()
        assert (driver.statuses()["b"], driver.statuses()["c"]) == statuses


def test_an_edge_that_is_decided_elsewhere_reads_null() -> None:
    condition = f"{LONG.replace('return s;', 'return a__result == null && s > 0;')}"
    steps = (placeheld(("b", condition), **IGNORE), noop("b"))
    driver = Driver(ours(*steps), runtime=scripted(a=["FATAL_ERROR"]), settings=LITTLE).start().run(1_000)
    driver.send(answered(driver))
    assert driver.run().statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED"}


def test_retry_if_reads_null_for_a_result_that_did_not_come() -> None:
    policy = RetryPolicy(
        error_retry_limit=1, retry_if="result == null", backoff=FixedBackoff(error_retry_backoff_in_secs=1)
    )
    driver = Driver(ours(placeheld(retry_policy=policy)), runtime=scripted(a=["USER_ERROR", "DONE"])).finish()
    assert driver.statuses() == {"a": "SUCCEEDED"}
    assert len(attempts_of(driver, "a")) == 2
