"""Texts become values of the declared type, or an error that says what was expected."""

from decimal import Decimal
from typing import Any

import pytest

from stretto.model.param import ParamDefinition, ParamType
from stretto.params import Alone, Moment, ParamError, RunFacts, Scope, evaluate
from stretto.params.text import EXPECTED, as_literal, read_value

P = ParamType


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (P.STRING, " as it is ", " as it is "),
        (P.LONG, " 42", 42),
        (P.LONG, "-9223372036854775808", -(2**63)),
        (P.DOUBLE, "0.50", Decimal("0.50")),
        (P.DOUBLE, "3", Decimal(3)),
        (P.LONG, "-9223372036854775809", -(2**63) - 1),
        (P.LONG_ARRAY, "[9223372036854775808]", (2**63,)),
        (P.DOUBLE, "-Infinity", Decimal("-Infinity")),
        (P.DOUBLE_ARRAY, '[1, "Infinity"]', (Decimal(1), Decimal("Infinity"))),
        (P.BOOLEAN, "True", True),
        (P.STRING_ARRAY, "eu, us", ("eu", "us")),
        (P.STRING_ARRAY, '["a,b", 1, true]', ("a,b", "1", "true")),
        (P.STRING_ARRAY, "", ()),
        (P.LONG_ARRAY, "1,2", (1, 2)),
        (P.LONG_ARRAY, " [1, 2]", (1, 2)),
        (P.DOUBLE_ARRAY, "[1, 0.5]", (Decimal(1), Decimal("0.5"))),
        (P.BOOLEAN_ARRAY, "true,false", (True, False)),
        (P.STRING_MAP, '{"a": "1"}', {"a": "1"}),
        (P.MAP, '{"a": 1, "b": [1.5], "c": {"d": "x"}}', {"a": 1, "b": [Decimal("1.5")], "c": {"d": "x"}}),
        (P.MAP, '{"none": []}', {"none": []}),
    ],
)
def test_what_a_text_spells(kind: ParamType, text: str, value: Any) -> None:
    assert read_value("p", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (P.STRING, "half a \ud800 character"),
        (P.LONG, "4x"),
        (P.LONG, "9" * 4_001),
        (P.LONG, ""),
        (P.DOUBLE, "nan"),
        (P.BOOLEAN, "yes"),
        (P.LONG_ARRAY, "1,two"),
        (P.LONG_ARRAY, "[1"),
        (P.LONG_ARRAY, "[[1]]"),
        (P.LONG_ARRAY, '["x"]'),
        (P.LONG_ARRAY, f"[{'9' * 5_000}]"),
        (P.STRING_MAP, '{"a": 1}'),
        (P.STRING_MAP, "a=b"),
        (P.MAP, "[1]"),
        (P.MAP, '{"a": null}'),
        (P.MAP, '{"a": [1, "b"]}'),
        (P.MAP, '{"a": [null]}'),
        (P.MAP, '{"a": {"b": null}}'),
        (P.MAP, '{"a": NaN}'),
        (P.MAP, '{"a": "\\ud800"}'),
        (P.MAP, "[" * 100_000),
    ],
)
def test_anything_else_is_refused_with_what_is_expected(kind: ParamType, text: str) -> None:
    with pytest.raises(ParamError) as refused:
        read_value("p", kind, text)
    message = refused.value.message
    assert message.startswith(f"Param [p] is a {kind}: expected {EXPECTED[kind]}, and not `{text[:4]}")
    assert len(message) < 250
    message.encode()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (P.STRING, "5$ for ${x} and $y"),
        (P.LONG, 4),
        (P.DOUBLE, Decimal("0.50")),
        (P.STRING_ARRAY, ("$a", "b")),
        (P.LONG_ARRAY, (1, 2)),
        (P.STRING_MAP, {"$k": "$v"}),
        (P.MAP, {"a": "$x", "b": {"c": True}, "d": [1, 2]}),
    ],
)
def test_a_literal_is_evaluated_to_the_value_itself(kind: ParamType, value: Any) -> None:
    scope = Scope(context=Alone(RunFacts(workflow_id="w", owner="ann")), moment=Moment(0))
    params: dict[str, ParamDefinition] = {"p": as_literal(kind, value)}
    found = evaluate(params, scope)
    assert found["p"].evaluated_result == value  # type: ignore[index]
