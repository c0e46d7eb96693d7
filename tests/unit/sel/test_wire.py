"""Values as JSON data with their types."""

from typing import Any

import pytest
from tests.unit.sel.evaluation import run

from stretto.sel import BooleanArray, DoubleArray, LongArray, SelError, StringArray
from stretto.sel.dates.datetime import DateTime
from stretto.sel.wire import Foreign, from_wire, is_typed, to_wire


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"type": "STRING", "value": "x"}, "x"),
        ({"type": "STRING", "value": None}, None),
        ({"type": "INT", "value": 1}, 1),
        ({"type": "FLOAT", "value": 1}, 1.0),
        ({"type": "BOOLEAN", "value": True}, True),
        ({"type": "NULL"}, None),
        ({"type": "STRING_ARRAY", "value": ["a"]}, StringArray(["a"])),
        ({"type": "BOXED_LONG_ARRAY", "value": [1]}, LongArray([1])),
        ({"type": "FLOAT_ARRAY", "value": [1]}, DoubleArray([1.0])),
        ({"type": "BOOLEAN_ARRAY", "value": []}, BooleanArray()),
        ({"type": "MAP", "value": {"a": {"type": "LONG", "value": 1}, "b": 2}}, {"a": 1, "b": 2}),
        ({"type": "something", "value": 1}, {"type": "something", "value": 1}),
        ({"type": "LONG", "value": 1, "more": 2}, {"type": "LONG", "value": 1, "more": 2}),
        ([1, 2], [1, 2]),
    ],
)
def test_from_wire(data: Any, value: Any) -> None:
    assert from_wire(data) == value
    assert type(from_wire(data)) is type(value)


def test_kinds_that_sel_does_not_have() -> None:
    assert isinstance(from_wire({"type": "LIST", "value": []}), Foreign)
    inside = from_wire({"type": "MAP", "value": {"a": {"type": "BOXED_LONG_ARRAY", "value": [1]}}})
    assert isinstance(inside["a"], Foreign)
    assert isinstance(from_wire({"type": "DATETIME", "value": "2019-01-01"}), DateTime)
    assert not is_typed({"value": 1})


@pytest.mark.parametrize(
    ("script", "type_", "value"),
    [
        ("1;", "LONG", 1),
        ("1.5;", "DOUBLE", 1.5),
        ("0.0 / 0;", "DOUBLE", "NaN"),
        ("null;", "NULL", None),
        ("", "VOID", None),
        ("String s; s;", "STRING", None),
        ("Map m; m;", "MAP", None),
        ("Days;", "DATETIME_DAYS", "null"),
        ("throw 'x';", "ERROR", "x"),
        ("new DateTime(0);", "DATETIME", "1970-01-01T00:00:00.000Z"),
        ("m = new Map(); m.put('a', new int[]{1}); m;", "MAP", {"a": [1]}),
    ],
)
def test_to_wire(script: str, type_: str, value: Any) -> None:
    assert to_wire(run(script), lambda _: None) == {"type": type_, "value": value}


@pytest.mark.parametrize(
    "script", ["m = new Map(); m.put('a', null); m;", "m = new Map(); m.put('m', m); m;"]
)
def test_what_has_no_form(script: str) -> None:
    with pytest.raises(SelError):
        to_wire(run(script), lambda _: None)
