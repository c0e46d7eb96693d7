"""Parameters: the shape of a value hangs on its type."""

from decimal import Decimal
from typing import Any

import pytest

from stretto.model import wire
from stretto.model.param import (
    InternalParamMode,
    ParamDefinition,
    Parameter,
    ParamMode,
    ParamSource,
    ParamType,
)
from stretto.model.problem import Code

VALUES: dict[ParamType, Any] = {
    ParamType.STRING: "a",
    ParamType.LONG: 1,
    ParamType.DOUBLE: Decimal("1.50"),
    ParamType.BOOLEAN: True,
    ParamType.STRING_MAP: {"a": "b"},
    ParamType.STRING_ARRAY: ["a"],
    ParamType.LONG_ARRAY: [1],
    ParamType.DOUBLE_ARRAY: [Decimal("1.50")],
    ParamType.BOOLEAN_ARRAY: [True],
    ParamType.MAP: {"a": {"type": "LONG", "value": 1}},
}
TAKES: dict[ParamType, set[type]] = {
    ParamType.STRING: {str},
    ParamType.LONG: {int},
    ParamType.DOUBLE: {int, Decimal},
    ParamType.BOOLEAN: {bool},
    ParamType.STRING_MAP: {dict},
    ParamType.MAP: {dict},
}
KINDS: list[Any] = ["?", 7, Decimal("1.5"), True, [[]], {"?": "?"}]


def problems_of(value: Any, tp: type[ParamDefinition] = ParamDefinition) -> list[tuple[str, str]]:
    return [(each.code, each.path) for each in wire.decode(tp, value)[1]]


@pytest.mark.parametrize("kind", ParamType)
def test_round_trip_of_every_type(kind: ParamType) -> None:
    given = {
        "value": VALUES[kind],
        "type": kind.value,
        "mode": "CONSTANT",
        "tags": [{"name": "t"}],
        "validator": "@NotNull",
        "internal_mode": "PROVIDED",
        "source": "DEFINITION",
        "evaluated_time": 7,
        "evaluated_result": {"a": 1} if kind is ParamType.MAP else VALUES[kind],
        "warn": "free",
    }
    param, problems = wire.decode(Parameter, given)
    assert problems == []
    assert (param.mode, param.internal_mode) == (ParamMode.CONSTANT, InternalParamMode.PROVIDED)
    assert (param.source, param.meta) == (ParamSource.DEFINITION, {"warn": "free"})
    assert param.is_literal
    assert wire.encode(param) == given
    assert wire.to_json(wire.encode(param)) == wire.to_json(wire.encode(wire.decode(Parameter, given)[0]))


@pytest.mark.parametrize("kind", ParamType)
def test_a_wrong_value_is_one_problem_at_its_place(kind: ParamType) -> None:
    for key in ("value", "evaluated_result"):
        for wrong in KINDS:
            if type(wrong) in TAKES.get(kind, {list}):
                continue
            given = {"value": VALUES[kind], "type": kind.value, key: wrong}
            assert problems_of(given, Parameter) == [(Code.WRONG_TYPE, key)], wrong


@pytest.mark.parametrize(
    ("key", "taken"),
    [
        ("type", str),
        ("expression", str),
        ("validator", str),
        ("tags", list),
        ("mode", str),
        ("internal_mode", str),
        ("source", str),
        ("evaluated_time", int),
    ],
)
def test_a_wrong_type_of_another_field(key: str, taken: type) -> None:
    for wrong in KINDS:
        if type(wrong) is taken:
            continue
        given = {"type": "STRING", **({} if key == "expression" else {"value": "a"}), key: wrong}
        assert problems_of(given, Parameter) == [(Code.WRONG_TYPE, key)], wrong


@pytest.mark.parametrize("wrong", [None, True, 1, "a", []])
def test_a_parameter_is_an_object(wrong: Any) -> None:
    assert problems_of(wrong) == [(Code.WRONG_TYPE, "")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"value": "a"}, [(Code.MISSING_FIELD, "type")]),
        ({"type": "STRNG", "value": "a"}, [(Code.UNKNOWN_VALUE, "type")]),
        ({"type": "STRING"}, [(Code.MISSING_FIELD, "")]),
        ({"type": "STRING", "value": "a", "expression": "b"}, [(Code.CONFLICT, "")]),
        ({"type": "STRING", "internal_mode": "REQUIRED"}, []),
        ({"type": "string_array", "value": []}, []),
        ({"type": "LONG", "value": 2**63}, []),
        ({"type": "LONG", "value": 10**4_000}, [(Code.OUT_OF_RANGE, "value")]),
        ({"type": "LONG_ARRAY", "value": [1, -(10**4_000)]}, [(Code.OUT_OF_RANGE, "value[1]")]),
        ({"type": "LONG", "value": True}, [(Code.WRONG_TYPE, "value")]),
        ({"type": "DOUBLE", "value": "NaN"}, []),
        ({"type": "DOUBLE", "value": "1e401"}, [(Code.OUT_OF_RANGE, "value")]),
        (
            {"type": "MAP", "value": {"a.b": {"type": "LONG", "value": "x"}}},
            [(Code.WRONG_TYPE, 'value["a.b"].value')],
        ),
        ({"type": "STRING", "value": "a", "mode": "mutabel"}, [(Code.UNKNOWN_VALUE, "mode")]),
    ],
)
def test_shapes(given: Any, expected: list[tuple[str, str]]) -> None:
    assert problems_of(given) == expected


def test_the_name_is_the_key_of_the_map_around_it() -> None:
    param, problems = wire.decode(ParamDefinition, {"type": "LONG", "value": 1, "name": "x"})
    assert problems == []
    assert wire.encode(param) == {"type": "LONG", "value": 1}


def test_an_expression_is_no_literal() -> None:
    param, _ = wire.decode(ParamDefinition, {"type": "LONG", "expression": "1 + 1"})
    assert not param.is_literal
    assert param.type.is_array is False
    assert ParamType.LONG_ARRAY.is_array


@pytest.mark.parametrize(("key", "word"), [("source", "step default"), ("internal_mode", "system")])
def test_unknown_notes_are_kept(key: str, word: str) -> None:
    """Maestro's own fixtures carry such words; it reads them as free notes."""
    given = {"type": "LONG", "value": 1, key: word}
    param, problems = wire.decode(ParamDefinition, given)
    assert problems == []
    assert param.meta == {key: word}
    assert getattr(param, key) is None
    assert wire.encode(param) == given


def test_a_double_keeps_its_digits() -> None:
    text = b'{"value":1.10,"type":"DOUBLE"}'
    param, _ = wire.from_json(ParamDefinition, text)
    assert wire.to_json(wire.encode(param)) == text
