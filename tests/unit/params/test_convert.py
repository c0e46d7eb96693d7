"""From what an expression returned to the declared type."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.params.make import done, expression, in_run

from stretto.model.param import Parameter, ParamType
from stretto.params import Fault, ParamError, evaluate_one, result_text, use_as


@pytest.mark.parametrize(
    ("kind", "script", "result", "notes"),
    [
        ("STRING", "'a'", "a", {}),
        ("STRING", "1.5", "1.5", {"info": "class java.lang.Double"}),
        ("STRING", "true", "true", {"info": "class java.lang.Boolean"}),
        ("LONG", "'+12'", 12, {"warn": "String"}),
        ("DOUBLE", "1", Decimal(1), {}),
        ("DOUBLE", "'1e3'", Decimal("1e3"), {}),
        ("DOUBLE", "1.0E10", Decimal("1.0E10"), {}),
        ("BOOLEAN", "1 > 0", True, {}),
        ("BOOLEAN", "'FALSE'", False, {"warn": "String"}),
        ("STRING_ARRAY", "'a,b'.split(',')", ("a", "b"), {}),
        ("STRING_ARRAY", "new String[1];", (None,), {}),
        ("STRING_ARRAY", "new double[]{1.0};", ("1.0",), {"info": "class [D"}),
        ("LONG_ARRAY", "new long[]{1};", (1,), {}),
        ("LONG_ARRAY", "new String[0];", (), {}),
        ("DOUBLE_ARRAY", "new double[]{0.1};", (Decimal("0.1"),), {}),
        ("BOOLEAN_ARRAY", "new boolean[]{true};", (True,), {}),
        ("MAP", "m = new Map(); m.put('a', 1); return m;", {"a": 1}, {}),
        ("STRING_MAP", "m = new Map(); m.put('a', 'b'); return m;", {"a": "b"}, {}),
        ("STRING_MAP", "m = new Map(); m.put('a', 1); return m;", {"a": "1"}, {"info": "LinkedHashMap"}),
    ],
)
def test_row_57_a_result_becomes_the_declared_type(
    kind: str, script: str, result: Any, notes: dict[str, str]
) -> None:
    found = evaluate_one("p", expression(kind, script), in_run())
    assert isinstance(found, Parameter)
    assert found.evaluated_result == result
    assert found.meta.keys() == notes.keys()
    for level, origin in notes.items():
        assert found.meta[level].endswith(origin)


@pytest.mark.parametrize(
    ("kind", "script", "fault"),
    [
        ("STRING", "new long[]{1};", Fault.WRONG_TYPE),
        ("STRING", "String s; return s;", Fault.WRONG_TYPE),
        ("LONG", "1.5", Fault.WRONG_TYPE),
        ("LONG", "'x'", Fault.NOT_A_NUMBER),
        ("DOUBLE", "'x'", Fault.NOT_A_NUMBER),
        ("DOUBLE", "new long[]{1};", Fault.NOT_A_NUMBER),
        ("BOOLEAN", "'yes'", Fault.WRONG_TYPE),
        ("BOOLEAN", "1", Fault.WRONG_TYPE),
        ("STRING_ARRAY", "'a'", Fault.WRONG_TYPE),
        ("LONG_ARRAY", "'a,b'.split(',')", Fault.WRONG_TYPE),
        ("LONG_ARRAY", "1", Fault.WRONG_TYPE),
        ("MAP", "1", Fault.WRONG_TYPE),
        ("STRING_MAP", "1", Fault.WRONG_TYPE),
        ("STRING_MAP", "m = new Map(); m.put('a', new Map()); return m;", Fault.WRONG_TYPE),
        ("STRING", "new DateTime(0)", Fault.EXPRESSION),
        ("STRING", "1 +", Fault.EXPRESSION),
        ("STRING", "throw 'no';", Fault.EXPRESSION),
    ],
)
def test_row_57_what_does_not_fit_names_the_parameter(kind: str, script: str, fault: Fault) -> None:
    with pytest.raises(ParamError) as raised:
        evaluate_one("p", expression(kind, script), in_run())
    assert (raised.value.fault, raised.value.param) == (fault, "p")
    assert "[p]" in raised.value.message


def test_a_result_is_used_as_its_own_type_only() -> None:
    assert use_as("p", done("LONG", 1), ParamType.LONG) == 1
    with pytest.raises(ParamError, match=r"\[p\] is a \[LONG\] type and can not be used as STRING"):
        use_as("p", done("LONG", 1), ParamType.STRING)


def test_a_result_has_one_line() -> None:
    assert result_text(done("LONG", 1)) == "1"
    assert result_text(done("LONG_ARRAY", (1, 2))) == "[1, 2]"
    assert result_text(done("MAP", {})) is None
