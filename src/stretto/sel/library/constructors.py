"""`new`: constructors, arrays, and the values that declarations begin with."""

from typing import Final

from stretto.sel.dates.datetime import DateTime, from_local
from stretto.sel.dates.iso import local_millis, parse_iso
from stretto.sel.dates.zones import UTC, Zone
from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library.arguments import instance, integer
from stretto.sel.library.scalars import read_long
from stretto.sel.numbers import parse_double
from stretto.sel.runtime.frame import Frame
from stretto.sel.syntax.source import utf16_length
from stretto.sel.text import described
from stretto.sel.values import ARRAYS, CLASSES, DEFAULTS, Array, Type, Value, is_null, type_of


def class_named(name: str) -> Type:
    """The type a class name means; UNSUPPORTED if SEL has no such class."""
    kind = CLASSES.get(name)
    if kind is None:
        raise SelError(Kind.UNSUPPORTED, f"There is no class {name}")
    return kind


def declared_default(name: str, *, is_array: bool) -> Value:
    """What a variable of a type holds before it is assigned."""
    kind = class_named(name)
    if not is_array:
        return DEFAULTS[kind]
    if kind not in ARRAYS:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"There are no arrays of {kind}")
    return ARRAYS[kind]()


def array_class(name: str) -> type[Array]:
    """The array type of `new name[...]`."""
    kind = class_named(name)
    if kind not in ARRAYS:
        raise SelError(Kind.UNSUPPORTED, f"There are no arrays of {kind}")
    return ARRAYS[kind]


def check_length(frame: Frame, length: Value) -> None:
    """Refuse an array that is no size, or too large."""
    if type(length) is not int:
        raise class_cast("a LONG as the size", type_of(length))
    if length < 0:
        raise SelError(Kind.NEGATIVE_ARRAY_SIZE, f"An array can not have the size {length}")
    limit = frame.limits.array
    if length >= limit:
        raise SelError(
            Kind.ILLEGAL_ARGUMENT, f"An array of {length} is over the limit of {limit}", limit="array"
        )


def _refused(kind: Type, arguments: list[Value]) -> SelError:
    shown = ", ".join(map(described, arguments))
    return SelError(Kind.ILLEGAL_ARGUMENT, f"A {kind} can not be made of ({shown})")


def _string(frame: Frame, arguments: list[Value]) -> str:
    match arguments:
        case []:
            return ""
        case [str() | int() as value] if type(value) is not bool:
            text = str(value)
            frame.pay_text(utf16_length(text))
            return text
        case _:
            pass
    raise _refused(Type.STRING, arguments)


def _long(frame: Frame, arguments: list[Value]) -> int:
    match arguments:
        case [str() as text]:
            return read_long(frame, text)
        case [int() as value] if type(value) is not bool:
            return value
        case _:
            pass
    raise _refused(Type.LONG, arguments)


def _double(_: Frame, arguments: list[Value]) -> float:
    match arguments:
        case [str() as text]:
            return parse_double(text)
        case [float() as value]:
            return value
        case _:
            pass
    raise _refused(Type.DOUBLE, arguments)


def _boolean(_: Frame, arguments: list[Value]) -> bool:
    match arguments:
        case [str() as text]:
            return text.lower() == "true"
        case [bool() as value]:
            return value
        case _:
            pass
    raise _refused(Type.BOOLEAN, arguments)


def _map(_: Frame, arguments: list[Value]) -> dict[str, Value]:
    if arguments:
        raise _refused(Type.MAP, arguments)
    return {}


def _moment(frame: Frame, arguments: list[Value]) -> DateTime:
    match arguments:
        case []:
            return DateTime(frame.now(), UTC)
        case [source]:
            return _converted(frame, source, UTC)
        case [source, zone]:
            return _converted(frame, source, instance(zone, Zone))
        case [*numbers, zone] if len(numbers) == 7:
            year, month, day, *time = map(integer, numbers)
            return from_local(local_millis(year, month, day, *time), instance(zone, Zone))
        case _:
            pass
    raise _refused(Type.DATETIME, arguments)


def _converted(frame: Frame, source: Value, zone: Zone) -> DateTime:
    if type(source) is int:
        return DateTime(source, zone)
    if type(source) is str:
        return parse_iso(source, zone)
    if type(source) is DateTime:
        return source.in_zone(zone)
    if is_null(source):
        return DateTime(frame.now(), zone)
    raise _refused(Type.DATETIME, [source])


CONSTRUCTORS: Final = {
    Type.STRING: _string,
    Type.LONG: _long,
    Type.DOUBLE: _double,
    Type.BOOLEAN: _boolean,
    Type.MAP: _map,
    Type.DATETIME: _moment,
}


def construct(frame: Frame, name: str, arguments: list[Value]) -> Value:
    """`new name(arguments)`."""
    kind = class_named(name)
    if kind not in CONSTRUCTORS:
        raise SelError(Kind.UNSUPPORTED, f"{kind} has no constructor")
    return CONSTRUCTORS[kind](frame, arguments)
