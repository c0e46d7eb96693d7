"""Values that nobody brought: null, or in Maestro what they were declared with."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.params.make import World, done, expression, in_step

from stretto.model.param import Parameter, ParamType
from stretto.model.wire import decode, encode
from stretto.params import (
    Collected,
    Evaluated,
    ParamError,
    RunFacts,
    StepFacts,
    Undelivered,
    evaluate,
    iteration_count,
    iteration_values,
    null_of,
    result_text,
)
from stretto.sel import Missing

P = ParamType
FOREACH = StepFacts(step_id="loop", type="foreach", total_loop_count=3)
CHILD = StepFacts(step_id="child", type="subworkflow")
STEP = StepFacts(step_id="a", type="NoOp", status="SKIPPED", params={"result": null_of(P.LONG, 1)})
COLLECT = "params.getFromForeach('loop', 's', 'n')"


def world(**fields: Any) -> World:
    return World(
        run=RunFacts(workflow_id="wf", follows_maestro=False),
        steps={"loop": FOREACH, "child": CHILD, "a": STEP},
        **fields,
    )


def result(script: str, kind: str, around: World) -> Any:
    found = evaluate({"p": expression(kind, script)}, in_step(around))
    assert isinstance(found, Evaluated)
    return found["p"].evaluated_result


@pytest.mark.parametrize(
    ("collected", "kind", "values"),
    [
        (Collected(P.LONG, {1: 5, 3: 7}), "LONG_ARRAY", (5, None, 7)),
        (Collected(P.LONG, {1: 5, 2: 0, 3: 7}, frozenset({2})), "LONG_ARRAY", (5, None, 7)),
        (Collected(P.DOUBLE, {2: Decimal("1.5")}), "DOUBLE_ARRAY", (None, Decimal("1.5"), None)),
        (Collected(P.BOOLEAN, {2: True}), "BOOLEAN_ARRAY", (None, True, None)),
        (Collected(P.STRING, {2: "b"}), "STRING_ARRAY", (None, "b", None)),
        (Collected(P.LONG, {2: 3}), "STRING_ARRAY", (None, "3", None)),
        (Collected(None, {}), "LONG_ARRAY", (None, None, None)),
        (Collected(None, {}), "STRING_ARRAY", (None, None, None)),
    ],
)
def test_what_iterations_left(collected: Collected, kind: str, values: tuple[Any, ...]) -> None:
    around = world(loops={"loop/s/n": collected})
    assert result(COLLECT, kind, around) == values


def test_in_maestro_gaps_hold_what_was_declared() -> None:
    around = World(
        steps={"loop": FOREACH}, loops={"loop/s/n": Collected(P.LONG, {1: 5, 2: 9}, frozenset({2}))}
    )
    assert result(COLLECT, "LONG_ARRAY", around) == (5, 9, 0)
    around.loops["loop/s/n"] = Collected(None, {})
    with pytest.raises(ParamError, match="no iteration"):
        result(COLLECT, "LONG_ARRAY", around)


def test_an_array_of_other_values_is_still_refused() -> None:
    around = world(loops={"loop/s/n": Collected(P.STRING, {2: "b"})})
    with pytest.raises(ParamError, match="LONG_ARRAY"):
        result(COLLECT, "LONG_ARRAY", around)


def test_expressions_read_null_in_an_array() -> None:
    around = world(loops={"loop/s/n": Collected(P.LONG, {1: 5})})
    assert result(f"xs = {COLLECT}; return xs[1] == null;", "BOOLEAN", around) is True
    assert result(f"Json.text({COLLECT})", "STRING", around) == "[5,null,null]"
    assert result(f"Json.doubles(Json.text({COLLECT}))", "DOUBLE_ARRAY", around) == (
        Decimal("5.0"),
        None,
        None,
    )
    assert result(f"xs = {COLLECT}; xs[1] = 4; xs[2] += 2; return xs;", "LONG_ARRAY", around) == (5, 4, 2)


@pytest.mark.parametrize("read", ["a__result", "params.getFromStep('a', 'result')"])
def test_expressions_read_null_in_a_step_that_left_nothing(read: str) -> None:
    assert result(f"Json.text({read})", "STRING", world()) == "null"
    assert result(f"null == {read}", "BOOLEAN", world()) is True
    with pytest.raises(ParamError, match="NULL"):
        result(read, "LONG", world())


def test_expressions_read_null_in_a_child_that_left_nothing() -> None:
    read = "Json.text(params.getFromSubworkflow('child', 's', 'n'))"
    left: dict[str, Parameter | Undelivered | Missing] = {"child/s/n": Undelivered(done("LONG", 0))}
    assert result(read, "STRING", world(children=left)) == "null"
    assert result(read, "STRING", World(steps={"child": CHILD}, children=left)) == "0"


def test_a_loop_over_an_array_with_nulls() -> None:
    loop = Parameter(type=P.MAP, evaluated_result={"i": (None, 4)}, evaluated_time=1)
    assert iteration_count(loop) == 2
    assert [iteration_values(loop, at)["i"].evaluated_result for at in (0, 1)] == [None, 4]
    assert {iteration_values(loop, at)["i"].type for at in (0, 1)} == {P.LONG}


@pytest.mark.parametrize(
    ("kind", "values"),
    [(P.LONG_ARRAY, (1, None)), (P.DOUBLE_ARRAY, (Decimal("1.5"), None)), (P.BOOLEAN_ARRAY, (True, None))],
)
def test_arrays_with_nulls_travel(kind: ParamType, values: tuple[Any, ...]) -> None:
    param = Parameter(type=kind, expression="x", evaluated_result=values, evaluated_time=1)
    written = encode(param)
    assert written["evaluated_result"][1] is None
    assert decode(Parameter, written) == (param, [])
    assert str(result_text(param)).endswith(", null]")
