"""What a step says that fails because of a name that nothing has: the same way out as `validate`."""

import pytest
from tests.engine.driver import Driver
from tests.engine.shapes import computed, noop, number, step, text, workflow

from stretto.model.param import ParamDefinition
from stretto.model.trigger import SignalTrigger, SignalTriggerEntry
from stretto.model.workflow import Semantics


def reason(param: ParamDefinition, semantics: Semantics = Semantics.STRETTO) -> str:
    load = noop("load", "a", params={"rows": number(1)})
    driver = Driver(workflow(load, step("a", params={"p": param}), semantics=semantics)).finish()
    return str(driver.attempt("a").reason)


@pytest.mark.parametrize("semantics", Semantics)
@pytest.mark.parametrize(
    ("written", "hint"),
    [
        (computed("loaf__rows + 1"), "; did you mean `load`?"),
        (text("${loaf__rows} rows"), "; did you mean `load`?"),
        (computed("load__row + 1"), "; did you mean `rows`?"),
        (computed("params.getFromStep('loaf', 'rows')"), "; did you mean `load`?"),
        (computed("params.getFromStep('load', 'row')"), "; did you mean `rows`?"),
        (computed("params.getFromForeach('loaf', 'a', 'b')"), "; did you mean `load`?"),
        (computed("params.getFromSubworkflow('loaf', 'a', 'b')"), "; did you mean `load`?"),
        (computed("a__pp + 1"), "; did you mean `p`?"),
    ],
)
def test_a_name_close_to_one_that_is_there(written: ParamDefinition, hint: str, semantics: Semantics) -> None:
    assert hint in reason(written, semantics)


@pytest.mark.parametrize("written", ["zzzz__rows", "load__zzzz", "params.getFromStep('zzzz', 'rows')"])
def test_no_hint_without_a_guess(written: str) -> None:
    assert "did you mean" not in reason(computed(written))


def test_a_step_that_has_not_ended_is_no_misspelt_one() -> None:
    steps = (step("a", params={"p": computed("late__rows")}), noop("later"), noop("late", params={}))
    driver = Driver(workflow(steps[0], steps[1], noop("z", "late"), steps[2])).finish()
    assert "there is no step or signal for [late__rows]" in str(driver.attempt("a").reason)
    assert "did you mean" not in str(driver.attempt("a").reason)


def test_signals_are_guessed_too() -> None:
    flow = workflow(
        step("a", params={"p": computed("arrivd__day")}),
        signal_triggers=(SignalTrigger(definitions={"arrived": SignalTriggerEntry()}),),
    )
    assert "did you mean `arrived`?" in str(Driver(flow).finish().attempt("a").reason)
