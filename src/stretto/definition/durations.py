"""Durations as Maestro writes them: whole seconds, or `1 day 2 hours 3min 4s 5ms` summed up."""

import re
from typing import Final

_PART: Final = re.compile(
    r"(?P<count>\d+) ?(?P<unit>days?|d|hours?|h|minutes?|min|milliseconds?|ms|seconds?|sec|s)",
    re.IGNORECASE,
)
_MILLIS: Final = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1_000, "ms": 1}
MOST_CHARACTERS: Final = 1_000


def _unit(text: str) -> str:
    text = text.lower()
    if text.startswith(("ms", "milli")):
        return "ms"
    return "min" if text.startswith("min") else text[0]


def duration_millis(text: str) -> int | None:
    """Milliseconds, or None if the text names no duration at all. A bare number is seconds."""
    text = text.strip()
    if len(text) > MOST_CHARACTERS:
        return None
    if text.isascii() and text.isdigit():
        return int(text) * 1_000
    parts = [int(part["count"]) * _MILLIS[_unit(part["unit"])] for part in _PART.finditer(text)]
    return sum(parts) if parts else None
