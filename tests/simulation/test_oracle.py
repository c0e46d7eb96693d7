"""The oracle: what it allows for definitions that one can think through."""

from typing import Any

from simulation.authors import BROKEN, OUTSIDE, UNKNOWN
from simulation.oracle import ANYTHING, Allowed, Oracle
from simulation.plays import Play, Row, Says, Script

from stretto.model.properties import Properties, RunStrategy, RunStrategyRule
from stretto.model.retry import RetryPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, FailureMode, TemplateStep, TypedStep
from stretto.model.workflow import Definition, Semantics
from stretto.testing.shapes import (
    computed,
    foreach,
    noop,
    number,
    numbers,
    step,
    subworkflow,
    while_,
    workflow,
)

S, R = StepStatus, RunStatus
TRIES = RetryPolicy(error_retry_limit=1, platform_retry_limit=1, timeout_retry_limit=1)


def work(step_id: str, *after: str | tuple[str, str], **fields: Any) -> TypedStep:
    return step(step_id, *after, retry_policy=TRIES, **fields)


def allowed(
    *steps: AnyStep,
    rule: RunStrategyRule = RunStrategyRule.PARALLEL,
    more: tuple[Definition, ...] = (),
    has_parent: bool = False,
    approved: bool = True,
    timeout: int | None = None,
    semantics: Semantics | None = None,
    may_lack_functions: bool = False,
    **rows: Row | tuple[Row, ...],
) -> Allowed:
    properties = Properties(run_strategy=RunStrategy(rule=rule, workflow_concurrency=1))
    definition = Definition(
        workflow=workflow(*steps, timeout=timeout, semantics=semantics), properties=properties
    )
    plays = {name: row if isinstance(row[0], tuple) else (row,) for name, row in rows.items()}
    script = Script(plays, {"p": approved})
    oracle = Oracle((definition, *more), script, may_lack_functions=may_lack_functions)
    return oracle.run("w", has_parent=has_parent)


def says(*words: str, **fields: object) -> Row:
    return tuple(Play(says=Says(word), **fields) for word in words)  # type: ignore[arg-type]


def test_what_must_come_comes_alone() -> None:
    found = allowed(work("a", "b", ("c", "1 > 2")), noop("b"), noop("c"))
    assert found.steps == {"a": {S.SUCCEEDED}, "b": {S.SUCCEEDED}, "c": {S.UNSATISFIED}}
    assert found.runs == {R.SUCCEEDED}


def test_retries_are_used_up() -> None:
    assert allowed(work("a"), a=says("USER_ERROR", "DONE")).runs == {R.SUCCEEDED}
    assert allowed(work("a"), a=says("USER_ERROR", "PLATFORM_ERROR", "DONE")).runs == {R.SUCCEEDED}
    twice = allowed(work("a", "b"), noop("b"), a=says("RAISES", "NONSENSE", "DONE"))
    assert twice.steps == {"a": {S.FATALLY_FAILED}, "b": {S.NOT_CREATED}}
    assert twice.runs == {R.FAILED}


def test_failure_modes() -> None:
    ignored = allowed(
        work("a", "b", failure_mode=FailureMode.IGNORE_FAILURE), noop("b"), a=says("FATAL_ERROR")
    )
    assert ignored.steps == {"a": {S.COMPLETED_WITH_ERROR}, "b": {S.SUCCEEDED}}
    at_once = allowed(
        noop("before", "a"),
        work("a", failure_mode=FailureMode.FAIL_IMMEDIATELY),
        work("beside", timeout=5),
        a=says("FATAL_ERROR"),
    )
    assert at_once.steps["before"] == {S.SUCCEEDED}
    assert at_once.steps["beside"] == {S.SUCCEEDED, S.STOPPED, S.NOT_CREATED, S.TIMED_OUT}
    assert at_once.runs == {R.FAILED}


def test_timing_may_decide() -> None:
    assert allowed(work("a", timeout=3)).steps["a"] == {S.SUCCEEDED, S.TIMED_OUT}
    assert allowed(work("a", timeout=3), a=says("NEVER")).steps["a"] == {S.TIMED_OUT}
    assert allowed(work("a", timeout=3), a=says("NEVER", "STOPPED")).runs == {R.STOPPED, R.TIMED_OUT}
    cut = allowed(noop("a"), timeout=3)
    assert cut.runs == {R.SUCCEEDED, R.TIMED_OUT}
    assert cut.steps["a"] == {S.SUCCEEDED, S.TIMED_OUT, S.NOT_CREATED}
    for found in (allowed(noop("a"), has_parent=True), allowed(noop("a"), rule=RunStrategyRule.LAST_ONLY)):
        assert found.runs == {R.SUCCEEDED, R.STOPPED}


def test_values_decide_edges() -> None:
    flow = (
        work("a", ("b", "n > 2"), ("c", "n <= 2"), params={"n": number(1)}),
        noop("b", params={"n": computed("a__n + 1")}),
        noop("c"),
    )
    large = allowed(*flow, a=says("DONE", n=5))
    assert large.steps == {"a": {S.SUCCEEDED}, "b": {S.SUCCEEDED}, "c": {S.UNSATISFIED}}
    assert large.values["b"] == {6}
    assert allowed(*flow).steps["b"] == {S.UNSATISFIED}


def test_loops() -> None:
    body = work("x")
    rows = (says("DONE"), says("FATAL_ERROR"))
    assert allowed(foreach("f", {"i": numbers(1)}, body), x=rows).runs == {R.SUCCEEDED}
    assert allowed(foreach("f", {"i": numbers(1, 2)}, body), x=rows).runs == {R.FAILED}
    assert allowed(foreach("f", {"i": numbers()}, body), x=rows).runs == {R.SUCCEEDED}
    loop = {"k": number(0)}
    assert allowed(while_("w", "k < 1", loop, body), x=rows).runs == {R.SUCCEEDED}
    assert allowed(while_("w", "k < 2", loop, body), x=rows).runs == {R.FAILED}
    assert allowed(while_("w", "k < 0", loop, body), x=rows).runs == {R.SUCCEEDED}
    assert allowed(while_("w", "k < 2", loop, noop("y"), max_iterations=1)).runs == {R.FAILED}


def test_other_workflows() -> None:
    kid = Definition(
        workflow=workflow(work("k"), id="kid", timeout=9),
        properties=Properties(run_strategy=RunStrategy(rule=RunStrategyRule.FIRST_ONLY)),
    )
    bad = {"more": (kid,), "k": says("FATAL_ERROR")}
    assert allowed(subworkflow("s", "kid"), **bad).runs == {R.FAILED, R.TIMED_OUT, R.STOPPED}  # type: ignore[arg-type]
    assert allowed(subworkflow("s", "kid", sync=False), **bad).runs == {R.SUCCEEDED}  # type: ignore[arg-type]
    late = subworkflow("s", "kid", sync=False, timeout=3)
    assert allowed(late, **bad).runs == {R.SUCCEEDED, R.TIMED_OUT}  # type: ignore[arg-type]
    assert allowed(TemplateStep(id="t", sub_type="kid"), **bad).runs == {R.FAILED}  # type: ignore[arg-type]


def test_added_steps_and_their_tolerance() -> None:
    extra = (work("x"), work("y"))
    row = says("DONE", added=extra, tolerance=0.5)
    assert allowed(work("a"), a=row, x=says("FATAL_ERROR")).runs == {R.SUCCEEDED}
    strict = says("DONE", added=extra)
    assert allowed(work("a"), a=strict, x=says("FATAL_ERROR")).runs == {R.FAILED}
    assert allowed(work("a"), a=strict, x=says("STOPPED")).runs == {R.STOPPED, R.FAILED}


def test_people_and_nobody() -> None:
    wait = step("p", type="Wait")
    assert allowed(wait).runs == {R.SUCCEEDED}
    assert allowed(wait, approved=False).runs == {R.FAILED}
    assert allowed(step("u", type=UNKNOWN)).runs == {R.FAILED}


def test_functions_that_nobody_knows_for_too_long() -> None:
    """Only of work that needs some, in each of its attempts, and as its failure mode says."""
    for row in (says("DONE"), says("TIMED_OUT"), says("USER_ERROR", "DONE")):
        (known,) = allowed(work("a"), a=row).steps["a"]
        assert allowed(work("a"), may_lack_functions=True, a=row).steps["a"] == {known, S.FATALLY_FAILED}
    ignored = work("a", failure_mode=FailureMode.IGNORE_FAILURE)
    assert allowed(ignored, may_lack_functions=True).steps["a"] == {S.SUCCEEDED, S.COMPLETED_WITH_ERROR}
    outside = step("a", type=OUTSIDE, retry_policy=TRIES)
    assert allowed(outside, may_lack_functions=True).runs == {R.SUCCEEDED}
    assert allowed(noop("a"), may_lack_functions=True).runs == {R.SUCCEEDED}


def test_it_knows_its_limits() -> None:
    found = allowed(work("a", "b"), work("b"), b=(Play(redirect="a"), Play()))
    assert found.steps == {"a": ANYTHING, "b": ANYTHING}


# ------------------------------------------------------------------------------------------------- semantics
IGNORED = {"failure_mode": FailureMode.IGNORE_FAILURE}


def test_a_step_that_times_out_has_failed_outside_of_maestro() -> None:
    late = work("a", timeout=3)
    assert allowed(late, a=says("NEVER")).runs == {R.TIMED_OUT}
    found = allowed(late, semantics=Semantics.STRETTO, a=says("NEVER"))
    assert found.steps["a"] == {S.TIMED_OUT}
    assert found.runs == {R.FAILED}
    ignored = allowed(work("a", timeout=3, **IGNORED), semantics=Semantics.STRETTO, a=says("NEVER"))
    assert ignored.steps["a"] == {S.COMPLETED_WITH_ERROR}
    assert ignored.runs == {R.SUCCEEDED}
    assert allowed(work("a", timeout=3, **IGNORED), a=says("NEVER")).runs == {R.TIMED_OUT}


def test_a_timeout_of_the_run_is_no_failure() -> None:
    found = allowed(work("a"), timeout=5, semantics=Semantics.STRETTO)
    assert found.runs == {R.SUCCEEDED, R.TIMED_OUT}
    stopped = allowed(work("a", timeout=5), has_parent=True, semantics=Semantics.STRETTO)
    assert stopped.runs == {R.SUCCEEDED, R.STOPPED, R.FAILED}


def test_a_step_without_values_has_failed_outside_of_maestro() -> None:
    broken = {"p": BROKEN, "n": number(1)}
    plain, choosing = noop("a", "b", params=broken, **IGNORED), noop("a", ("b", "n > 2"), params=broken)
    for each, ends in [(plain, {S.COMPLETED_WITH_ERROR}), (choosing, {S.FATALLY_FAILED})]:
        assert allowed(each, noop("b"), semantics=Semantics.STRETTO).steps["a"] == ends
        assert allowed(each, noop("b")).steps["a"] == {S.INTERNALLY_FAILED}


def test_a_timeout_that_fails_at_once_stops_the_others_outside_of_maestro() -> None:
    steps = (work("a", timeout=3, failure_mode=FailureMode.FAIL_IMMEDIATELY), work("b"))
    assert allowed(*steps, a=says("NEVER")).steps["b"] == {S.SUCCEEDED}
    found = allowed(*steps, semantics=Semantics.STRETTO, a=says("NEVER"))
    assert found.steps["b"] == {S.SUCCEEDED, S.STOPPED, S.NOT_CREATED}
