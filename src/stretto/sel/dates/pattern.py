"""Patterns such as `yyyy-MM-dd`, compiled once into parts."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from stretto.sel.dates import fields, parts
from stretto.sel.dates.fields import Field
from stretto.sel.errors import Kind, SelError

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# A run of one letter; a quoted text, in which '' is a quote; or any other character, which stands for itself.
RUN: Final = re.compile(
    r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)(?:'|$)|(?P<other>[^A-Za-z'])", re.DOTALL
)

NUMBERS: Final[Mapping[str, tuple[Field, int]]] = {  # the field, and how many digits of it are read at most
    "w": (fields.WEEK_OF_WEEKYEAR, 2),
    "e": (fields.DAY_OF_WEEK, 1),
    "D": (fields.DAY_OF_YEAR, 3),
    "d": (fields.DAY_OF_MONTH, 2),
    "K": (fields.HOUR_OF_HALFDAY, 2),
    "h": (fields.CLOCKHOUR_OF_HALFDAY, 2),
    "H": (fields.HOUR_OF_DAY, 2),
    "k": (fields.CLOCKHOUR_OF_DAY, 2),
    "m": (fields.MINUTE_OF_HOUR, 2),
    "s": (fields.SECOND_OF_MINUTE, 2),
}
YEARS: Final[Mapping[str, Field]] = {"Y": fields.YEAR_OF_ERA, "y": fields.YEAR, "x": fields.WEEKYEAR}
NUMERIC: Final = frozenset((*NUMBERS, *YEARS, "C", "S"))
MAX_PATTERN: Final = 500


def words(field: Field, long: Sequence[str], first: int, *, short: int | None) -> parts.Word:
    """A field printed by name; `short` cuts the name, and both forms are read."""
    printed = {number: name[:short] for number, name in enumerate(long, first)}
    readable = {name[:cut].lower(): n for n, name in enumerate(long, first) for cut in (3, None)}
    return parts.Word(field, printed, readable)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> tuple[parts.Part, ...]:
    """The parts of a pattern; an error for a letter without meaning."""
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"A date pattern has 1 to {MAX_PATTERN} characters")
    runs = list(RUN.finditer(pattern))
    return tuple(
        part
        for run, following in zip(runs, [*runs[1:], None], strict=True)
        if (part := _part(run, numeric_follows=following is not None and _is_numeric(following))) is not None
    )


def _is_numeric(run: re.Match[str]) -> bool:
    letters = run["letters"] or ""
    return letters[:1] in NUMERIC or letters in {"M", "MM"}


def _part(run: re.Match[str], *, numeric_follows: bool) -> parts.Part | None:
    letters = run["letters"]
    if letters is None:
        text = run["other"] if run["other"] is not None else run["quoted"].replace("''", "'") or "'"
        return parts.Text(text)
    letter, width = letters[0], len(letters)
    if letter in NUMBERS:
        field, most = NUMBERS[letter]
        return parts.Number(field, width, most)
    if letter in YEARS:
        return _year(YEARS[letter], width, signed=letter != "Y", numeric_follows=numeric_follows)
    if letter == "M" and width < 3:
        return parts.Number(fields.MONTH_OF_YEAR, width, 2)
    if letter == "C":
        return parts.Number(fields.CENTURY_OF_ERA, width, width)
    return parts.Fraction(width) if letter == "S" else _name(letter, width)


def _name(letter: str, width: int) -> parts.Part:
    short = 3 if width < 4 else None
    match letter:
        case "G":
            return words(fields.ERA, ["BC", "AD"], 0, short=None)
        case "M":
            return words(fields.MONTH_OF_YEAR, MONTHS, 1, short=short)
        case "E":
            return words(fields.DAY_OF_WEEK, WEEKDAYS, 1, short=short)
        case "a":
            return words(fields.HALFDAY_OF_DAY, ["AM", "PM"], 0, short=None)
        case "z":
            return parts.ZoneName()
        case "Z":
            return parts.ZoneId() if width > 2 else parts.Offset(colon=width == 2)
        case _:
            pass
    raise SelError(Kind.ILLEGAL_ARGUMENT, f"{letter * width!r} means nothing in a date pattern")


def _year(field: Field, width: int, *, signed: bool, numeric_follows: bool) -> parts.Part:
    if width == 2:
        return parts.TwoDigitYear(field, lenient=not numeric_follows)
    return parts.Number(field, width, width if numeric_follows else 9, signed)
