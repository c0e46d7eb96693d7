"""Date arithmetic against `zoneinfo`: 100 zones, and every change of their clocks in ten years."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stretto.sel import SelError
from stretto.sel.dates import calendar, zones
from stretto.sel.dates.datetime import DateTime, from_local
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.iso import parse_iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = 3_600_000
DAY = 24 * HOUR
START, END = (
    int((datetime(year, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) * 1_000 for year in (2015, 2025)
)


def changing(name: str) -> bool:
    return len({zones.zone(name).offset_at(START + n * 30 * DAY) for n in range(122)}) > 1


@cache
def sample() -> list[str]:
    """A hundred zones: all that change their clocks come first."""
    names = [name for name in sorted(zones.zone_ids()) if "/" in name and not name.startswith("Etc/")]
    moving = [name for name in names if changing(name)]
    still = [name for name in names if name not in set(moving)]
    step = max(1, len(moving) // 80)
    return [*moving[::step][:80], *still[:: len(still) // 20]][:100]


def changes(name: str) -> list[int]:
    """The instants, to the second, at which the clocks of a zone change."""
    zone, found, last = ZoneInfo(name), list[int](), None
    for day in range(START, END, DAY):
        offset = (EPOCH + timedelta(milliseconds=day)).astimezone(zone).utcoffset()
        if last is not None and offset != last:
            low, high = day - DAY, day
            while high - low > 1_000:
                middle = (low + high) // 2_000 * 1_000
                same = (EPOCH + timedelta(milliseconds=middle)).astimezone(zone).utcoffset() == last
                low, high = (middle, high) if same else (low, middle)
            found.append(high)
        last = offset
    return found


def expected(millis: int, name: str) -> str:
    moment = (EPOCH + timedelta(milliseconds=millis)).astimezone(ZoneInfo(name))
    text = moment.isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


@pytest.mark.parametrize("name", sample())
def test_row_59_every_change_of_the_clocks(name: str) -> None:
    zone, python = zones.zone(name), ZoneInfo(name)
    for change in changes(name):
        for around in range(-3 * HOUR, 3 * HOUR + 1, HOUR // 2):
            moment = DateTime(change + around, zone)
            assert moment.text() == expected(change + around, name)
            assert moment.plus_millis(HOUR).text() == expected(change + around + HOUR, name)
            check_day_before(moment, python)
            check_wall_clock(moment.local, zone, python)


def check_day_before(moment: DateTime, python: ZoneInfo) -> None:
    """A day later keeps the wall clock; zoneinfo picks the same of two, and leaves a gap the same way."""
    start = moment.plus_days(-1)
    wall = datetime(1970, 1, 1) + timedelta(milliseconds=start.local + DAY)  # noqa: DTZ001
    there = wall.replace(tzinfo=python).astimezone(UTC)
    assert start.plus_days(1).millis == (there - EPOCH) // timedelta(milliseconds=1)


def check_wall_clock(local: int, zone: zones.Zone, python: ZoneInfo) -> None:
    """A local time that clocks skip is an error; any other is the earlier of its instants."""
    wall = (datetime(1970, 1, 1) + timedelta(milliseconds=local)).replace(tzinfo=python)  # noqa: DTZ001
    exists = wall.astimezone(UTC).astimezone(python).replace(tzinfo=None) == wall.replace(tzinfo=None)
    if not exists:
        with pytest.raises(SelError):
            from_local(local, zone)
    else:
        assert from_local(local, zone).millis == (wall.astimezone(UTC) - EPOCH) // timedelta(milliseconds=1)


# -------------------------------------------------------------------------------------------- any moment
instants = st.integers(-62_000_000_000_000, 253_000_000_000_000)
far = st.integers(-(2**62), 2**62)


@settings(deadline=None)
@given(instants)
def test_the_calendar_is_pythons(millis: int) -> None:
    moment = EPOCH + timedelta(milliseconds=millis)
    year, week, weekday = moment.isocalendar()
    days = millis // DAY
    assert calendar.date_of(days) == (moment.year, moment.month, moment.day)
    assert (calendar.weekyear_of(days), calendar.weekday_of(days)) == (year, weekday)
    assert (days - calendar.first_monday(year)) // 7 + 1 == week


@settings(deadline=None)
@given(st.integers(-(10**10), 10**10))
def test_days_and_dates_are_one_to_one(days: int) -> None:
    assert calendar.days_of(*calendar.date_of(days)) == days


@settings(deadline=None)
@given(far, st.sampled_from(["UTC", "Asia/Kolkata", "America/New_York", "+05:45"]))
def test_text_is_read_back(millis: int, name: str) -> None:
    moment = DateTime(millis, zones.zone(name))
    year = moment.text().split("-")[0] or moment.text()[1:].split("-")[0]
    if len(year) <= 9 and not moment.text().endswith(":58"):
        assert parse_iso(moment.text(), moment.zone).millis == millis


@settings(deadline=None)
@given(
    instants,
    st.sampled_from(["yyyy-MM-dd HH:mm:ss.SSS ZZ", "xxxx ww e k m s SSS Z", "D yyyy HH mm ss SSS ZZ"]),
)
def test_formatters_read_what_they_print(millis: int, pattern: str) -> None:
    formatter = Formatter.of(pattern)
    assert formatter.parse(formatter.print(DateTime(millis, zones.UTC)), pivot_year=2000).millis == millis


@settings(deadline=None)
@given(instants, st.integers(-5_000, 5_000))
def test_days_there_and_back(millis: int, days: int) -> None:
    moment = DateTime(millis, zones.UTC)
    assert moment.plus_days(days).plus_days(-days).millis == millis
    assert moment.plus_days(days).millis - millis == days * DAY


@settings(deadline=None)
@given(instants, st.integers(-2_000, 2_000))
def test_months_keep_the_day_or_take_the_last(millis: int, months: int) -> None:
    moment = DateTime(millis, zones.UTC)
    year, month, day = calendar.date_of(moment.local // DAY)
    later = calendar.date_of(moment.plus_months(months).local // DAY)
    assert later[0] * 12 + later[1] == year * 12 + month + months
    assert later[2] == min(day, calendar.month_length(*later[:2]))
