"""Tag permits: how many steps may hold a tag at once, and how many may start in a time."""

import re
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from stretto.model.timeline import Timeline
from stretto.model.wire.codec import Shape

MOST_STARTS: Final = 1_000  # of a rate
_UNITS: Final = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_RATE: Final = re.compile(rf"([0-9]{{1,4}})/({'|'.join(_UNITS)})")
RATE_HINT: Final = f"such as `10/minute`: 1 to {MOST_STARTS:,} starts per {', '.join(_UNITS)}"


class Rate(NamedTuple):
    """At most so many starts in any time of this length."""

    starts: int
    millis: int


def parse_rate(text: str) -> Rate | None:
    """`10/minute`; None: it is no rate."""
    found = _RATE.fullmatch(text.strip())
    if found is None or not 1 <= int(found[1]) <= MOST_STARTS:
        return None
    return Rate(int(found[1]), _UNITS[found[2]])


class TagPermitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Sets the limit of a tag, its rate, or both; unknown keys are kept with it."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    tag: str
    max_allowed: int | None = None
    rate: str | None = None
    extra: dict[str, Any] = {}


class TagPermit(msgspec.Struct, kw_only=True):
    """The limit of a tag, and who changed it when."""

    wire: ClassVar[Shape] = Shape(rest="extra")

    tag: str
    max_allowed: int | None = None
    rate: str | None = None
    timeline: Timeline | None = None
    extra: dict[str, Any] = {}
