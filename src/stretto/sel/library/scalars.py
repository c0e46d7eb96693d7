"""The methods of LONG, DOUBLE, UUID and of the classes Math and System."""

import operator
from collections.abc import Callable
from typing import Any, Final

from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library.arguments import double, long, text
from stretto.sel.numbers import (
    double_text,
    parse_double,
    parse_integer,
    parse_long,
    power,
    python_division,
    python_power,
    to_double,
    to_integer,
    to_long,
)
from stretto.sel.runtime.frame import Frame, Method, within
from stretto.sel.values import Unset, Uuid, Value, type_of


def read_long(frame: Frame, text: str) -> int:
    """The integer that a text spells: of 64 bits, or of any size where numbers are exact."""
    return parse_integer(text) if frame.environment.exact else parse_long(text)


def _whole(frame: Frame, receiver: Value) -> int:
    """The whole part of a DOUBLE. Java cuts it off at 64 bits."""
    return to_integer(receiver) if frame.environment.exact else to_long(receiver)


def long_value_of(frame: Frame, _: Value, value: Value) -> int:
    """`Long.valueOf(text or number)`."""
    if type(value) is str:
        return read_long(frame, value)
    if type(value) is int:
        return value
    raise SelError(Kind.UNSUPPORTED, f"LONG has no valueOf for {type_of(value)}")


def double_value_of(_: Frame, __: Value, value: Value) -> float:
    """`Double.valueOf(text or number)`."""
    if type(value) is str:
        return parse_double(value)
    if type(value) is float:
        return value
    raise SelError(Kind.UNSUPPORTED, f"DOUBLE has no valueOf for {type_of(value)}")


LONG: Final[dict[str, Method]] = {
    "toString/0": lambda _, receiver: str(receiver),
    "toString/1": lambda _, __, value: str(long(value)),
    "valueOf/1": long_value_of,
    "parseLong/1": lambda frame, _, value: read_long(frame, text(value)),
    "intValue/0": lambda _, receiver: receiver,
}
DOUBLE: Final[dict[str, Method]] = {
    "toString/0": lambda _, receiver: double_text(receiver),
    "toString/1": lambda _, __, value: double_text(double(value)),
    "valueOf/1": double_value_of,
    "parseDouble/1": lambda _, __, value: parse_double(text(value)),
    "intValue/0": _whole,
    "longValue/0": _whole,
}


def number(value: Value) -> float:
    """An argument that may be a LONG or a DOUBLE."""
    if type(value) in {int, float}:
        return to_double(value)
    raise class_cast("a number", type_of(value))


def _python(operation: Callable[..., Any], sign: str) -> Method:
    """An operator of Python, on numbers. Its integers do not wrap in any case."""

    def compute(frame: Frame, _: Value, left: Value, right: Value) -> Value:
        for each in (left, right):
            if type(each) not in {int, float}:
                raise class_cast("a number", type_of(each))
        return within(frame, operation(left, right), f"{{}} {sign} {{}}", left, right)

    return compute


def absolute(frame: Frame, _: Value, value: Value) -> Value:
    """`Math.absolute(number)`."""
    if type(value) not in {int, float}:
        raise class_cast("a number", type_of(value))
    return within(frame, abs(value), "abs({})", value)


MATH: Final[dict[str, Method]] = {
    "divide/2": _python(python_division(operator.truediv), "/"),
    "floorDiv/2": _python(python_division(operator.floordiv), "//"),
    "floorMod/2": _python(python_division(operator.mod), "%"),
    "power/2": _python(python_power, "**"),
    "absolute/1": absolute,
    "min/2": lambda _, __, left, right: min(long(left), long(right)),
    "max/2": lambda _, __, left, right: max(long(left), long(right)),
    "pow/2": lambda _, __, base, exponent: power(number(base), number(exponent)),
    "random/0": lambda frame, _: (frame.random_bits() >> 11) / 2**53,
}


def random_uuid(frame: Frame, _: Value) -> Uuid:
    """128 bits of the environment's stream."""
    digits = f"{frame.random_bits():016x}{frame.random_bits():016x}"
    return Uuid("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))


UUID: Final[dict[str, Method]] = {
    "randomUUID/0": random_uuid,
    "toString/0": lambda _, receiver: "null" if type(receiver) is Unset else receiver.text,
}
SYSTEM: Final[dict[str, Method]] = {
    "currentTimeMillis/0": lambda frame, _: frame.now(),
    "asList/1": lambda _, __, array: array,
}
SYSTEM_FIELDS: Final = {"SUNDAY": 7}
