"""ISO 8601 texts, as `new DateTime('...')` reads them."""

import re
from fractions import Fraction
from typing import Final

from stretto.sel.dates import fields, zones
from stretto.sel.dates.bucket import Bucket
from stretto.sel.dates.datetime import DateTime
from stretto.sel.dates.fields import HOUR, MINUTE, SECOND
from stretto.sel.dates.formatter import malformed
from stretto.sel.dates.zones import Zone

# `2019`, `2019-01`, `2019-1-5`, the ordinal `2019-050`, the week `2019-W05-2`. The year takes 9 digits.
DATES: Final = (
    re.compile(r"(?P<year>[+-]?\d{1,9})-(?P<ordinal>\d{3})(?!\d)", re.ASCII),
    re.compile(r"(?P<weekyear>[+-]?\d{1,9})-W(?P<week>\d{1,2})(?:-(?P<weekday>\d))?", re.ASCII),
    re.compile(r"(?P<year>[+-]?\d{1,9})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?", re.ASCII),
)
TIME: Final = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2}))?)?(?:[.,](?P<fraction>\d{1,9})\d*)?",
    re.ASCII,
)
FIELDS: Final = {
    "year": fields.YEAR,
    "ordinal": fields.DAY_OF_YEAR,
    "weekyear": fields.WEEKYEAR,
    "week": fields.WEEK_OF_WEEKYEAR,
    "weekday": fields.DAY_OF_WEEK,
    "month": fields.MONTH_OF_YEAR,
    "day": fields.DAY_OF_MONTH,
    "hour": fields.HOUR_OF_DAY,
    "minute": fields.MINUTE_OF_HOUR,
    "second": fields.SECOND_OF_MINUTE,
}
UNITS: Final = {"second": SECOND, "minute": MINUTE, "hour": HOUR}  # a fraction is one of the smallest given


def parse_iso(text: str, zone: Zone) -> DateTime:
    """The moment of an ISO text; without an offset of its own it is local to `zone`."""
    bucket = Bucket(pivot_year=0)
    position = 0
    if not text.startswith("T"):
        position = _read_date(text, bucket)
    extra = 0
    if position < len(text):
        if text[position] != "T":
            raise malformed(text, position)
        position, extra = _read_time(text, position + 1, bucket)
    if position != len(text) or text == "T":
        raise malformed(text, position)
    moment = bucket.moment(zone).in_zone(zone)
    return moment.plus_millis(extra)


def _read_date(text: str, bucket: Bucket) -> int:
    for form in DATES:
        match = form.match(text)
        if match is not None:
            _save(match, bucket)
            return match.end()
    raise malformed(text, 0)


def _read_time(text: str, position: int, bucket: Bucket) -> tuple[int, int]:
    """The end of the time and its offset, and the milliseconds of a fraction beyond whole fields."""
    extra = 0
    match = TIME.match(text, position)
    if match is not None:
        _save(match, bucket)
        position = match.end()
        if match["fraction"]:
            unit = next(length for name, length in UNITS.items() if match[name])
            extra = int(Fraction(int(match["fraction"]), 10 ** len(match["fraction"])) * unit)
    if text[position : position + 1] in {"Z", "z"}:
        bucket.offset = 0
        return position + 1, extra
    parsed = zones.parse_offset(text, position)
    if parsed is not None:
        bucket.offset, position = parsed
    return position, extra


def _save(match: re.Match[str], bucket: Bucket) -> None:
    for name, digits in match.groupdict().items():
        if digits is not None and name in FIELDS:
            bucket.save(FIELDS[name], int(digits))


def local_millis(year: int, month: int, day: int, *time: int) -> int:
    """The local milliseconds of a date and its hour, minute, second and millisecond, each checked."""
    local = fields.YEAR.set(0, year)
    local = fields.MONTH_OF_YEAR.set(local, month)
    local = fields.DAY_OF_MONTH.set(local, day)
    for field, value in zip(
        (fields.HOUR_OF_DAY, fields.MINUTE_OF_HOUR, fields.SECOND_OF_MINUTE, fields.MILLIS_OF_SECOND),
        time,
        strict=True,
    ):
        local = field.set(local, value)
    return local
