"""Whole numbers of more than 64 bits, `NaN` and the infinities as parameters; Maestro has none of them."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.params.make import (
    NOW,
    World,
    decimal,
    done,
    expression,
    in_run,
    longs,
    map_of,
    number,
)

from stretto.model.param import ParamDefinition, Parameter, ParamMode, ParamType
from stretto.model.wire.scalars import NAN
from stretto.params import Fault, ParamError, RunFacts, evaluate, evaluate_one, merge_outputs

BIG = 2**70
INFINITE = Decimal("Infinity")
STRETTO = World(run=RunFacts(workflow_id="wf", owner="ann", follows_maestro=False))


@pytest.mark.parametrize(
    ("kind", "script", "result"),
    [
        ("LONG", "9223372036854775807 + 1", 2**63),
        ("LONG", "'-1180591620717411303424'", -BIG),
        ("DOUBLE", "Double.valueOf('NaN')", NAN),
        ("DOUBLE", "'-Infinity'", -INFINITE),
        ("DOUBLE", "'0.5'", Decimal("0.5")),
        ("DOUBLE", "Long.valueOf('1180591620717411303424')", Decimal(BIG)),
        ("DOUBLE_ARRAY", "new double[]{1.5, Double.valueOf('Infinity')};", (Decimal("1.5"), INFINITE)),
        ("LONG_ARRAY", "new long[]{Long.valueOf('1180591620717411303424')};", (BIG,)),
        ("STRING", "Long.valueOf('1180591620717411303424')", str(BIG)),
    ],
)
def test_expressions_give_them(kind: str, script: str, result: Any) -> None:
    found = evaluate_one("p", expression(kind, script), in_run(STRETTO))
    assert isinstance(found, Parameter)
    assert found.evaluated_result is NAN if result is NAN else found.evaluated_result == result


@pytest.mark.parametrize(("kind", "script"), [("LONG", "'x'"), ("DOUBLE", "'nan'"), ("DOUBLE", "true")])
def test_what_spells_no_number_is_refused(kind: str, script: str) -> None:
    with pytest.raises(ParamError) as raised:
        evaluate_one("p", expression(kind, script), in_run(STRETTO))
    assert raised.value.fault is Fault.NOT_A_NUMBER


WIDE: list[ParamDefinition] = [
    number(BIG),
    longs(1, -BIG),
    decimal("NaN"),
    decimal("-Infinity"),
    done("MAP", {"a": {"b": BIG}, "c": "text", "d": [1, 2]}, value={}),
]


@pytest.mark.parametrize("param", WIDE)
def test_maestro_refuses_them(param: ParamDefinition) -> None:
    assert not isinstance(evaluate({"p": param}, in_run(STRETTO)), ParamError)
    with pytest.raises(
        ParamError, match=r"Param \[p\] is .*: workflows with the semantics STRETTO hold it"
    ) as raised:
        evaluate({"p": param}, in_run())
    assert raised.value.fault is Fault.OUT_OF_RANGE


@pytest.mark.parametrize(
    "param", [number(2**63 - 1), longs(-(2**63)), decimal("1e300"), map_of({"a": number(1)})]
)
def test_maestro_has_all_others(param: ParamDefinition) -> None:
    evaluate({"p": param}, in_run())


@pytest.mark.parametrize(
    ("kind", "value"), [("LONG", BIG), ("DOUBLE", NAN), ("LONG_ARRAY", (1, BIG)), ("MAP", {"a": BIG})]
)
def test_outputs(kind: str, value: Any) -> None:
    empty: Any = {"MAP": {}, "LONG_ARRAY": ()}.get(kind, 0)
    params = {"p": done(kind, empty, mode=ParamMode.MUTABLE)}
    if kind == "MAP":
        params = {"p": done(kind, empty, value={}, mode=ParamMode.MUTABLE)}
    outputs = {"p": Parameter(type=ParamType(kind), evaluated_result=value)}
    assert merge_outputs(params, outputs, NOW)["p"].evaluated_result == value or value is NAN
    with pytest.raises(ParamError, match=r"Param \[p\] is"):
        merge_outputs(params, outputs, NOW, follows_maestro=True)
