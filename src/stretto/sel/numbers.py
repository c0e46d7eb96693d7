"""Numbers as Java has them: 64-bit integers that wrap, and the texts of doubles.

Where numbers are exact they are those of Python: integers of any size up to a limit, and its division.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from stretto.sel.errors import Kind, SelError

LONG_MIN: Final = -(2**63)
LONG_MAX: Final = 2**63 - 1
MOST_DIGITS: Final = 4_000  # of an integer where numbers are exact; Python itself reads and writes 4,300
MOST: Final = 10**MOST_DIGITS  # the first integer that is too large there
INT_MIN: Final = -(2**31)
INT_MAX: Final = 2**31 - 1
WHOLE: Final = re.compile(r"[+-]?0*([0-9]{1,19})")
ANY_WHOLE: Final = re.compile(rf"[+-]?0*([0-9]{{1,{MOST_DIGITS}}})")
REAL: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?[fFdD]?)")
HEX_REAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]{1,9})[fFdD]?"
)
MOST_SHOWN: Final = 40  # characters of a number in an error message
BLANKS: Final = "".join(map(chr, range(0x21)))


def wrapped(value: int) -> int:
    """The lowest 64 bits, with their sign."""
    return value if LONG_MIN <= value <= LONG_MAX else (value - LONG_MIN) % 2**64 + LONG_MIN


def quotient(left: int, right: int) -> int:
    """Division that truncates toward zero. One result needs more than 64 bits."""
    if right == 0:
        raise SelError(Kind.ARITHMETIC, "An integer can not be divided by zero")
    result = abs(left) // abs(right)
    return result if (left < 0) == (right < 0) else -result


def remainder(left: int, right: int) -> int:
    """What division leaves, with the sign of the dividend."""
    if right == 0:
        raise SelError(Kind.ARITHMETIC, "An integer can not be divided by zero")
    result = abs(left) % abs(right)
    return -result if left < 0 else result


def real_quotient(left: float, right: float) -> float:
    """Division without exceptions: zero gives an infinity or no number."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def real_remainder(left: float, right: float) -> float:
    """The remainder of C's fmod, without exceptions."""
    if right == 0 or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


def power(base: float, exponent: float) -> float:
    """A power without exceptions."""
    try:
        if exponent != 0 and (math.isnan(base) or (abs(base) == 1 and math.isinf(exponent))):
            return math.nan  # unlike C, where one to any power is one
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:  # zero to a negative power, or the root of a negative number
        if base != 0:
            return math.nan
        return -math.inf if math.copysign(1.0, base) < 0 and exponent % 2 == 1 else math.inf


def python_division(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`/`, `//` or `%` of two numbers as Python computes it. Division by zero is an error, and so is a result
    that a DOUBLE can not hold.
    """

    def divide(left: float, right: float) -> float:
        if right == 0:
            raise SelError(Kind.ARITHMETIC, "A number can not be divided by zero")
        try:
            result: float = operation(left, right)
        except OverflowError:
            raise _too_large() from None
        return result

    return divide


def python_power(base: float, exponent: float) -> float:
    """`base ** exponent` as Python computes it. Integers that are far too large are not worked out."""
    if type(base) is int and type(exponent) is int and (base.bit_length() - 1) * exponent > MOST.bit_length():
        return MOST if base > 0 or exponent % 2 == 0 else -MOST
    try:
        result: float | complex = base**exponent
    except (ArithmeticError, ValueError) as error:
        what = f"{short_text(base)} ** {short_text(exponent)}"
        raise SelError(Kind.ARITHMETIC, f"{what} can not be computed: {error}") from None
    if isinstance(result, complex):
        raise SelError(Kind.ARITHMETIC, f"{base} ** {exponent} is not a real number")
    return result


def short_text(value: object) -> str:
    """A number in an error message: not all of its digits."""
    text = str(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN // 2]}... ({len(text):,} characters)"


def to_double(value: float) -> float:
    """A number as a DOUBLE. An integer that none can hold is an error."""
    try:
        return float(value)
    except OverflowError:
        raise _too_large() from None


def _too_large() -> SelError:
    return SelError(Kind.ARITHMETIC, "An integer is too large for a DOUBLE, which is needed here")


def to_integer(value: float) -> int:
    """The whole part, whatever its size; an error if there is none."""
    if math.isfinite(value):
        return int(value)
    raise SelError(Kind.ARITHMETIC, f"{double_text(value)} has no whole part")


def to_long(value: float) -> int:
    """The whole part, within 64 bits; no number is 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return LONG_MAX if value > 0 else LONG_MIN
    return max(LONG_MIN, min(LONG_MAX, int(value)))


def double_text(value: float) -> str:
    """The shortest digits that give the same double, in Java's notation: 1.0, 1.0E10, NaN."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    magnitude = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{magnitude}"


def parse_long(text: str) -> int:
    """A decimal 64-bit integer with an optional sign, and nothing else."""
    match = WHOLE.fullmatch(text)
    if match is not None:
        value = -int(match[1]) if text.startswith("-") else int(match[1])
        if LONG_MIN <= value <= LONG_MAX:
            return value
    raise not_a_number(text)


def parse_integer(text: str) -> int:
    """A decimal integer of any size up to the limit, with an optional sign, and nothing else."""
    if ANY_WHOLE.fullmatch(text) is None:
        raise not_a_number(text)
    return int(text)


def parse_double(text: str) -> float:
    """A double as Java reads it: blanks around, exponents, suffixes, NaN, Infinity, hexadecimal."""
    stripped = text.strip(BLANKS)
    if REAL.fullmatch(stripped):
        return float(stripped.rstrip("fFdD") if stripped[-1] in "fFdD" else stripped)
    match = HEX_REAL.fullmatch(stripped)
    if match is None:
        raise not_a_number(text)
    try:
        return float.fromhex(match[1])
    except OverflowError:
        return -math.inf if stripped.startswith("-") else math.inf


def not_a_number(text: str) -> SelError:
    """The error of a text that should be a number."""
    return SelError(Kind.NUMBER_FORMAT, f"{text[:100]!r} is not a number")
