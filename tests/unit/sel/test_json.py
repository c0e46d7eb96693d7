"""`Json`: JSON texts, looked into and made."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import failure, run

from stretto.sel import (
    BooleanArray,
    DoubleArray,
    Environment,
    Kind,
    Limits,
    LongArray,
    StringArray,
    compile_expression,
)

ORDER = '{"id": 7, "lines": [{"price": 2.50}, {"price": 3}], "tags": ["a", "b"], "on": [true], "x": null}'


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("Json.zip('[1, 2]', '[\"a\", null]');", StringArray(['[1,"a"]', "[2,null]"])),
        ("Json.zip('[]');", StringArray([])),
        ("Json.zip();", StringArray([])),
        ("Json.zipNamed('a', '[1, 2]', 'b', '[3, null]');", StringArray(["[1,3]", "[2,null]"])),
        ("Json.zipNamed();", StringArray([])),
        ("Json.parse(order, 'id');", 7),
        ("Json.parse(order, 'lines', -1, 'price');", 3),
        ("Json.parse(order, 'tags');", StringArray(["a", "b"])),
        ("Json.parse(order, 'on');", BooleanArray([True])),
        ("Json.parse(order, 'lines');", StringArray(['{"price":2.5}', '{"price":3}'])),
        ("Json.parse(order, 'x');", None),
        ("Json.parse(order, 'lines', 0);", {"price": 2.5}),
        ("Json.parse('[1, 2]');", LongArray([1, 2])),
        ("Json.parse('[1, 2.5]');", DoubleArray([1.0, 2.5])),
        ("Json.parse('[0.5]');", DoubleArray([0.5])),
        ("Json.parse('[1, true]');", StringArray(["1", "true"])),
        ("Json.parse('[1, null]');", LongArray([1, None])),
        ("Json.parse('[null, 1, 2.5]');", DoubleArray([None, 1.0, 2.5])),
        ("Json.parse('[true, null]');", BooleanArray([True, None])),
        ("Json.parse('[\"a\", null]');", StringArray(["a", None])),
        ("Json.parse('[null, null]');", StringArray([None, None])),
        ("Json.parse('[1, \"a\", null]');", StringArray(["1", '"a"', "null"])),
        ("Json.parse('[{}, null]');", StringArray(["{}", "null"])),
        ("Json.parse('[]');", StringArray()),
        ("Json.parse('{\"a\": {\"b\": [1]}}').get('a').get('b')[0];", 1),
        ("Json.part(order, 'lines', 0);", '{"price": 2.50}'),
        ("Json.part(order);", ORDER),
        ("Json.texts(order, 'lines');", StringArray(['{"price": 2.50}', '{"price": 3}'])),
        ("Json.texts('[]');", StringArray()),
        ("Json.doubles('[1, 2.5]');", DoubleArray([1.0, 2.5])),
        ("Json.doubles('[]');", DoubleArray()),
        ("Json.strings(order, 'tags');", StringArray(["a", "b"])),
        ("Json.strings('[null, \"1\"]');", StringArray([None, "1"])),
        ("Json.strings('[]');", StringArray()),
        ("Json.size(order) * 100 + Json.size(order, 'tags') * 10 + Json.size(order, 'tags', 0);", 521),
        ("Json.text('a\"b');", '"a\\"b"'),
        ("Json.text(new int[]{1, 2});", "[1,2]"),
        ("Json.text(null);", "null"),
        ("Json.object();", "{}"),
        ("Json.object('a', '1', 'b', Json.text('x'));", '{"a":1,"b":"x"}'),
        ("Json.array();", "[]"),
        ("Json.array('1', '{}');", "[1,{}]"),
        ("Json.array(Json.texts(order, 'tags'));", '["a","b"]'),
        ("Json.array(new String[2]);", "[null,null]"),
        ("Json.parse(Json.text('\\u20ac'));", "€"),
    ],
)
def test_value(script: str, value: Any) -> None:
    found = run(script, order=ORDER)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("script", "expected", "message"),
    [
        ("Json.parse();", Kind.ILLEGAL_ARGUMENT, "parse takes a JSON text, and the path"),
        ("Json.parse(3);", Kind.CLASS_CAST, "a STRING"),
        ("Json.parse(null);", Kind.NULL_POINTER, "A string was expected"),
        ("Json.parse('{');", Kind.ILLEGAL_ARGUMENT, "`{` is not the JSON that was expected"),
        ("Json.parse('[1]', 'a');", Kind.ILLEGAL_ARGUMENT, "Expected `object`, got `array`"),
        ("Json.parse('{}', 0);", Kind.ILLEGAL_ARGUMENT, "Expected `array`, got `object`"),
        ("Json.parse('{}', 'a');", Kind.ILLEGAL_ARGUMENT, "The JSON object has no 'a'"),
        ("Json.parse('[1]', 1);", Kind.INDEX_OUT_OF_BOUNDS, "has 1 elements, none at position 1"),
        ("Json.parse('[1]', -2);", Kind.INDEX_OUT_OF_BOUNDS, "none at position -2"),
        ("Json.parse('[1]', 1.5);", Kind.ILLEGAL_ARGUMENT, "A path has names and positions, this is DOUBLE"),
        ("Json.parse('9223372036854775808');", Kind.ILLEGAL_ARGUMENT, "does not fit into a LONG"),
        ("Json.parse('[9223372036854775808]');", Kind.ILLEGAL_ARGUMENT, "does not fit into a LONG"),
        ("Json.parse('NaN');", Kind.ILLEGAL_ARGUMENT, "not the JSON that was expected"),
        (
            "Json.doubles('3');",
            Kind.ILLEGAL_ARGUMENT,
            "a list of numbers was expected there, this is a number",
        ),
        ("Json.strings();", Kind.ILLEGAL_ARGUMENT, "strings takes a JSON text, and the path"),
        (
            "Json.strings('\"a\"');",
            Kind.ILLEGAL_ARGUMENT,
            "a list of texts was expected there, this is a text",
        ),
        (
            "Json.strings('[\"a\", 1]');",
            Kind.ILLEGAL_ARGUMENT,
            "a text was expected at position 1 of the list, this is a number",
        ),
        ("Json.doubles('[true]');", Kind.ILLEGAL_ARGUMENT, "this is a list"),
        (
            "Json.size('true');",
            Kind.ILLEGAL_ARGUMENT,
            "a list, an object or a text was expected there, this is a fl",
        ),
        ("Json.zip('[1]', '[]');", Kind.ILLEGAL_ARGUMENT, "lists of one length, these have 0 and 1"),
        (
            "Json.zipNamed('a', '[1]', 'b', '[]');",
            Kind.ILLEGAL_ARGUMENT,
            "`a` has 1 element, `b` has 0 elements",
        ),
        ("Json.zipNamed('a');", Kind.ILLEGAL_ARGUMENT, "names and JSON texts in turn"),
        ("Json.zip('3');", Kind.ILLEGAL_ARGUMENT, "Expected `array`"),
        ("Json.object('a');", Kind.ILLEGAL_ARGUMENT, "object takes names and JSON texts in turn"),
        ("Json.object(1, '1');", Kind.CLASS_CAST, "a STRING"),
        ("Json.object('a', 'x');", Kind.ILLEGAL_ARGUMENT, "`x` is not the JSON"),
        ("Json.array(3);", Kind.CLASS_CAST, "a STRING"),
        ("Json.text(new DateTime(0));", Kind.UNSUPPORTED, "has no JSON form"),
        ("Json.text(1, 2);", Kind.UNSUPPORTED, "has no method text with 2 arguments"),
        ("Json = 3;", Kind.UNSUPPORTED, ""),
    ],
)
def test_failure(script: str, expected: Kind, message: str) -> None:
    error = failure(script)
    assert error.kind is expected
    assert message in error.message


def test_deep_texts_are_refused() -> None:
    objects = '{"a":' * 150 + "1" + "}" * 150
    assert failure("Json.parse(deep);", deep=objects).limit == "stack"
    assert failure("Json.parse(deep);", deep="[" * 100_000 + "]" * 100_000).limit == "stack"


@pytest.mark.parametrize("script", ["Json.parse(many);", "Json.texts(many);", "Json.part(many, 0);"])
def test_long_texts_cost_what_they_are(script: str) -> None:
    many = "[" + ",".join(["1"] * 50_000) + "]"
    assert failure(script, many=many, limits=Limits(visit=1_000)).limit == "visit"
    assert failure(script, many=many, limits=Limits(memory=1_000_000)).limit == "memory"


MISSING = [
    ("Json.parse(x)", None),
    ("Json.part(x)", "null"),
    ("Json.text(x)", "null"),
    ("Json.object('a', x)", '{"a":null}'),
    ("Json.array(x, '1')", "[null,1]"),
    ("Json.array(x)", "null"),  # the array itself is missing
    ("Json.array(Json.part(x))", "[null]"),
]


@pytest.mark.parametrize(("script", "value"), MISSING)
def test_a_missing_text_is_null(script: str, value: Any) -> None:
    exact = Environment(exact=True)
    assert compile_expression(f"{script};").evaluate({"x": None}, exact) == value


@pytest.mark.parametrize("script", ["Json.parse(x);", "Json.object('a', x);", "Json.array(x);"])
def test_maestro_has_no_missing_texts(script: str) -> None:
    assert failure(script, x=None).kind is Kind.NULL_POINTER
