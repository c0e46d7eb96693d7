"""Why a step did not run: which failure before it was handled, or ignored."""

import pytest
from tests.engine.driver import FOREVER, Driver, scripted
from tests.engine.shapes import computed, noop, step, workflow
from tests.engine.test_failed_steps import IGNORE, ON_FAILURE, OTHERWISE

from stretto.model.step import AnyStep
from stretto.model.workflow import Semantics

UNTAKEN = "it ended UNSATISFIED: no incoming edge is taken"
TELL = noop("b")
FAILS = scripted(a=["FATAL_ERROR"])


def ended(*steps: AnyStep, script: object = FAILS, semantics: Semantics = Semantics.STRETTO) -> Driver:
    return Driver(workflow(*steps, semantics=semantics), runtime=script).finish()  # type: ignore[arg-type]


@pytest.mark.parametrize("semantics", Semantics)
def test_the_predecessor_whose_failure_was_handled_is_named(semantics: Semantics) -> None:
    driver = ended(step("a", ON_FAILURE, OTHERWISE, **IGNORE), TELL, noop("c"), semantics=semantics)
    assert driver.statuses() == {"a": "COMPLETED_WITH_ERROR", "b": "SUCCEEDED", "c": "UNSATISFIED"}
    assert str(driver.why("c")).startswith(f"{UNTAKEN}; its predecessor a ended COMPLETED_WITH_ERROR")
    assert driver.attempt("c").reason == "no incoming edge is taken"  # what is stored is Maestro's text


def test_also_of_steps_that_are_further_down() -> None:
    steps = (step("a", ON_FAILURE, OTHERWISE, **IGNORE), TELL, noop("c", "d"), noop("d", "e"), noop("e"))
    driver = ended(*steps)
    for each in ("d", "e"):
        assert f"{UNTAKEN}; further up, step a ended COMPLETED_WITH_ERROR" in str(driver.why(each))


def test_a_step_that_timed_out_or_could_not_be_evaluated_has_failed_too() -> None:
    a = step("a", ON_FAILURE, OTHERWISE, timeout=5, **IGNORE)
    driver = ended(a, TELL, noop("c"), script=scripted(a=[FOREVER]))
    assert "its predecessor a ended COMPLETED_WITH_ERROR" in str(driver.why("c"))
    broken = step("a", ON_FAILURE, OTHERWISE, params={"p": computed("1 / 0")}, **IGNORE)
    driver = ended(broken, TELL, noop("c"))
    assert "its predecessor a ended COMPLETED_WITH_ERROR: " in str(driver.why("c"))
    assert "divided by zero" in str(driver.why("c"))


def test_of_many_failures_some_are_named() -> None:
    names = "vwxyz"
    steps = [step(each, ("c", "1 > 2"), **IGNORE) for each in names]
    driver = ended(*steps, noop("c"), script=scripted(**{each: ["FATAL_ERROR"] for each in names}))
    said = str(driver.why("c"))
    assert [f"its predecessor {each} " in said for each in names] == [True, True, True, False, False]
    assert said.endswith("; 2 more")


def test_where_nothing_failed_nobody_is_blamed() -> None:
    driver = ended(noop("a", ("b", "1 > 2")), noop("b", "c"), noop("c"))
    assert str(driver.why("b")) == str(driver.why("c")) == UNTAKEN
    fine = (step("a", ON_FAILURE, OTHERWISE, **IGNORE), TELL, noop("c"))
    assert str(ended(*fine, script=scripted(a=["DONE"])).why("b")) == UNTAKEN
