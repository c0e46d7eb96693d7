"""Values of any JSON type as parameters, and back."""

import math
from decimal import Decimal
from typing import Any

import pytest

from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.wire.scalars import NAN
from stretto.params.plain import has_type, param_of_json, plain_of
from stretto.sel import compile_expression, compile_template

JSON_PARAM = ParamDefinition(type=ParamType.STRING, value="null", meta={"format": "json"})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, "LONG"),
        ([1, 0.5], "DOUBLE_ARRAY"),
        ({"a": "b"}, "STRING_MAP"),
        ({"a": {"b": [True]}}, "MAP"),
        (None, None),
        ([None], None),
        ([1, "a"], None),
        ([[1]], None),
        ({"a": None}, None),
        (2**63, "LONG"),
        ([2**63], "LONG_ARRAY"),
        ([1, {"$stretto": ["float", "nan"]}], None),
        ({"a": {"$stretto": ["float", "nan"]}}, None),
    ],
)
def test_a_value_has_a_type_or_is_a_tagged_map(value: Any, kind: str | None) -> None:
    assert has_type(value) is (kind is not None)
    assert param_of_json(value).type == (kind or "MAP")
    assert param_of_json(value, JSON_PARAM).type == "STRING"


@pytest.mark.parametrize(
    ("kind", "result", "declared", "plain"),
    [
        ("STRING", '{"a":[1]}', JSON_PARAM, {"a": [1]}),
        ("STRING_ARRAY", ('{"a":1}', None), JSON_PARAM, [{"a": 1}, None]),
        ("STRING", '{"a":1}', None, '{"a":1}'),
        ("MAP", {"$stretto": ("json", "[null]")}, None, [None]),
        ("MAP", {"a": {"$stretto": ["json", "null"]}, "b": 1}, None, {"a": None, "b": 1}),
        ("MAP", {"$stretto": ("bytes", "AA==")}, None, {"$stretto": ["bytes", "AA=="]}),
        ("DOUBLE_ARRAY", (NAN, Decimal(1)), None, [{"$stretto": ["float", "nan"]}, Decimal(1)]),
        ("MAP", {"a": -math.inf}, None, {"a": {"$stretto": ["float", "-inf"]}}),
        ("MAP", {"$stretto": 1}, None, {"$stretto": 1}),
    ],
)
def test_results_as_plain_values(kind: str, result: Any, declared: Any, plain: Any) -> None:
    param = Parameter(type=ParamType(kind), evaluated_result=result)
    assert plain_of(param, declared or param) == plain


def test_expressions_and_texts_show_the_json_of_a_tagged_map() -> None:
    value = {"$stretto": ["json", '[{"a":1},null]']}
    assert compile_template("of ${p}").render({"p": value}.__getitem__) == 'of [{"a":1},null]'
    assert compile_expression("'of ' + p;").evaluate({"p": value}) == 'of [{"a":1},null]'
    assert compile_expression("Json.text(p);").evaluate({"p": value}) == '[{"a":1},null]'


def test_numbers_that_json_has_no_word_for_are_doubles() -> None:
    assert not has_type({"$stretto": ["float", "nan"]})
    made = param_of_json({"$stretto": ["float", "nan"]})
    assert (made.type, made.value) == (ParamType.DOUBLE, NAN)
