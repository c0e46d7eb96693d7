"""Whether values fit a JSON Schema: as a full validator says where all is known, and nothing too soon."""

from decimal import Decimal
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stretto.definition.fitting import KEYWORDS, Unknown, fits
from stretto.definition.misfits import (
    alternatives,
    in_words,
    kinds_of,
    misfits,
    param_types,
    shown,
)
from stretto.definition.schema_shape import flaw_of

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 2.0, -1.5]), st.text("ab", max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    sizes = st.integers(0, 3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": st.integers(-2, 2),
        "maximum": st.integers(-2, 2),
        "exclusiveMinimum": st.integers(-2, 2),
        "exclusiveMaximum": st.sampled_from([-1, 0.5, 2]),
        "multipleOf": st.sampled_from([2, 0.5]),
        "pattern": st.sampled_from(["^a", "b$", "ab"]),
        "items": inner,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "propertyNames": inner,
        "additionalProperties": inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "description": st.just("x"),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), sizes),
        **dict.fromkeys(("minProperties", "maxProperties"), sizes),
    }
    assert set(KEYWORDS) <= set(keywords)
    return st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen})
    )


SCHEMAS = st.recursive(st.booleans(), _schema, max_leaves=8)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(VALUES, SCHEMAS)
def test_it_is_what_a_full_validator_says(value: Any, schema: Any) -> None:
    assert flaw_of(schema) is None
    expected = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    assert fits(value, schema) is expected
    assert (not list(misfits(value, schema))) is expected


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(VALUES, SCHEMAS)
def test_what_is_not_known_is_never_refused_too_soon(value: Any, schema: Any) -> None:
    """Whatever is said of a value with holes holds however they are filled."""
    expected = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    for holed in _holed(value):
        assert fits(holed, schema) in {None, expected}
        if expected:
            assert not list(misfits(holed, schema))


def _holed(value: Any) -> list[Any]:
    """The value with each of its parts, in turn, not known."""
    kind = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    found: list[Any] = [] if value is None else [Unknown(kind[type(value)])]
    if isinstance(value, dict):
        found += [{**value, name: holed} for name in value for holed in _holed(value[name])]
    if isinstance(value, list):
        for index, each in enumerate(value):
            found += [[*value[:index], holed, *value[index + 1 :]] for holed in _holed(each)]
    return found


TEXT, NUMBER, WHOLE, MAP, LIST = map(Unknown, ("string", "number", "integer", "object", "array"))


@pytest.mark.parametrize(
    ("value", "schema", "fit"),
    [
        (TEXT, {"type": "string"}, True),
        (TEXT, {"type": "integer"}, False),
        (WHOLE, {"type": "number"}, True),
        (NUMBER, {"type": "integer"}, None),
        (TEXT, {"enum": ["a"]}, None),
        (TEXT, {"enum": [1]}, False),
        (TEXT, {"pattern": "a"}, None),
        ("a", {"pattern": "(?=a)a"}, None),
        (WHOLE, {"minimum": 1}, None),
        (LIST, {"items": False}, None),
        (MAP, {"required": ["a"]}, None),
        (MAP, {"properties": {"a": False}}, None),
        (MAP, {"additionalProperties": False}, None),
        (MAP, {"propertyNames": False}, None),
        (TEXT, {"propertyNames": False}, True),
        ({"a": TEXT}, {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, True),
        ({"a": TEXT, "b": TEXT}, {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, False),
        (TEXT, {"oneOf": [{"const": "a"}, {"const": "b"}]}, None),
        (TEXT, {"oneOf": [{"const": "a"}, True]}, None),
        ({"a": 1}, {"patternProperties": {"a": True}, "additionalProperties": False}, None),
        (1, {"$ref": "#/x"}, None),
        (1, {"$ref": "#/x", "type": "string"}, False),
        (Decimal("0.1"), {"enum": [0.1]}, True),
        ({"a": 1, "b": TEXT}, {"const": {"a": 1, "b": "x"}}, None),
        ({"a": 1}, {"const": {"b": 1}}, False),
        ([1, TEXT], {"const": [1, "x"]}, None),
        ([1], {"const": [1, 2]}, False),
        (True, {"const": 1}, False),
        (5, {"properties": {"a": False}, "required": ["a"], "items": False, "minItems": 1}, True),
        (5, {"additionalProperties": False, "pattern": "a"}, True),
        ("a", {"minimum": 5, "anyOf": [False, True]}, True),
        (None, {"type": "null", "not": {"type": "boolean"}}, True),
        (True, {"allOf": [{"type": "boolean"}]}, True),
        (Decimal("5.0"), {"type": "integer"}, True),
    ],
)
def test_what_is_not_known(value: Any, schema: Any, fit: bool | None) -> None:
    assert fits(value, schema) is fit


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        (5, {"type": "string"}, "must be a text, not 5"),
        (TEXT, {"type": "integer"}, "must be a whole number, not a text"),
        (
            5,
            {"type": ["string", "array"], "items": {"type": "string"}},
            "must be a text or a list of texts, not 5",
        ),
        ("x", {"enum": ["a", 1]}, 'must be one of "a", 1, not "x"'),
        ("x", {"const": True}, 'must be true, not "x"'),
        (1, {"minimum": 2}, "must be 2 or more, not 1"),
        (3, {"maximum": 2}, "must be 2 or less, not 3"),
        (2, {"exclusiveMinimum": 2}, "must be more than 2, not 2"),
        (2, {"exclusiveMaximum": 2}, "must be less than 2, not 2"),
        (3, {"multipleOf": 2}, "must be a multiple of 2, not 3"),
        ("", {"minLength": 1}, 'must have 1 or more characters, not ""'),
        ("abc", {"maxLength": 1}, 'must have 1 or fewer characters, not "abc"'),
        ("abc", {"pattern": "^b"}, 'must look like `^b`, not "abc"'),
        ([], {"minItems": 1}, "must have 1 or more items, not []"),
        ([TEXT, 1], {"maxItems": 1}, 'must have 1 or fewer items, not ["...",1]'),
        ({}, {"minProperties": 1}, "must have 1 or more members, not {}"),
        ({"a": TEXT}, {"maxProperties": 0}, 'must have 0 or fewer members, not {"a":"..."}'),
        (1, {"not": {"type": "integer"}}, "must not be 1"),
        (1, {"oneOf": [{"type": "string"}, {"type": "boolean"}]}, "must be a text or true or false, not 1"),
        (1, {"anyOf": [{"type": "string"}]}, "must be a text, not 1"),
        (
            1,
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            "must be only one of: a whole number or a number",
        ),
        (1, False, "must not be there"),
        (
            {},
            {"oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
            "needs exactly one of `a` or `b` with `c`; it has none of them",
        ),
        (
            {"a": 1, "b": 1},
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "needs exactly one of `a` or `b`; it has `a` and `b`",
        ),
        (
            {},
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "needs one of `a` or `b`; it has none of them",
        ),
        ("x" * 100, {"type": "integer"}, f'must be a whole number, not "{"x" * 59}...'),
    ],
)
def test_in_words(value: Any, schema: Any, said: str) -> None:
    assert [(each.path, each.text) for each in misfits(value, schema)] == [((), said)]


@pytest.mark.parametrize(
    ("value", "schema", "place"),
    [
        ({"a": {"b": 1}}, {"properties": {"a": {"properties": {"b": False}}}}, ("a", "b")),
        ({"a": [1, "x"]}, {"properties": {"a": {"items": {"type": "integer"}}}}, ("a", 1)),
        ({"a": 1}, {"allOf": [{"properties": {"a": False}}, True]}, ("a",)),
        ({"b": 1}, {"required": ["b", "a"]}, ("a",)),
        ({"a": 1}, {"additionalProperties": False}, ("a",)),
        ({"a": 1, "bc": 2}, {"propertyNames": {"maxLength": 1}}, ("bc",)),
        ({"a": 1}, {"additionalProperties": {"type": "string"}}, ("a",)),
    ],
)
def test_places(value: Any, schema: Any, place: tuple[str | int, ...]) -> None:
    assert [each.path for each in misfits(value, schema)] == [place]


@pytest.mark.parametrize(
    ("schema", "words", "types"),
    [
        (True, "anything", None),
        (False, "anything else", None),
        ({}, "anything", None),
        ({"oneOf": [True]}, "anything", None),
        ({"type": "array"}, "a list", ["STRING_ARRAY", "LONG_ARRAY", "DOUBLE_ARRAY", "BOOLEAN_ARRAY"]),
        (
            {"type": "array", "items": {"type": "array"}},
            "a list",
            ["STRING_ARRAY", "LONG_ARRAY", "DOUBLE_ARRAY", "BOOLEAN_ARRAY"],
        ),
        ({"type": "array", "items": {"type": "integer"}}, "a list of whole numbers", ["LONG_ARRAY"]),
        ({"type": ["number", "null"]}, "a number or nothing", ["DOUBLE", "LONG"]),
        ({"enum": ["a", "b", 1]}, "a text or a whole number", ["STRING", "LONG"]),
        ({"const": {}}, "a map", ["MAP", "STRING_MAP"]),
        ({"anyOf": [{"type": "boolean"}, {"type": "boolean"}]}, "true or false", ["BOOLEAN"]),
    ],
)
def test_types(schema: Any, words: str, types: list[str] | None) -> None:
    assert in_words(schema) == words
    assert param_types(schema) == types
    assert (kinds_of(schema) is None) is (types is None)


def test_small_words() -> None:
    assert shown(object).startswith('"<class')
    assert alternatives(True) == []
    assert alternatives({"oneOf": [{"required": ["a"]}, {"type": "object"}]}) == [["a"]]


@pytest.mark.parametrize(
    ("schema", "flaw"),
    [
        ([], "the schema must be an object, true or false, not []"),
        ({"type": "text"}, "`type` of the schema must be one of string,"),
        ({"type": []}, "`type` of the schema must be one of string,"),
        ({"type": 5}, "`type` of the schema must be one of string,"),
        ({"properties": []}, "`properties` of the schema must be an object, not []"),
        ({"properties": {"a": 5}}, "`properties` of the schema, a must be an object, true or false, not 5"),
        ({"items": {"minItems": "1"}}, "`minItems` of `items` of the schema must be a number, 0 or more"),
        ({"oneOf": []}, "`oneOf` of the schema must be a list of schemas, not []"),
        ({"oneOf": [True, 1]}, "`oneOf` of the schema, number 2 must be an object"),
        ({"required": "a"}, "`required` of the schema must be a list of names"),
        ({"minimum": True}, "`minimum` of the schema must be a number"),
        ({"multipleOf": 0}, "`multipleOf` of the schema must be a number above 0"),
        ({"description": 1}, "`description` of the schema must be a text"),
    ],
)
def test_what_is_no_schema(schema: Any, flaw: str) -> None:
    assert str(flaw_of(schema)).startswith(flaw)
