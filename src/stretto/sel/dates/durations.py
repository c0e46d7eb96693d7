"""Durations in English words: `1 day, 2 hours and 30 minutes`."""

import re
from typing import Final

from stretto.sel.dates.fields import DAY, HOUR, MINUTE, SECOND
from stretto.sel.errors import Kind, SelError

UNITS: Final = {  # from the largest to the smallest, the order in which a text must have them
    "year": None,
    "month": None,
    "week": 7 * DAY,
    "day": DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
    "millisecond": 1,
}
ORDER: Final = list(UNITS)
AMOUNT: Final = re.compile(rf"([+-]?\d{{1,18}}) ({'|'.join(ORDER)})s?(?![a-z])", re.IGNORECASE | re.ASCII)
SEPARATOR: Final = re.compile(r", and | and |, |,| ", re.IGNORECASE)


def parse_duration(text: str) -> int:
    """The milliseconds a text means. Years and months have no fixed length and are refused."""
    total, position, last = 0, 0, -1
    while position < len(text):
        separator = SEPARATOR.match(text, position) if position else None
        start = separator.end() if separator else position
        match = AMOUNT.match(text, start)
        unit = match[2].lower() if match else ""
        if match is None or ORDER.index(unit) <= last or (position and separator is None):
            raise SelError(
                Kind.ILLEGAL_ARGUMENT, f"{text!r} is not a duration such as '2 hours and 30 minutes'"
            )
        length = UNITS[unit]
        if length is None and int(match[1]):
            raise SelError(Kind.UNSUPPORTED, f"A duration can not be in {unit}s: they vary in length")
        total += int(match[1]) * (length or 0)
        position, last = match.end(), ORDER.index(unit)
    return total
