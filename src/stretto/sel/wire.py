"""Values as JSON data, with their types: `{"type": "LONG", "value": 1}`."""

import math
from collections.abc import Callable
from typing import Any, Final

from stretto.sel.dates.iso import parse_iso
from stretto.sel.dates.zones import UTC
from stretto.sel.errors import Kind, SelError
from stretto.sel.numbers import double_text
from stretto.sel.runtime.boxing import RESULTS
from stretto.sel.text import MAX_NESTING, SIMPLE, Spend, too_nested
from stretto.sel.values import (
    Array,
    BooleanArray,
    DoubleArray,
    LongArray,
    StringArray,
    Thrown,
    Type,
    Value,
    type_of,
)


class Foreign:
    """A value of the outside that SEL has no type for, such as a Java list."""


def _reals(value: Any) -> DoubleArray:
    return DoubleArray(map(float, value))


SCALARS: Final[dict[str, Callable[[Any], Any]]] = {
    "STRING": lambda value: value if value is None else str(value),
    "LONG": int,
    "INT": int,
    "DOUBLE": float,
    "FLOAT": float,
    "BOOLEAN": bool,
    "NULL": lambda _: None,
    "DATETIME": lambda value: parse_iso(str(value), UTC),
    "STRING_ARRAY": StringArray,
    "LONG_ARRAY": LongArray,
    "DOUBLE_ARRAY": _reals,
    "BOOLEAN_ARRAY": BooleanArray,
}
TOP_LEVEL: Final[dict[str, Callable[[Any], Any]]] = {
    **SCALARS,
    "INT_ARRAY": LongArray,
    "BOXED_LONG_ARRAY": LongArray,
    "FLOAT_ARRAY": _reals,
}
"""Kinds of the outside that are converted where they are bound, and refused inside a map."""
FOREIGN: Final = frozenset({"LIST", "CHAR_ARRAY"})


def is_typed(data: Any) -> bool:
    """Whether JSON data is a value with its type, and not a map that happens to look like one."""
    if not isinstance(data, dict) or not {"type"} <= data.keys() <= {"type", "value"}:
        return False
    return data["type"] in TOP_LEVEL or data["type"] in FOREIGN or data["type"] == "MAP"


def from_wire(data: Any) -> Any:
    """A value to bind, from JSON data that is typed or plain."""
    if not is_typed(data):
        return data
    kind = data["type"]
    return TOP_LEVEL[kind](data.get("value")) if kind in TOP_LEVEL else _nested(data)


def _nested(data: Any) -> Any:
    kind, value = data["type"], data.get("value")
    if kind == "MAP":
        return {key: _nested(item) if is_typed(item) else item for key, item in value.items()}
    return SCALARS[kind](value) if kind in SCALARS else Foreign()


def to_wire(value: Value, spend: Spend) -> dict[str, Any]:
    """A result as `{"type", "value"}`; `spend` is called with the number of entries of maps and arrays."""
    return {"type": str(type_of(value)), "value": _data(value, spend, 0)}


def _entry(key: str, item: Value) -> Value:
    if type_of(item) not in RESULTS:
        raise SelError(Kind.UNSUPPORTED, f"The map entry {key!r} is {type_of(item)}, which has no plain form")
    return item


def _data(value: Value, spend: Spend, depth: int) -> Any:
    if depth > MAX_NESTING:
        raise too_nested()
    if type(value) is dict:
        spend(len(value))
        return {key: _data(_entry(key, item), spend, depth + 1) for key, item in value.items()}
    if isinstance(value, Array):
        spend(len(value))
        return [_data(item, spend, depth + 1) for item in value]
    if type(value) is float:
        return value if math.isfinite(value) else double_text(value)
    if type(value) is Thrown:
        return value.message
    if type_of(value) in {Type.STRING, Type.MAP, Type.VOID} and type(value) is not str:
        return None  # declared and never set, or nothing at all
    if value is None or type(value) in {str, int, bool}:
        return value
    return SIMPLE[type(value)](value)
