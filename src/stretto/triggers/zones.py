"""Time zones as Java writes them: names of the tz database, `UTC`, `Z`, and offsets such as `UTC+2`."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from stretto.model.suggest import did_you_mean
from stretto.triggers.errors import ZoneError

FURTHEST: Final = timedelta(hours=18)  # what Java allows

_UTC_NAMES: Final = frozenset({"", "Z", "UTC", "GMT", "UT"})
_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>[0-5]\d))?", re.ASCII
)


def parse_zone(text: str | None) -> tzinfo:
    """The zone a trigger names; UTC when it names none."""
    name = (text or "").strip()
    if name in _UTC_NAMES:
        return UTC
    if match := _OFFSET.fullmatch(name):
        return _fixed(name, match)
    if name not in _known_names():
        hint = did_you_mean(name, sorted(_known_names()))
        raise ZoneError(
            f"`{name}` is not a time zone", hint or "write a name such as Europe/Berlin, or UTC+2"
        )
    return ZoneInfo(name)


def _fixed(name: str, offset: re.Match[str]) -> tzinfo:
    ahead = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
    if ahead > FURTHEST:
        raise ZoneError(f"`{name}` is not a time zone", "an offset has at most 18 hours")
    return timezone(ahead if offset["sign"] == "+" else -ahead)


@cache
def _known_names() -> frozenset[str]:
    """The names that the `tzdata` package lists: the same on every machine, whatever its system offers."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())
