"""Results of parameters as expressions see them, and as text.

A parameter keeps decimals exactly and arrays as tuples; an expression computes with doubles and with arrays
that know their element type. Inside a MAP nothing is declared, so the values themselves decide.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from stretto.model.param import Parameter, ParamType
from stretto.model.wire.scalars import decimal_of
from stretto.sel.numbers import LONG_MAX, LONG_MIN, double_text
from stretto.sel.values import Array, BooleanArray, DoubleArray, LongArray, StringArray

P = ParamType


def _same(value: Any) -> Any:
    return value


def _doubles(values: Any) -> DoubleArray:
    return DoubleArray(None if each is None else float(each) for each in values)


TO_SEL: Final[Mapping[ParamType, Callable[[Any], Any]]] = {
    P.STRING: _same,
    P.LONG: _same,
    P.BOOLEAN: _same,
    P.DOUBLE: float,
    P.STRING_MAP: dict,
    P.STRING_ARRAY: StringArray,
    P.LONG_ARRAY: LongArray,
    P.DOUBLE_ARRAY: _doubles,
    P.BOOLEAN_ARRAY: BooleanArray,
    P.MAP: lambda members: {name: member_to_sel(value) for name, value in members.items()},
}

SCALARS: Final[Mapping[type, ParamType]] = {
    str: P.STRING,
    int: P.LONG,
    bool: P.BOOLEAN,
    float: P.DOUBLE,
    Decimal: P.DOUBLE,
}
ARRAY_OF: Final[Mapping[ParamType, ParamType]] = {
    P.STRING: P.STRING_ARRAY,
    P.LONG: P.LONG_ARRAY,
    P.BOOLEAN: P.BOOLEAN_ARRAY,
    P.DOUBLE: P.DOUBLE_ARRAY,
}
TYPED_ARRAYS: Final[Mapping[type, ParamType]] = {
    StringArray: P.STRING_ARRAY,
    LongArray: P.LONG_ARRAY,
    DoubleArray: P.DOUBLE_ARRAY,
    BooleanArray: P.BOOLEAN_ARRAY,
}


def is_evaluated(param: object) -> bool:
    """Whether a parameter has its result; a definition never has one."""
    return isinstance(param, Parameter) and param.evaluated_result is not None


def null_of(kind: ParamType, now_millis: int) -> Parameter:
    """A parameter that nobody has given a value: expressions read null."""
    return Parameter(type=kind, evaluated_time=now_millis)


def is_null(param: object) -> bool:
    """Whether expressions read null in a parameter."""
    return (
        isinstance(param, Parameter) and param.evaluated_result is None and param.evaluated_time is not None
    )


def to_sel(kind: ParamType, result: Any) -> Any:
    """A result of a declared type as a value that an expression can be given."""
    return None if result is None else TO_SEL[kind](result)


def member_to_sel(value: Any) -> Any:
    """A member of a MAP as a value that an expression can be given."""
    return value if isinstance(value, Array) else to_sel(kind_of(value), value)


def kind_of(value: Any) -> ParamType:
    """The type of a plain value. A list is named after its first element that is not null; without one it
    holds texts.
    """
    scalar = SCALARS.get(type(value))
    if scalar is not None:
        return scalar
    if isinstance(value, Mapping):
        return P.MAP
    typed = TYPED_ARRAYS.get(type(value))
    if typed is not None:
        return typed
    first = next((each for each in value if each is not None), None)
    return P.STRING_ARRAY if first is None else ARRAY_OF[SCALARS[type(first)]]


def exact(value: Any) -> Any:
    """A number of an expression as a parameter keeps it: doubles become decimals with the same digits."""
    return decimal_of(value) if isinstance(value, float) else value


def beyond_maestro(value: Any) -> str | None:
    """Why Maestro has no parameter for a result: its whole numbers have 64 bits, its numbers are finite. None
    if it has one. Its arrays are of doubles, which NaN is one of.
    """
    kind = type(value)
    if kind is int:
        return None if LONG_MIN <= value <= LONG_MAX else "is a whole number that needs more than 64 bits"
    if kind is Decimal:
        return None if value.is_finite() else f"is {value}, and not a finite number"
    if isinstance(value, Mapping):
        return next(filter(None, map(beyond_maestro, value.values())), None)
    if isinstance(value, list | tuple):
        return next(filter(None, (beyond_maestro(each) for each in value if type(each) is int)), None)
    return None


def scalar_text(value: Any) -> str:
    """A text, number or flag the way expressions and interpolation write it: `3.0`, `true`."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else double_text(float(value))


def result_text(param: Parameter) -> str | None:
    """The result in one line, as timelines show it: `[1, 2, 3]` for an array; a MAP has no such form."""
    result = param.evaluated_result
    if param.type in {P.MAP, P.STRING_MAP}:
        return None
    if param.type.is_array:
        return f"[{', '.join(map(scalar_text, result))}]"
    return scalar_text(result)
