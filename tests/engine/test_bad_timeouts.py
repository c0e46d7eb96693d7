"""The timeout of a step is read when it begins, whatever it does: a bad one ends the step at once."""

import pytest
from tests.engine.driver import Driver
from tests.engine.shapes import ITEMS, computed, foreach, noop, step, subworkflow, text, while_, workflow

from stretto.model.param import Params
from stretto.model.retry import Number
from stretto.model.signal import SignalDependencyDefinition
from stretto.model.status import StepStatus
from stretto.model.step import FailureMode
from stretto.model.workflow import Semantics

S = StepStatus
BAD: dict[str, tuple[Number, Params]] = {
    "no duration": ("${s}", {"s": text("never")}),
    "unknown": ("${nosuch}", {}),
    "zero": (0, {}),
    "zero in a text": ("0 s", {}),
    "computed zero": ("${s}", {"s": computed("5 - 5")}),
    "too long": ("121 days", {}),
}
KINDS = ("NoOp", "Join", "Sleep", "Wait", "Python")


@pytest.mark.parametrize("semantics", Semantics)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_timeout_ends_a_step_of_any_kind(bad: str, kind: str, semantics: Semantics) -> None:
    timeout, params = BAD[bad]
    definition = workflow(step("a", type=kind, timeout=timeout), params=params, semantics=semantics)
    attempt = Driver(definition).finish().attempt("a")
    ours = semantics is Semantics.STRETTO  # where whoever wrote it is to blame
    assert attempt.status is (S.FATALLY_FAILED if ours else S.INTERNALLY_FAILED)
    assert (attempt.initialize_time, attempt.params) == (None, None)
    assert attempt.reason


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_timeout_does_not_wait_for_signals(kind: str) -> None:
    wanted = (SignalDependencyDefinition(name="never"),)
    driver = Driver(workflow(step("a", type=kind, timeout=0, signal_dependencies=wanted)))
    assert driver.finish().attempt("a").status is S.INTERNALLY_FAILED


def test_a_bad_timeout_ends_what_starts_runs_before_it_starts_one() -> None:
    loops = (foreach("l", ITEMS, noop("x"), timeout=0), while_("l", "true", {}, noop("x"), timeout=0))
    for each in (*loops, subworkflow("l", "child", timeout="${nosuch}")):
        driver = Driver(workflow(each)).finish()
        assert driver.attempt("l").status is S.INTERNALLY_FAILED
        assert (driver.attempt("l").child, driver.attempt("l").loop_run) == (None, None)


def test_a_step_inside_a_loop_reads_its_timeout_too() -> None:
    driver = Driver(workflow(foreach("l", ITEMS, noop("x", timeout="${5 - i} s")))).finish()
    assert driver.attempt("l").status is S.FATALLY_FAILED
    good = Driver(workflow(foreach("l", ITEMS, noop("x", timeout="${i} s")))).finish()
    assert good.attempt("l").status is S.SUCCEEDED


def test_a_step_that_does_not_begin_needs_no_timeout() -> None:
    definition = workflow(noop("a", ("b", "1 > 2"), "c"), noop("b", timeout=0), noop("c", timeout="1 day"))
    driver = Driver(definition).finish()
    assert driver.attempt("b").status is S.UNSATISFIED
    assert driver.attempt("c").status is S.SUCCEEDED


def test_a_bad_timeout_can_be_ignored_where_failures_can() -> None:
    bad = noop("a", "b", timeout=0, failure_mode=FailureMode.IGNORE_FAILURE)
    for semantics, end in (
        (Semantics.STRETTO, S.COMPLETED_WITH_ERROR),
        (Semantics.MAESTRO, S.INTERNALLY_FAILED),
    ):
        driver = Driver(workflow(bad, noop("b"), semantics=semantics)).finish()
        assert driver.attempt("a").status is end
