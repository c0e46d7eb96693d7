"""Results of parameters as expressions see them, and as text.

A parameter keeps decimals exactly and arrays as tuples; an expression computes with doubles and with arrays
that know their element type. Inside a MAP nothing is declared, so the values themselves decide.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from stretto.model.param import Parameter, ParamType
from stretto.sel.numbers import double_text
from stretto.sel.values import Array, BooleanArray, DoubleArray, LongArray, StringArray

P = ParamType


def _same(value: Any) -> Any:
    return value


def _doubles(values: Any) -> DoubleArray:
    return DoubleArray(map(float, values))


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


def to_sel(kind: ParamType, result: Any) -> Any:
    """A result of a declared type as a value that an expression can be given."""
    return TO_SEL[kind](result)


def member_to_sel(value: Any) -> Any:
    """A member of a MAP as a value that an expression can be given."""
    return value if isinstance(value, Array) else to_sel(kind_of(value), value)


def kind_of(value: Any) -> ParamType:
    """The type of a plain value. A list is named after its first element; an empty one holds texts."""
    scalar = SCALARS.get(type(value))
    if scalar is not None:
        return scalar
    if isinstance(value, Mapping):
        return P.MAP
    typed = TYPED_ARRAYS.get(type(value))
    if typed is not None:
        return typed
    return ARRAY_OF[SCALARS[type(value[0])]] if value else P.STRING_ARRAY


def exact(value: Any) -> Any:
    """A number of an expression as a parameter keeps it: doubles become decimals with the same digits."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def scalar_text(value: Any) -> str:
    """A text, number or flag the way expressions and interpolation write it: `3.0`, `true`."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else double_text(float(value))


def result_text(param: Parameter) -> str | None:
    """The result in one line, as timelines show it: `[1, 2, 3]` for an array; a MAP has no such form."""
    result = param.evaluated_result
    if param.type in {P.MAP, P.STRING_MAP}:
        return None
    if param.type.is_array:
        return f"[{', '.join(map(scalar_text, result))}]"
    return scalar_text(result)
