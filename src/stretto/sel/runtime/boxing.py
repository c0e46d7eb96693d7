"""Values that come in, and values that go out. Both are copies."""

from collections.abc import Mapping
from typing import Any, Final

from stretto.sel.dates.datetime import DateTime, Days, Property
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.zones import Zone
from stretto.sel.errors import Kind, SelError
from stretto.sel.numbers import LONG_MAX, LONG_MIN, short_text, to_double
from stretto.sel.syntax.source import joined_surrogates
from stretto.sel.text import MAX_NESTING, Spend, too_nested
from stretto.sel.values import (
    Array,
    BooleanArray,
    DoubleArray,
    LongArray,
    StringArray,
    Type,
    Value,
    type_of,
)

ELEMENTS: Final[dict[frozenset[type], type[Array]]] = {
    frozenset(): StringArray,
    frozenset({str}): StringArray,
    frozenset({str, type(None)}): StringArray,
    frozenset({int}): LongArray,
    frozenset({float}): DoubleArray,
    frozenset({int, float}): DoubleArray,
    frozenset({bool}): BooleanArray,
}
"""What array a plain list is, by the types in it."""

IMMUTABLE: Final = frozenset({float, bool, type(None), DateTime, Zone, Formatter, Property, Days})
"""What needs no copy."""
RESULTS: Final = frozenset(
    {
        Type.STRING,
        Type.LONG,
        Type.DOUBLE,
        Type.BOOLEAN,
        Type.STRING_ARRAY,
        Type.LONG_ARRAY,
        Type.DOUBLE_ARRAY,
        Type.BOOLEAN_ARRAY,
        Type.MAP,
    }
)
"""The types that can leave an evaluation as plain data."""


def boxed(outside: Any, *, exact: bool = False) -> Value:
    """A plain value as SEL sees it, copied; UNSUPPORTED if SEL has no such type. `exact`: integers of any
    size have one.
    """
    kind = type(outside)
    if kind is int and LONG_MIN <= outside <= LONG_MAX:
        return outside
    if kind is str:
        return joined_surrogates(outside)
    if kind in IMMUTABLE:
        return outside
    if kind is int:
        if exact:
            return outside
        raise SelError(Kind.UNSUPPORTED, f"The integer {short_text(outside)} needs more than 64 bits")
    value = _copied(outside, 0, exact=exact)
    if value is NotImplemented:
        raise SelError(Kind.UNSUPPORTED, f"A value of the Python type {kind.__name__} has no type in SEL")
    return value


def _copied(outside: Any, depth: int, *, exact: bool) -> Value:
    if depth > MAX_NESTING:
        raise too_nested()
    if isinstance(outside, Array):
        if not exact and isinstance(outside, LongArray) and not _all_fit(outside):
            raise SelError(Kind.UNSUPPORTED, "An integer of the array needs more than 64 bits")
        return type(outside)(outside)
    if isinstance(outside, list):
        array = ELEMENTS.get(frozenset(map(type, outside)))
        if array is None or not (exact or all(map(_fits, outside))):
            return NotImplemented
        return DoubleArray(map(to_double, outside)) if array is DoubleArray else array(outside)
    if isinstance(outside, Mapping):
        return {_key(key): _entry(key, value, depth, exact=exact) for key, value in outside.items()}
    return NotImplemented


def _all_fit(longs: LongArray) -> bool:
    """Whether all of them have 64 bits. Few have more than 63, so that this rarely looks at each."""
    return max(map(int.bit_length, filter(None, longs)), default=0) < 64 or all(map(_fits, longs))


def _fits(element: Any) -> bool:
    return type(element) is not int or LONG_MIN <= element <= LONG_MAX


def _key(key: Any) -> str:
    if type(key) is not str:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"The keys of a map must be strings, {key!r} is not")
    return key


def _entry(key: str, outside: Any, depth: int, *, exact: bool) -> Value:
    if type(outside) in {str, int, float, bool, DateTime} and (exact or _fits(outside)):
        return outside
    value = _copied(outside, depth + 1, exact=exact)
    if value is NotImplemented:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"The map entry {key!r} has no type in SEL")
    return value


def unboxed(value: Value, spend: Spend, depth: int = 0) -> Value:
    """A result as plain data that shares nothing, without null or dates inside a map.

    `spend` is called with the number of entries: one map can be in another many times, and so on.
    """
    if depth > MAX_NESTING:
        raise too_nested()
    if isinstance(value, Array):
        spend(len(value))
        return type(value)(value)
    if type(value) is not dict:
        return value
    spend(len(value))
    for key, item in value.items():
        if type_of(item) not in RESULTS:
            message = f"The map entry {key!r} is {type_of(item)}, which can not leave an expression"
            raise SelError(Kind.UNSUPPORTED, message)
    return {key: unboxed(item, spend, depth + 1) for key, item in value.items()}
