"""Checks on the arguments of methods."""

from typing import TypeVar

from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.numbers import INT_MAX, INT_MIN
from stretto.sel.text import described
from stretto.sel.values import Type, Unset, Value, type_of

T = TypeVar("T")


def text(value: Value) -> str:
    """An argument that must be a STRING."""
    if type(value) is str:
        return value
    if value is None or (type(value) is Unset and value.type is Type.STRING):
        raise SelError(Kind.NULL_POINTER, "A string was expected, this is null")
    raise class_cast("a STRING", type_of(value))


def long(value: Value) -> int:
    """An argument that must be a LONG."""
    if type(value) is int:
        return value
    raise class_cast("a LONG", type_of(value))


def integer(value: Value) -> int:
    """An argument that must be a LONG of 32 bits."""
    number = long(value)
    if INT_MIN <= number <= INT_MAX:
        return number
    raise SelError(Kind.CLASS_CAST, f"{number} does not fit into 32 bits")


def double(value: Value) -> float:
    """An argument that must be a DOUBLE."""
    if type(value) is float:
        return value
    raise class_cast("a DOUBLE", type_of(value))


def instance(value: Value, kind: type[T]) -> T:
    """An argument that must be of a class of dates, and not unset."""
    if type(value) is kind:
        return value
    raise class_cast(kind.__name__, type_of(value))


def digits(value: Value) -> str:
    """An argument that may be a STRING or a LONG, as text."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    raise SelError(Kind.ILLEGAL_ARGUMENT, f"A STRING or a LONG was expected, this is {described(value)}")
