"""Codecs of texts, numbers, flags and closed sets of words."""

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import Enum
from operator import attrgetter
from typing import Any, Final, NewType

from stretto.model.problem import Code, Place, problem_at
from stretto.model.suggest import did_you_mean
from stretto.model.wire.codec import Decode, Filled, Sink, noun, wrong_type
from stretto.model.words import Word

Whole = NewType("Whole", int)  # a whole number of any size; `int` has 64 bits
Real = NewType("Real", Decimal)  # a number, or one that JSON has no word for: NaN and the infinities

NAN: Final = Decimal("NaN")
"""The one that values hold: it equals nothing else, but records that hold the same object are equal."""

LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1
MOST_DIGITS: Final = 400  # of a number, before or behind the point; a double has at most 308 and 324


MOST_WHOLE_DIGITS: Final = 4_000  # of a whole number; Python reads and writes 4,300
MOST_WHOLE: Final = 10**MOST_WHOLE_DIGITS


def same(value: Any) -> Any:
    """Encoder of values that are JSON already."""
    return value


def _read_str(value: Any, at: Place, sink: Sink) -> str:
    if isinstance(value, str):
        return value
    sink.append(wrong_type(at, "text", value, _quote_hint(value)))
    return ""


def _quote_hint(value: Any) -> str | None:
    if isinstance(value, bool):
        return f'write "{str(value).lower()}" in quotes'
    return f'write "{value}" in quotes' if isinstance(value, int | Decimal) else None


def read_int(value: Any, at: Place, sink: Sink) -> int:
    """A whole number of 64 bits; `true` and `1.0` are not whole numbers."""
    if type(value) is int:
        if LONG_MIN <= value <= LONG_MAX:
            return value
        sink.append(problem_at(at, Code.OUT_OF_RANGE, "the whole number does not fit into 64 bits"))
    else:
        sink.append(wrong_type(at, "a whole number", value))
    return 0


def read_whole(value: Any, at: Place, sink: Sink) -> int:
    """A whole number of any size up to the limit."""
    if type(value) is not int:
        sink.append(wrong_type(at, "a whole number", value))
    elif -MOST_WHOLE < value < MOST_WHOLE:
        return value
    else:
        message = f"the whole number has more than {MOST_WHOLE_DIGITS:,} digits"
        sink.append(problem_at(at, Code.OUT_OF_RANGE, message))
    return 0


def _read_bool(value: Any, at: Place, sink: Sink) -> bool:
    if isinstance(value, bool):
        return value
    sink.append(wrong_type(at, "true or false", value))
    return False


def read_decimal(value: Any, at: Place, sink: Sink) -> Decimal:
    """A number, or text that is one, kept digit by digit."""
    number = _as_decimal(value)
    if number is None:
        sink.append(wrong_type(at, "a number", value))
    elif not number.is_finite():
        sink.append(problem_at(at, Code.OUT_OF_RANGE, "the number is not finite"))
    elif abs(number.adjusted()) > MOST_DIGITS:
        message = f"the number has more than {MOST_DIGITS} digits before or behind the point"
        sink.append(problem_at(at, Code.OUT_OF_RANGE, message))
    else:
        return number
    return Decimal(0)


def read_real(value: Any, at: Place, sink: Sink) -> Decimal:
    """A number, or the text `NaN`, `Infinity` or `-Infinity`."""
    number = _as_decimal(value)
    if number is not None and not number.is_finite():
        return decimal_of(number)
    return read_decimal(value, at, sink)


def decimal_of(value: float | str | Decimal) -> Decimal:
    """A number as parameters hold it: doubles keep their digits."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return NAN if number.is_nan() else number


def written(value: Any) -> Any:
    """A number as JSON has it: `NaN` and the infinities are texts."""
    is_real = isinstance(value, Decimal | float)
    return str(decimal_of(value)) if is_real and not _is_finite(value) else value


def written_deep(value: Any) -> Any:
    """Plain data as JSON has it."""
    if isinstance(value, dict):
        return {key: written_deep(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [written_deep(each) for each in value]
    return written(value)


def _is_finite(value: Decimal | float) -> bool:
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


def _as_decimal(value: Any) -> Decimal | None:
    if isinstance(value, Decimal):
        return value
    if type(value) is int:
        return Decimal(value)
    if isinstance(value, float) or (isinstance(value, str) and len(value) <= MOST_DIGITS):
        try:
            return Decimal(str(value))  # str() of a float is its shortest exact spelling
        except InvalidOperation:
            return None
    return None


SCALARS: Final[dict[Any, tuple[Decode, Callable[[], Any]]]] = {
    str: (_read_str, str),
    int: (read_int, int),
    bool: (_read_bool, bool),
    Decimal: (read_decimal, Decimal),
    Whole: (read_whole, int),
    Real: (read_real, Decimal),
    Any: (lambda value, _at, _sink: value, lambda: None),
}


def fill_scalar(codec: Filled, tp: Any) -> None:
    decode, blank = SCALARS[tp]
    codec.fill(decode, written if tp is Real else same, blank)


def fill_enum(codec: Filled, tp: type[Enum]) -> None:
    """Words of a closed set. Texts are looked up in a table first; `_missing_` finds other spellings."""
    known = {member.value: member for member in tp}
    first = next(iter(tp))

    def decode(value: Any, at: Place, sink: Sink) -> Enum:
        member = known.get(value) if isinstance(value, str) else None
        if member is not None:
            return member
        if not isinstance(value, str):
            sink.append(wrong_type(at, "text", value, f"one of {', '.join(known)}"))
            return first
        try:
            return tp(value)
        except ValueError:
            hint = did_you_mean(value, known) or f"one of {', '.join(known)}"
            sink.append(problem_at(at, Code.UNKNOWN_VALUE, f"`{value}` is not a {_noun(tp)}", hint))
            return first

    codec.fill(decode, attrgetter("_value_"), lambda: first)  # `value` of an enum is slow


def _noun(tp: type[Enum]) -> str:
    """`RunStrategyRule` -> `run strategy rule`, unless the class names its words otherwise."""
    if issubclass(tp, Word) and (name := tp.noun()):
        return name
    return "".join(f" {c.lower()}" if c.isupper() else c for c in tp.__name__).strip()


def fill_scalar_union(codec: Filled, members: tuple[Any, ...]) -> None:
    """A value of one of several scalar types, kept in the form it came in (`3` and `"3"` differ)."""
    codecs = {tp: SCALARS[tp][0] for tp in members}
    wanted = " or ".join(noun(SCALARS[tp][1]()) for tp in members)

    def decode(value: Any, at: Place, sink: Sink) -> Any:
        for tp in members:
            if type(value) is tp or (tp is not int and isinstance(value, tp)):
                return codecs[tp](value, at, sink)
        sink.append(wrong_type(at, wanted, value))
        return SCALARS[members[0]][1]()

    codec.fill(decode, same, SCALARS[members[0]][1])
