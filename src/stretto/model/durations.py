"""Durations as settings and requests write them: numbers with units that are summed up, or milliseconds."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
DURATIONS: Final[Mapping[str, int]] = {"ms": 1, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
DURATION_HINT: Final = 'write milliseconds, or a number with a unit: "250ms", "2s", "15m", "24h", "7d"'

_LONGEST_TEXT: Final = 50
_WHOLE: Final = re.compile(r"[0-9]{1,18}")
_PARTS: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]+)? ?[a-z]+ ?)+", re.IGNORECASE)
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+)", re.IGNORECASE)


class NoDuration(ValueError):
    """A text that is none: what is wrong with it, to be read behind the text, and the way out."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def millis_in(text: str) -> int:
    """The milliseconds that a text names: `250ms`, `1h 30m`, `2000`."""
    if _WHOLE.fullmatch(text):
        return int(text)
    if len(text) > _LONGEST_TEXT or not _PARTS.fullmatch(text):
        raise NoDuration("is not a duration", DURATION_HINT)
    total = Decimal(0)
    for number, unit in _PART.findall(text):
        if unit not in DURATIONS:
            reason = f"has the unit `{unit}`, which is none of {', '.join(DURATIONS)}"
            raise NoDuration(reason, _meant(number, unit))
        total += Decimal(number) * DURATIONS[unit]
    if total % 1:
        raise NoDuration("is not a whole number of milliseconds")
    return int(total)


def _meant(number: str, unit: str) -> str:
    """`15min` and `15 Minutes` are meant as 15m."""
    unit = unit.lower()
    meant = "ms" if unit.startswith(("ms", "mil")) else unit[0]
    return f"did you mean `{number}{meant}`?" if meant in DURATIONS else DURATION_HINT


def duration_text(millis: int) -> str:
    """In the largest unit that leaves nothing over: `90s`, but `2h`."""
    unit = next(unit for unit in ("d", "h", "m", "s", "ms") if millis % DURATIONS[unit] == 0)
    return f"{millis // DURATIONS[unit]}{unit}" if millis else "0s"
