"""Time zones by name or fixed offset, from the `tzdata` package alone: the same rules on every machine."""

import re
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from stretto.sel.errors import Kind, SelError

# 400 years are a whole number of weeks, so the rules of a far year are those of the same year of the cycle.
CYCLE: Final = 146_097 * 86_400_000
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - local time: the zone is what we ask about
EARLIEST: Final = -62_135_510_400_000  # 0001-01-02: zoneinfo needs room for an offset
LATEST: Final = 253_370_764_800_000  # 9999-01-01
OFFSET: Final = re.compile(r"([+-])(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,]?(\d{3}))?)?)?", re.ASCII)
MAX_OFFSET: Final = 86_399_999

# Names that recent tz databases made links, and that are zones of their own to everybody who uses them.
OWN_NAME: Final = frozenset(
    ("EST", "MST", "HST", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "WET", "CET", "MET", "EET")
)


class Zone:
    """A time zone: how far local time is ahead of UTC, at an instant or at a local time."""

    __slots__ = ("_fixed", "_info", "id")

    def __init__(self, id_: str, info: ZoneInfo | None, fixed: int = 0) -> None:
        self.id = id_
        self._info = info
        self._fixed = fixed

    def __repr__(self) -> str:
        return f"Zone({self.id})"

    def offset_at(self, millis: int) -> int:
        """The offset in milliseconds at an instant."""
        if self._info is None:
            return self._fixed
        moment = EPOCH + timedelta(milliseconds=_in_range(millis))
        local = self._info.fromutc(moment.replace(tzinfo=self._info))
        return _millis(local.utcoffset())

    def offsets_around(self, local: int) -> tuple[int, int]:
        """The offsets that hold before and after a local time, which differ in a gap or an overlap.

        In a gap (clocks go forward) the first is the smaller one, in an overlap the larger one.
        """
        if self._info is None:
            return self._fixed, self._fixed
        moment = (EPOCH + timedelta(milliseconds=_in_range(local))).replace(tzinfo=self._info)
        return _millis(moment.utcoffset()), _millis(moment.replace(fold=1).utcoffset())

    def instant_of(self, local: int, keep: int | None = None) -> int:
        """The instant of a local time.

        Of two, the earlier, or the one with the offset to `keep`; of none, the time moved forward
        by the length of the gap.
        """
        before, after = self.offsets_around(local)
        return local - (after if keep == after and before > after else before)

    def is_gap(self, local: int) -> bool:
        """Whether clocks skip this local time."""
        before, after = self.offsets_around(local)
        return before < after

    def gap_end(self, local: int) -> int:
        """The first instant after the gap that swallows this local time."""
        before, after = self.offsets_around(local)
        low, high = local - after, local - before  # before and after the change
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.offset_at(middle) == after else (middle, high)
        return high

    def abbreviation(self, millis: int) -> str:
        """The short name that is in use at an instant, such as PST."""
        if self._info is None:
            return self.id
        moment = EPOCH + timedelta(milliseconds=_in_range(millis))
        return str(self._info.fromutc(moment.replace(tzinfo=self._info)).tzname())


def _in_range(millis: int) -> int:
    if millis > LATEST:
        return millis - ((millis - LATEST) // CYCLE + 1) * CYCLE
    return max(millis, EARLIEST)


def _millis(offset: timedelta | None) -> int:
    assert offset is not None  # noqa: S101 - only a fixed offset of None has none
    return (offset.days * 86_400 + offset.seconds) * 1_000


UTC: Final = Zone("UTC", None)


def offset_text(offset: int) -> str:
    """`+02:00`, with seconds and milliseconds only if there are any."""
    sign, rest = ("-", -offset) if offset < 0 else ("+", offset)
    minutes, millis = divmod(rest, 60_000)
    text = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    if millis:
        text += f":{millis // 1_000:02}"
    if millis % 1_000:
        text += f".{millis % 1_000:03}"
    return text


def parse_offset(text: str, position: int = 0) -> tuple[int, int] | None:
    """The offset in milliseconds at a position of a text, and where it ends."""
    match = OFFSET.match(text, position)
    if match is None:
        return None
    hours, minutes, seconds, millis = (int(part or 0) for part in match.groups()[1:])
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    offset = ((hours * 60 + minutes) * 60 + seconds) * 1_000 + millis
    return (-offset if match[1] == "-" else offset), match.end()


@cache
def zone_ids() -> frozenset[str]:
    """Every name in the tz database."""
    return frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())


@cache
def _canonical() -> dict[str, str]:
    """Old names and what they are called now: links that no country's list of zones mentions."""
    database = files("tzdata").joinpath("zoneinfo")
    listed = {
        line.split("\t")[2].strip()
        for line in database.joinpath("zone.tab").read_text("utf-8").splitlines()
        if not line.startswith("#")
    }
    links = (line.split(" ") for line in database.joinpath("tzdata.zi").read_text("utf-8").splitlines())
    return {
        words[2]: words[1]
        for words in links
        if words[0] == "L" and words[2] not in listed and words[2] not in OWN_NAME
    }


@lru_cache(maxsize=1024)
def zone(id_: str) -> Zone:
    """The zone with a name (case counts) or a fixed offset such as `+02:00`."""
    if id_ == "UTC":
        return UTC
    if id_[:1] in {"+", "-"}:
        parsed = parse_offset(id_)
        if parsed is not None and parsed[1] == len(id_):
            return fixed_zone(parsed[0])
    if id_ not in zone_ids():
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"There is no time zone {id_!r}")
    name = _canonical().get(id_, id_)
    with files("tzdata").joinpath("zoneinfo", *id_.split("/")).open("rb") as rules:
        return Zone(name, ZoneInfo.from_file(rules, key=id_))


def fixed_zone(offset: int) -> Zone:
    """The zone that is always this far ahead of UTC."""
    return Zone(offset_text(offset), None, offset) if offset else UTC
