"""When a cron fires, with the nights in which the clock is changed."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from stretto.triggers import fires, next_fire, next_gap, next_two_apart, parse_cron, parse_zone


def walls(cron: str, zone: str, after: str, count: int) -> list[str]:
    """The next fires as the wall clock of the zone shows them, with the offset."""
    tz = parse_zone(zone)
    start = datetime.fromisoformat(after).replace(tzinfo=tz)
    found = islice(fires(parse_cron(cron), start, tz), count)
    return [fire.astimezone(tz).isoformat() for fire in found]


def test_the_next_fire_is_later_than_the_moment_given() -> None:
    noon = datetime(2025, 1, 1, 12, tzinfo=UTC)
    cron = parse_cron("0 12 * * *")
    assert next_fire(cron, noon - timedelta(milliseconds=1), UTC) == noon
    assert next_fire(cron, noon, UTC) == noon + timedelta(days=1)
    assert next_fire(cron, noon + timedelta(milliseconds=1), UTC) == noon + timedelta(days=1)


def test_a_moment_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        next_fire(parse_cron("@daily"), datetime(2025, 1, 1), UTC)  # noqa: DTZ001


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 0 31W 2 ?", "0 0 0 1 1 ? 1999", "0 0 0 L-30 2 ?"])
def test_what_never_fires_again_says_so(text: str) -> None:
    assert next_fire(parse_cron(text), datetime(2000, 1, 1, tzinfo=UTC), UTC) is None


def test_a_leap_day_is_found_decades_ahead() -> None:
    day = next_fire(parse_cron("0 0 0 29 2 ? 2048/1"), datetime(2025, 1, 1, tzinfo=UTC), UTC)
    assert day == datetime(2048, 2, 29, tzinfo=UTC)


def test_the_calendar_ends_with_2099() -> None:
    cron = parse_cron("@hourly")
    end = datetime(2100, 1, 1, tzinfo=UTC)
    assert next_fire(cron, end - timedelta(hours=2), UTC) == end - timedelta(hours=1)
    assert next_fire(cron, end - timedelta(hours=1), UTC) is None
    assert next_fire(cron, datetime.max.replace(tzinfo=UTC), parse_zone("Asia/Tokyo")) is None


def test_the_calendar_begins_with_1970() -> None:
    start = datetime(1970, 1, 1, tzinfo=UTC)
    assert next_fire(parse_cron("@daily"), datetime.min.replace(tzinfo=UTC), parse_zone("UTC-8")) == (
        start + timedelta(hours=8)
    )


def test_fixed_hours_fire_once_when_the_clock_is_set_forward() -> None:
    assert walls("30 2 * * *", "Europe/Berlin", "2025-03-29T00:00", 3) == [
        "2025-03-29T02:30:00+01:00",
        "2025-03-30T03:00:00+02:00",
        "2025-03-31T02:30:00+02:00",
    ]
    assert walls("*/20 2,3 * * *", "Europe/Berlin", "2025-03-30T00:00", 3) == [
        "2025-03-30T03:00:00+02:00",  # stands for 02:00, 02:20, 02:40 and itself
        "2025-03-30T03:20:00+02:00",
        "2025-03-30T03:40:00+02:00",
    ]


def test_fixed_hours_fire_once_when_the_clock_is_set_back() -> None:
    assert walls("0,30 2 * * *", "Europe/Berlin", "2025-10-26T00:00", 3) == [
        "2025-10-26T02:00:00+02:00",
        "2025-10-26T02:30:00+02:00",
        "2025-10-27T02:00:00+01:00",
    ]


def test_open_hours_follow_elapsed_time() -> None:
    assert walls("30 * * * *", "Europe/Berlin", "2025-03-30T01:00", 2) == [
        "2025-03-30T01:30:00+01:00",
        "2025-03-30T03:30:00+02:00",
    ]
    assert walls("30 * * * *", "Europe/Berlin", "2025-10-26T01:00", 4) == [
        "2025-10-26T01:30:00+02:00",
        "2025-10-26T02:30:00+02:00",
        "2025-10-26T02:30:00+01:00",
        "2025-10-26T03:30:00+01:00",
    ]


def test_a_moment_in_the_second_showing_is_past_the_first() -> None:
    berlin = parse_zone("Europe/Berlin")
    second_showing = datetime(2025, 10, 26, 2, 10, fold=1, tzinfo=berlin)
    assert next_fire(parse_cron("30 2 * * *"), second_showing, berlin) == datetime(
        2025, 10, 27, 1, 30, tzinfo=UTC
    )
    assert next_fire(parse_cron("30 * * * *"), second_showing, berlin) == datetime(
        2025, 10, 26, 1, 30, tzinfo=UTC
    )
    assert next_fire(parse_cron("5 * * * *"), second_showing, berlin) == datetime(
        2025, 10, 26, 2, 5, tzinfo=UTC
    )


def test_the_second_showing_belongs_to_the_day_of_a_cron_for_that_day_only() -> None:
    assert walls("30 * 26 10 *", "Europe/Berlin", "2025-10-26T02:45", 2) == [
        "2025-10-26T02:30:00+01:00",
        "2025-10-26T03:30:00+01:00",
    ]


def test_a_cron_may_end_inside_the_repeated_hour() -> None:
    berlin = parse_zone("Europe/Berlin")
    last = parse_cron("0 0 2 26 10 ? 2025")
    assert next_fire(last, datetime(2025, 10, 26, 0, 0, 1, tzinfo=UTC), berlin) is None
    open_hours = parse_cron("0 0 * 26 10 ? 2024")
    assert next_fire(open_hours, datetime(2025, 10, 26, 0, 0, 1, tzinfo=UTC), berlin) is None


def test_a_gap_may_be_at_midnight_or_last_a_whole_day() -> None:
    assert walls("0 0 * * *", "America/Sao_Paulo", "2017-10-14T12:00", 2) == [
        "2017-10-15T01:00:00-02:00",
        "2017-10-16T00:00:00-02:00",
    ]
    assert walls("0 12 30 12 *", "Pacific/Apia", "2011-12-29T12:00", 1) == ["2011-12-31T00:00:00+14:00"]
    assert walls("0 * 30 12 *", "Pacific/Apia", "2011-12-29T12:00", 1) == ["2012-12-30T00:00:00+14:00"]


def test_a_gap_may_be_half_an_hour() -> None:
    assert walls("0 2 * * *", "Australia/Lord_Howe", "2025-10-05T00:00", 1) == ["2025-10-05T02:30:00+11:00"]


def test_seconds() -> None:
    assert walls("*/30 59 23 31 12 ? *", "UTC", "2025-01-01T00:00", 3) == [
        "2025-12-31T23:59:00+00:00",
        "2025-12-31T23:59:30+00:00",
        "2026-12-31T23:59:00+00:00",
    ]


def test_the_next_two_fires_are_compared_as_elapsed_time() -> None:
    berlin = parse_zone("Europe/Berlin")
    before_gap = datetime(2025, 3, 30, 0, 0, tzinfo=UTC)
    cron = parse_cron("30 1,3 * * *")
    assert next_gap(cron, before_gap, berlin) == timedelta(hours=1)
    assert next_two_apart(cron, before_gap, berlin, timedelta(hours=1))
    assert not next_two_apart(cron, before_gap, berlin, timedelta(hours=1, milliseconds=1))


def test_a_cron_that_fires_once_more_is_never_too_frequent() -> None:
    after = datetime(2021, 1, 1, tzinfo=UTC)
    assert next_gap(parse_cron("0 30 2 7 5 ? 2021"), after, UTC) is None
    assert next_two_apart(parse_cron("0 30 2 7 5 ? 2021"), after, UTC, timedelta(days=999))
