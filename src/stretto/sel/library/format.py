"""`String.format`: Java's conversions, on SEL's values."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from math import copysign, isfinite, isnan
from typing import Final

from stretto.sel.errors import Kind, SelError
from stretto.sel.library.hashing import hash_of
from stretto.sel.numbers import INT_MAX, INT_MIN
from stretto.sel.runtime.frame import Frame
from stretto.sel.syntax.source import joined_surrogates
from stretto.sel.text import described, text_of
from stretto.sel.values import Value

SPECIFIER: Final = re.compile(
    r"%(?:(?P<index>[1-9]\d{0,8})\$|(?P<same><))?(?P<flags>[-#+ 0,(]*)(?P<width>[1-9]\d*)?"
    r"(?:\.(?P<precision>\d+))?(?P<letter>t?[a-zA-Z%])",
    re.ASCII,
)
EXACT: Final = Context(prec=1200, Emin=-2000, Emax=2000)  # a double has at most 309 digits before the point
LETTERS: Final = "bBhHsScCdoxXeEfgGn%"
VISITS_PER_CONVERSION: Final = 64
MAX_DIGITS: Final = 9  # of a width or precision


@dataclass(frozen=True, slots=True)
class Specifier:
    """One conversion of a pattern."""

    text: str
    flags: str
    width: int
    precision: int | None
    letter: str

    def error(self, why: str) -> SelError:
        """An error about this conversion."""
        return SelError(Kind.ILLEGAL_ARGUMENT, f"{self.text}: {why}")


def formatted(frame: Frame, pattern: str, arguments: list[Value]) -> str:
    """The pattern with its conversions replaced by the arguments."""
    pieces: list[str] = []
    position = ordinary = length = 0
    last = -1
    while position < len(pattern):
        if pattern[position] != "%":
            end = pattern.find("%", position)
            end = len(pattern) if end < 0 else end
            pieces.append(pattern[position:end])
        else:
            frame.spend(VISITS_PER_CONVERSION)
            specifier, match = _specifier(frame, pattern, position)
            end = match.end()
            if specifier.letter in {"n", "%"}:
                pieces.append(_fixed(specifier))
            else:
                if match["index"]:
                    last = int(match["index"]) - 1
                elif not match["same"]:
                    last, ordinary = ordinary, ordinary + 1
                if not 0 <= last < len(arguments):
                    raise specifier.error("there is no such argument")
                pieces.append(_converted(frame, specifier, arguments[last]))
        length += len(pieces[-1])
        frame.afford(length)
        position = end
    return joined_surrogates("".join(pieces))


def _specifier(frame: Frame, pattern: str, position: int) -> tuple[Specifier, re.Match[str]]:
    match = SPECIFIER.match(pattern, position)
    if match is None:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"{pattern[position : position + 10]!r} is not a conversion")
    width, precision = match["width"] or "0", match["precision"]
    specifier = Specifier(match.group(), match["flags"], 0, None, match["letter"])
    if specifier.letter not in LETTERS:
        raise specifier.error("there is no such conversion for these values")
    if max(len(width), len(precision or "")) > MAX_DIGITS or len(set(specifier.flags)) != len(
        specifier.flags
    ):
        raise specifier.error("its width, precision or flags make no sense")
    size = None if precision is None else int(precision)
    frame.afford(int(width) + (size or 0))
    return Specifier(match.group(), match["flags"], int(width), size, match["letter"]), match


def _fixed(specifier: Specifier) -> str:
    return "\n" if specifier.letter == "n" else _aligned(specifier, "%")


def _converted(frame: Frame, specifier: Specifier, value: Value) -> str:
    letter = specifier.letter
    kind = letter.lower()
    if kind in {"s", "b", "h"} or text_of(value, frame.pay_text) == "null":
        text = _general(frame, specifier, value)
    elif letter == "c":
        text = _character(specifier, value)
    elif kind in {"d", "o", "x"}:
        text = _integer(specifier, value)
    else:
        text = _real(specifier, value)
    return text.upper() if letter.isupper() else text


def _general(frame: Frame, specifier: Specifier, value: Value) -> str:
    if set(specifier.flags) - {"-"}:
        raise specifier.error("these flags are for numbers")
    shown = text_of(value, frame.pay_text)
    match specifier.letter.lower():
        case "b":
            text = shown if type(value) is bool else str(shown != "null").lower()
        case "h":
            text = shown if shown == "null" else f"{hash_of(value) & 0xFFFFFFFF:x}"
        case _:
            text = shown
    cut = specifier.precision if specifier.letter not in {"c", "C"} else None
    return _aligned(specifier, text[:cut])


def _character(specifier: Specifier, value: Value) -> str:
    if type(value) is not int or specifier.precision is not None:
        raise specifier.error(f"{described(value)} is not a character")
    if not 0 <= value <= 0x10FFFF:
        raise specifier.error(f"{value} is not a character")
    return _aligned(specifier, chr(value))


def _integer(specifier: Specifier, value: Value) -> str:
    if type(value) is not int:
        raise specifier.error(f"{described(value)} is not an integer")
    if specifier.precision is not None:
        raise specifier.error("an integer has no precision")
    base = specifier.letter.lower()
    if base == "d":
        digits = f"{abs(value):,}" if "," in specifier.flags else str(abs(value))
        return _signed(specifier, digits, negative=value < 0)
    if set(specifier.flags) & set(",+ ("):
        raise specifier.error("these flags are for decimal numbers")
    bits = 32 if INT_MIN <= value <= INT_MAX else 64
    prefix = {"o": "0", "x": "0x"}[base] if "#" in specifier.flags else ""
    return _padded(specifier, prefix, f"{value % 2**bits:{base}}")


def _real(specifier: Specifier, value: Value) -> str:
    if type(value) is not float:
        raise specifier.error(f"{described(value)} is not a DOUBLE")
    negative = copysign(1.0, value) < 0 and not isnan(value)
    if not isfinite(value):
        return _not_finite(specifier, value, negative=negative)
    exact = abs(Decimal(repr(value)))  # Java rounds the shortest digits, half up
    precision = 6 if specifier.precision is None else specifier.precision
    match specifier.letter.lower():
        case "f":
            text = _plain(specifier, exact, precision)
        case "e":
            text = _scientific(exact, precision)
        case _:
            text = _shortest(specifier, exact, precision or 1)
    return _signed(specifier, text, negative=negative)


def _not_finite(specifier: Specifier, value: float, *, negative: bool) -> str:
    if isnan(value):
        return _aligned(specifier, "NaN")
    if negative:
        return _aligned(specifier, "(Infinity)" if "(" in specifier.flags else "-Infinity")
    return _aligned(specifier, "+Infinity" if "+" in specifier.flags else "Infinity")


def _plain(specifier: Specifier, exact: Decimal, precision: int) -> str:
    shown = min(precision, 1000)  # a double has no more digits; the rest are zeros
    grouping = "," if "," in specifier.flags else ""
    return f"{_rounded(exact, shown):{grouping}f}" + "0" * (precision - shown)


def _rounded(exact: Decimal, digits: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, EXACT)


def _scientific(exact: Decimal, precision: int) -> str:
    shown = min(precision, 1000)
    magnitude = exact.adjusted() if exact else 0
    mantissa = _rounded(exact.scaleb(-magnitude, EXACT), shown)
    if mantissa >= 10:  # rounded up to the next power
        mantissa, magnitude = _rounded(mantissa.scaleb(-1, EXACT), shown), magnitude + 1
    return f"{mantissa:f}{'0' * (precision - shown)}e{'-' if magnitude < 0 else '+'}{abs(magnitude):02}"


def _shortest(specifier: Specifier, exact: Decimal, precision: int) -> str:
    """`%g`: plain from 10^-4 to 10^precision, else scientific; `precision` significant digits."""
    shown = min(precision, 1000)
    rounded = _rounded(exact, shown - 1 - exact.adjusted()) if exact else exact
    if not rounded:
        return _plain(specifier, rounded, precision - 1)
    if Decimal("0.0001") <= rounded < Decimal(1).scaleb(shown, EXACT):
        return _plain(specifier, rounded, max(precision - rounded.adjusted() - 1, 0))
    return _scientific(rounded, precision - 1)


def _signed(specifier: Specifier, digits: str, *, negative: bool) -> str:
    flags = specifier.flags
    if negative:
        return _padded(specifier, "(", digits, ")") if "(" in flags else _padded(specifier, "-", digits)
    return _padded(specifier, "+" if "+" in flags else " " if " " in flags else "", digits)


def _padded(specifier: Specifier, prefix: str, digits: str, suffix: str = "") -> str:
    if "0" in specifier.flags:
        if "-" in specifier.flags or not specifier.width:
            raise specifier.error("zeros need a width, and go to the left")
        digits = digits.rjust(specifier.width - len(prefix) - len(suffix), "0")
    return _aligned(specifier, prefix + digits + suffix)


def _aligned(specifier: Specifier, text: str) -> str:
    if "-" not in specifier.flags:
        return text.rjust(specifier.width)
    if not specifier.width:
        raise specifier.error("alignment needs a width")
    return text.ljust(specifier.width)
