"""Unary and binary operators. Integers take the fast way; everything else is decided by the left type."""

from collections.abc import Callable
from typing import Final

from stretto.sel.errors import Kind, SelError, class_cast, mismatch
from stretto.sel.numbers import (
    LONG_MAX,
    LONG_MIN,
    quotient,
    real_quotient,
    real_remainder,
    remainder,
    to_double,
    wrapped,
)
from stretto.sel.runtime.frame import Frame, within
from stretto.sel.syntax.source import concatenation
from stretto.sel.text import text_of
from stretto.sel.values import Preset, Type, Uuid, Value, is_null, type_of

Binary = Callable[[Frame, Value, Value], Value]

COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}
ON_LONGS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": quotient,
    "%": remainder,
}
ON_DOUBLES: Final[dict[str, Callable[[float, float], Value]]] = {
    **COMPARISONS,
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": real_quotient,
    "%": real_remainder,
}
EQUALITIES: Final = frozenset({"==", "!="})
NUMBERS: Final = frozenset({Type.LONG, Type.DOUBLE})


def unsupported(operator: str, value: Value) -> SelError:
    """The error of an operator that a type does not have."""
    return SelError(Kind.UNSUPPORTED, f"{type_of(value)} has no operator {operator}")


# -------------------------------------------------------------------------------------------- the way in
def binary(operator: str) -> Binary:
    """The function of an operator other than `&&` and `||`."""
    compare = COMPARISONS.get(operator)
    if compare is None:
        return _arithmetic(operator)

    def apply(frame: Frame, left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return compare(left, right)
        return BY_LEFT.get(type_of(left), _other)(frame, operator, left, right)

    return apply


def _arithmetic(operator: str) -> Binary:
    compute, what = ON_LONGS[operator], f"{{}} {operator} {{}}"

    def apply(frame: Frame, left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            result = compute(left, right)
            if LONG_MIN <= result <= LONG_MAX:
                return result
            return fitted(frame, result, what, left, right)
        return BY_LEFT.get(type_of(left), _other)(frame, operator, left, right)

    return apply


def fitted(frame: Frame, result: int, what: str, *numbers: int) -> int:
    """The result of an operation on integers; `what` shows the operation, with the numbers. A result that
    needs more than 64 bits wraps. Where numbers are exact it does not, but it can have too many digits.
    """
    if LONG_MIN <= result <= LONG_MAX:
        return result
    return int(within(frame, result, what, *numbers)) if frame.environment.exact else wrapped(result)


def concatenated(frame: Frame, left: Value, right: Value) -> str:
    """The texts of two values, one after the other; paid for before it is made."""
    before, after = payload_text(frame, left), payload_text(frame, right)
    length = len(before) + len(after)
    frame.pay_text(length)
    frame.check_string(length)
    frame.scan(length)
    return concatenation(before, after)


def refuse_null(frame: Frame, operator: str, left: Value, right: Value) -> None:
    """Where a missing value is None, as in Python, nothing is computed with it, and it has no order."""
    if frame.environment.exact and (is_null(left) or is_null(right)):
        raise SelError(Kind.UNSUPPORTED, f"a value is missing in `{_side(left)} {operator} {_side(right)}`")


def _side(value: Value) -> str:
    if is_null(value):
        return "null"
    return str(value) if type(value) in {int, float} else str(type_of(value))


def payload_text(frame: Frame, value: Value) -> str:
    """A value's text inside a concatenation. Classes such as `Math`, and UUIDs, have none."""
    if type(value) in {Preset, Uuid}:
        raise SelError(Kind.UNSUPPORTED, f"{type_of(value)} can not become part of a string")
    return text_of(value, frame.pay_text)


def equality(operator: str, equal: bool) -> bool:
    """The answer of `==` or `!=`."""
    return equal if operator == "==" else not equal


# -------------------------------------------------------------------------------------- by the left type
def _number(frame: Frame, operator: str, left: Value, right: Value) -> Value:
    kind, other = type_of(left), type_of(right)
    if other in NUMBERS and operator in COMPARISONS and frame.environment.exact:
        return COMPARISONS[operator](left, right)
    if other in NUMBERS and operator in ON_DOUBLES:
        return ON_DOUBLES[operator](to_double(left), to_double(right))
    if operator not in EQUALITIES:
        refuse_null(frame, operator, left, right)
    if other is Type.STRING and operator == "+":
        return concatenated(frame, left, right)
    if other is Type.STRING and operator not in {"==", "!="}:
        raise unsupported(operator, right)
    if right is None and operator in {"==", "!="}:
        return operator == "!="
    if right is None and kind is Type.DOUBLE:
        raise SelError(Kind.UNSUPPORTED, f"DOUBLE has no operator {operator} with null on the right")
    if kind is Type.DOUBLE and other is not Type.STRING:
        raise class_cast("a number", other)
    raise mismatch(kind, other)


def _string(frame: Frame, operator: str, left: Value, right: Value) -> Value:
    if operator not in EQUALITIES:
        refuse_null(frame, operator, left, right)
    if operator == "+":
        return concatenated(frame, left, right)
    if operator not in {"==", "!="}:
        raise unsupported(operator, left)
    if right is not None and type_of(right) is not Type.STRING:
        raise mismatch(Type.STRING, type_of(right))
    if is_null(left) or is_null(right):
        return equality(operator, is_null(left) and is_null(right))
    frame.scan(len(left))
    return equality(operator, left == right)


def _boolean(_: Frame, operator: str, left: Value, right: Value) -> Value:
    if right is None and operator in {"==", "!="}:
        return operator == "!="
    if type(right) is not bool:
        raise mismatch(Type.BOOLEAN, type_of(right))
    if operator not in {"==", "!="}:
        raise unsupported(operator, left)
    return equality(operator, left is right)


def _null(frame: Frame, operator: str, left: Value, right: Value) -> Value:
    if operator not in EQUALITIES:
        refuse_null(frame, operator, left, right)
    match operator:
        case "==" | "!=":
            if type(right) is Preset:
                raise unsupported(operator, right)
            return equality(operator, is_null(right))
        case "<" | ">":
            return False
        case "+":
            return concatenated(frame, left, right)
        case _:
            pass
    raise unsupported(operator, left)


def _other(_: Frame, operator: str, left: Value, right: Value) -> Value:
    """Maps, arrays, dates: they can be compared with null, on either side, and nothing else."""
    if right is None and operator in {"==", "!="} and type(left) not in {Preset, Uuid}:
        return equality(operator, is_null(left))
    raise unsupported(operator, left)


BY_LEFT: Final[dict[Type, Callable[[Frame, str, Value, Value], Value]]] = {
    Type.LONG: _number,
    Type.DOUBLE: _number,
    Type.STRING: _string,
    Type.BOOLEAN: _boolean,
    Type.NULL: _null,
}


# ------------------------------------------------------------------------------------------------- logic
def no_condition(value: Value) -> SelError:
    """The error of a condition that is no BOOLEAN."""
    return class_cast("A condition of type BOOLEAN", type_of(value))


def not_logical(operator: str, left: Value, right: Value) -> SelError:
    """The error of `&&` or `||` between values of which at least one is no BOOLEAN."""
    kind = type_of(left)
    if kind is Type.BOOLEAN or (kind is Type.LONG and type_of(right) not in NUMBERS):
        return mismatch(kind, type_of(right))
    if kind is Type.DOUBLE and type_of(right) is Type.BOOLEAN:
        return class_cast("a number", Type.BOOLEAN)
    return unsupported(operator, left)


# ------------------------------------------------------------------------------------------------- unary
def negative(frame: Frame, value: Value) -> Value:
    """`-value`."""
    if type(value) is int:
        return fitted(frame, -value, "-({})", value)
    if type(value) is float:
        return -value
    raise unsupported("-", value)


def positive(_: Frame, value: Value) -> Value:
    """`+value`."""
    if type(value) in {int, float}:
        return value
    raise unsupported("+", value)


def inverse(_: Frame, value: Value) -> bool:
    """`!value`."""
    if type(value) is bool:
        return not value
    raise unsupported("!", value)


UNARY: Final[dict[str, Callable[[Frame, Value], Value]]] = {"-": negative, "+": positive, "!": inverse}


# -------------------------------------------------------------------------------------------- assignment
ASSIGNABLE: Final = frozenset(Type) - {
    Type.UUID,
    Type.MATH,
    Type.PRESET_PARAMS,
    Type.PRESET_UTIL_FUNCTION,
    Type.PRESET_JSON_FUNCTION,
    Type.PRESET_MISC_FUNC_FIELDS,
    Type.NULL,
    Type.VOID,
    Type.ERROR,
}


def assigned(frame: Frame, operator: str, old: Value, new: Value) -> Value:
    """What a variable or element of value `old` holds after `operator` with `new`."""
    kind = type_of(old)
    if operator == "=":
        if kind not in ASSIGNABLE:
            raise unsupported(operator, old)
        if kind is not type_of(new):
            raise mismatch(kind, type_of(new))
        return frame.kept(new)
    if kind is Type.STRING and operator == "+=":
        refuse_null(frame, operator, old, new)
        return _appended(frame, old, new)
    if kind not in NUMBERS:
        raise unsupported(operator, old)
    if kind is not type_of(new):
        raise mismatch(kind, type_of(new))
    operation = operator[0]
    if kind is Type.DOUBLE:
        return ON_DOUBLES[operation](old, new)
    return fitted(frame, ON_LONGS[operation](old, new), f"{{}} {operation} {{}}", old, new)


def _appended(frame: Frame, old: Value, new: Value) -> str:
    before, after = payload_text(frame, old), payload_text(frame, new)
    frame.append(len(after))
    frame.scan(len(before) + len(after))
    return concatenation(before, after)
