"""From one type to another: what an expression returned into the declared type, and literals in a merge.

Maestro is generous where nothing is lost and leaves a note on the parameter: `info` when anything became
text, `warn` when a text was taken for a number or a flag.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from stretto.model.param import Parameter, ParamType
from stretto.model.wire.scalars import decimal_of
from stretto.params.errors import Fault, ParamError
from stretto.params.values import SCALARS, TYPED_ARRAYS, exact, scalar_text
from stretto.sel import SelError
from stretto.sel.numbers import parse_integer, parse_long

P = ParamType
Notes = dict[str, str]

DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?", re.ASCII)
NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})
FLAGS: Final = {"true": True, "false": False}
NO_NOTES: Final[Notes] = {}

# Clients of Maestro show these notes, so the types in them keep the names they know.
JAVA_NAMES: Final[Mapping[ParamType, str]] = {
    P.STRING: "class java.lang.String",
    P.LONG: "class java.lang.Long",
    P.DOUBLE: "class java.lang.Double",
    P.BOOLEAN: "class java.lang.Boolean",
    P.STRING_ARRAY: "class [Ljava.lang.String;",
    P.LONG_ARRAY: "class [J",
    P.DOUBLE_ARRAY: "class [D",
    P.BOOLEAN_ARRAY: "class [Z",
    P.MAP: "class java.util.LinkedHashMap",
}


class Converted(NamedTuple):
    """A value of the declared type, and what the reader of the parameter should know about it."""

    value: Any
    notes: Notes = NO_NOTES


def convert(name: str, declared: ParamType, value: Any, *, exact_numbers: bool = False) -> Converted:
    """What an expression returned, as the result of a parameter of the declared type. `exact_numbers`: whole
    numbers have any size, and a DOUBLE can be NaN or infinite.
    """
    if value is None:
        raise ParamError(
            Fault.WRONG_TYPE, name, f"Param [{name}] is a {declared}, its expression returned null"
        )
    if exact_numbers and declared in FROM_EXACT:
        return FROM_EXACT[declared](name, value)
    return FROM_SEL[declared](name, value)


def use_as(name: str, param: Parameter, wanted: ParamType) -> Any:
    """The result of a parameter, which must have the type that the caller works with."""
    if param.type is not wanted:
        message = f"Param [{name}] is a [{param.type}] type and can not be used as {wanted}"
        raise ParamError(Fault.WRONG_TYPE, name, message)
    return param.evaluated_result


# ---------------------------------------------------------------------------------------- from expressions
def _note(level: str, what: str, origin: str) -> Notes:
    return {level: f"Implicitly converted the evaluated result to a {what} for type {origin}"}


def _returned(value: Any) -> ParamType:
    return SCALARS.get(type(value)) or TYPED_ARRAYS.get(type(value)) or P.MAP


def _unfit(name: str, declared: ParamType, value: Any) -> ParamError:
    returned = JAVA_NAMES[_returned(value)]
    message = f"Param [{name}] is declared {declared}, but its expression returned a [{returned}]"
    return ParamError(Fault.WRONG_TYPE, name, message)


def _not_a_number(name: str, text: str) -> ParamError:
    return ParamError(Fault.NOT_A_NUMBER, name, f'Param [{name}] is a number, but "{text[:100]}" is not')


def _to_string(name: str, value: Any) -> Converted:
    if isinstance(value, str):
        return Converted(value)
    if type(value) not in SCALARS:
        raise _unfit(name, P.STRING, value)
    return Converted(scalar_text(value), _note("info", "string", JAVA_NAMES[SCALARS[type(value)]]))


def _to_long(name: str, value: Any) -> Converted:
    if type(value) is int:
        return Converted(value)
    if not isinstance(value, str):
        raise _unfit(name, P.LONG, value)
    return Converted(_long(name, value), _note("warn", "long", "String"))


def _to_double(name: str, value: Any) -> Converted:
    if type(value) not in SCALARS:
        raise _not_a_number(name, f"a {_returned(value)}")
    return Converted(_decimal(name, scalar_text(value)))


def _to_boolean(name: str, value: Any) -> Converted:
    if isinstance(value, bool):
        return Converted(value)
    if not isinstance(value, str):
        raise _unfit(name, P.BOOLEAN, value)
    return Converted(_flag(name, value), _note("warn", "boolean", "String"))


def _to_strings(name: str, value: Any) -> Converted:
    kind = TYPED_ARRAYS.get(type(value))
    if kind is None:
        raise _unfit(name, P.STRING_ARRAY, value)
    if kind is P.STRING_ARRAY:
        return Converted(tuple(value))
    texts = tuple(None if each is None else scalar_text(each) for each in value)
    return Converted(texts, _note("info", "string array", JAVA_NAMES[kind]))


def _to_array(declared: ParamType, element: Callable[[Any], Any]) -> Callable[[str, Any], Converted]:
    def to_array(name: str, value: Any) -> Converted:
        kind = TYPED_ARRAYS.get(type(value))
        # Nothing, and nothing but nulls, is an array of anything.
        if kind is None or (kind is not declared and any(each is not None for each in value)):
            raise _unfit(name, declared, value)
        return Converted(tuple(None if each is None else element(each) for each in value))

    return to_array


def _to_string_map(name: str, value: Any) -> Converted:
    """Unlike Maestro, which keeps any value in a STRING_MAP: what is declared as text is text."""
    if not isinstance(value, dict):
        raise _unfit(name, P.STRING_MAP, value)
    if all(isinstance(text, str) for text in value.values()):
        return Converted(value)
    if not all(type(item) in SCALARS for item in value.values()):
        raise _unfit(name, P.STRING_MAP, value)
    texts = {key: scalar_text(item) for key, item in value.items()}
    return Converted(texts, _note("info", "string map", JAVA_NAMES[P.MAP]))


def _to_map(name: str, value: Any) -> Converted:
    if not isinstance(value, dict):
        raise _unfit(name, P.MAP, value)
    return Converted(value)


FROM_SEL: Final[Mapping[ParamType, Callable[[str, Any], Converted]]] = {
    P.STRING: _to_string,
    P.LONG: _to_long,
    P.DOUBLE: _to_double,
    P.BOOLEAN: _to_boolean,
    P.STRING_ARRAY: _to_strings,
    P.LONG_ARRAY: _to_array(P.LONG_ARRAY, int),
    P.DOUBLE_ARRAY: _to_array(P.DOUBLE_ARRAY, exact),
    P.BOOLEAN_ARRAY: _to_array(P.BOOLEAN_ARRAY, bool),
    P.STRING_MAP: _to_string_map,
    P.MAP: _to_map,
}


def _to_any_long(name: str, value: Any) -> Converted:
    if not isinstance(value, str):
        return _to_long(name, value)
    return Converted(any_long(name, value), _note("warn", "long", "String"))


def _to_any_double(name: str, value: Any) -> Converted:
    if type(value) is int:
        return Converted(Decimal(value))
    if isinstance(value, str):
        return Converted(any_double(name, value))
    return Converted(exact(value)) if type(value) is float else _to_double(name, value)


def any_long(name: str, text: str) -> int:
    """The whole number that a text spells, of any size; an error that names the parameter."""
    try:
        return parse_integer(text)
    except SelError:
        raise _not_a_number(name, text) from None


def any_double(name: str, text: str) -> Decimal:
    """The number that a text spells, `NaN` and the infinities too; an error that names the parameter."""
    return decimal_of(text) if text in NOT_FINITE else _decimal(name, text)


FROM_EXACT: Final[Mapping[ParamType, Callable[[str, Any], Converted]]] = {
    P.LONG: _to_any_long,
    P.DOUBLE: _to_any_double,
}


# ----------------------------------------------------------------------------------------------- in a merge
def _long(name: str, text: str) -> int:
    try:
        return parse_long(text)
    except SelError:
        raise _not_a_number(name, text) from None


def _decimal(name: str, text: str) -> Decimal:
    if DECIMAL.fullmatch(text) is None:
        raise _not_a_number(name, text)
    return Decimal(text)


def _flag(name: str, text: str) -> bool:
    flag = FLAGS.get(text.lower())
    if flag is None:
        message = f"Param [{name}] is true or false, but its expression returned [{text[:100]}]"
        raise ParamError(Fault.WRONG_TYPE, name, message)
    return flag


def _text(_name: str, value: Any) -> str:
    return scalar_text(value)


def _texts(_name: str, values: Any) -> tuple[str, ...]:
    return tuple(map(scalar_text, values))


CASTS: Final[Mapping[tuple[ParamType, ParamType], Callable[[str, Any], Any]]] = {
    (P.LONG, P.STRING): _text,
    (P.DOUBLE, P.STRING): _text,
    (P.BOOLEAN, P.STRING): _text,
    (P.LONG, P.DOUBLE): lambda _name, value: Decimal(value),
    (P.STRING, P.DOUBLE): _decimal,
    (P.STRING, P.LONG): _long,
    (P.STRING, P.BOOLEAN): _flag,
    (P.LONG_ARRAY, P.STRING_ARRAY): _texts,
    (P.DOUBLE_ARRAY, P.STRING_ARRAY): _texts,
    (P.BOOLEAN_ARRAY, P.STRING_ARRAY): _texts,
    (P.LONG_ARRAY, P.DOUBLE_ARRAY): lambda _name, values: tuple(map(Decimal, values)),
}


def cast(name: str, value: Any, given: ParamType, wanted: ParamType) -> Any:
    """A literal of one type as a literal of another; an error that names the parameter if there is no way."""
    converter = CASTS.get((given, wanted))
    try:
        if converter is not None:
            return converter(name, value)
    except ParamError:
        pass  # the reader wants to know which types met, not which digit was wrong
    raise type_mismatch(name, given, wanted)


def type_mismatch(name: str, given: ParamType, wanted: ParamType) -> ParamError:
    """The error of a value that has another type than the parameter it should change."""
    message = f"Param [{name}] is declared [{wanted}], and a [{given}] was given that can not become one"
    return ParamError(Fault.WRONG_TYPE, name, message)
