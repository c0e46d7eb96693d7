"""Values that people and programs write as text: `-p rows=42` on a command line, `rows=42` in an output file.

The declared type says how the text is read. A text is data: nothing in it is interpolated.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from stretto.model.param import ParamDefinition, ParamType
from stretto.model.wire import to_json
from stretto.model.wire.scalars import decimal_of
from stretto.params.convert import any_double, any_long, cast
from stretto.params.errors import Fault, ParamError
from stretto.params.values import ARRAY_OF, SCALARS, kind_of
from stretto.sel import SelError
from stretto.sel.numbers import parse_integer

P = ParamType

ELEMENT: Final[Mapping[ParamType, ParamType]] = {array: scalar for scalar, array in ARRAY_OF.items()}
ANY_SIZE: Final[Mapping[ParamType, Callable[[str, str], Any]]] = {P.LONG: any_long, P.DOUBLE: any_double}
EXPECTED: Final[Mapping[ParamType, str]] = {
    P.STRING: "a text",
    P.LONG: "a whole number, such as 42",
    P.DOUBLE: "a number, such as 0.5",
    P.BOOLEAN: "true or false",
    P.STRING_ARRAY: 'texts with commas between, or JSON such as ["eu", "us"]',
    P.LONG_ARRAY: "whole numbers with commas between, such as 1,2,3",
    P.DOUBLE_ARRAY: "numbers with commas between, such as 0.5,1",
    P.BOOLEAN_ARRAY: "true and false with commas between",
    P.STRING_MAP: 'a JSON object of texts, such as {"region": "eu"}',
    P.MAP: 'a JSON object, such as {"rows": 42}',
}


def read_value(name: str, kind: ParamType, text: str) -> Any:
    """The value of a parameter of a type that a text spells. The error says what is expected."""
    try:
        value = _read(name, kind, text)
        to_json(value)  # halves of characters have no place in a database
    except (ParamError, SelError, ValueError, RecursionError):
        shown = (text if len(text) <= 60 else f"{text[:60]} ...").encode(errors="backslashreplace").decode()
        message = f"Param [{name}] is a {kind}: expected {EXPECTED[kind]}, and not `{shown}`"
        raise ParamError(Fault.WRONG_TYPE, name, message) from None
    return value


def as_literal(kind: ParamType, value: Any) -> ParamDefinition:
    """A value as a literal that is taken as it is: each `$` in it stays one."""
    return ParamDefinition(type=kind, value=_literal(kind, value))


# ------------------------------------------------------------------------------------------------- reading
def _read(name: str, kind: ParamType, text: str) -> Any:
    if kind in {P.MAP, P.STRING_MAP}:
        return _object(kind, text)
    return _array(name, ELEMENT[kind], text) if kind.is_array else _scalar(name, kind, text)


def _scalar(name: str, kind: ParamType, text: str) -> Any:
    if kind is P.STRING:
        return text
    return (
        ANY_SIZE[kind](name, text.strip()) if kind in ANY_SIZE else cast(name, text.strip(), P.STRING, kind)
    )


def _array(name: str, element: ParamType, text: str) -> tuple[Any, ...]:
    """JSON, or elements with commas between; nothing at all is an empty one."""
    if not text.lstrip().startswith("["):
        parts = text.split(",") if text.strip() else []
        return tuple(_scalar(name, element, part.strip()) for part in parts)
    found = _json(text)
    if any(type(each) not in SCALARS for each in found):
        raise ValueError
    return tuple(_as(name, element, each) for each in found)


def _as(name: str, wanted: ParamType, value: Any) -> Any:
    given = kind_of(value)
    if given is P.STRING:
        return _scalar(name, wanted, value)
    return value if given is wanted else cast(name, value, given, wanted)


def _object(kind: ParamType, text: str) -> dict[str, Any]:
    found = _json(text)
    fits = _is_text if kind is P.STRING_MAP else _is_value
    if not isinstance(found, dict) or not all(map(fits, found.values())):
        raise ValueError
    return found


def _json(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=parse_integer, parse_constant=_no_number)


def _no_number(_name: str) -> Any:
    raise ValueError  # NaN and infinity: JSON knows none


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_value(value: Any) -> bool:
    """Whether some type of parameter has such values: no null, and lists of one kind of scalar."""
    if isinstance(value, dict):
        return all(map(_is_value, value.values()))
    if isinstance(value, list):
        kinds = {SCALARS.get(type(each)) for each in value}
        return len(kinds) <= 1 and None not in kinds
    return type(value) in SCALARS


# ------------------------------------------------------------------------------------------------- writing
def _kept(text: str) -> str:
    return text.replace("$", "$$")


def _kept_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {_kept(key): _kept(text) for key, text in texts.items()}


def _members(members: Mapping[str, Any]) -> dict[str, ParamDefinition]:
    return {name: as_literal(kind_of(value), value) for name, value in members.items()}


_LITERALS: Final[Mapping[ParamType, Callable[[Any], Any]]] = {
    P.STRING: _kept,
    P.STRING_ARRAY: lambda texts: tuple(map(_kept, texts)),
    P.STRING_MAP: _kept_texts,
    P.MAP: _members,
    P.DOUBLE: decimal_of,
}


def _literal(kind: ParamType, value: Any) -> Any:
    convert = _LITERALS.get(kind, tuple if kind.is_array else None)
    return value if convert is None else convert(value)
