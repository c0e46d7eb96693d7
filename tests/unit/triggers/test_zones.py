from datetime import UTC, datetime, timedelta

import pytest

from stretto.triggers import ZoneError, parse_zone


@pytest.mark.parametrize("text", [None, "", " ", "Z", "UTC", "GMT", "UT"])
def test_utc_has_many_names_and_is_the_default(text: str | None) -> None:
    assert parse_zone(text) is UTC


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("+02:00", 120), ("UTC+2", 120), ("GMT-8", -480), ("UT+0530", 330), ("-18:00", -1080), ("+0", 0)],
)
def test_offsets(text: str, minutes: int) -> None:
    assert parse_zone(text).utcoffset(None) == timedelta(minutes=minutes)


def test_names_of_the_tz_database() -> None:
    summer = datetime(2025, 7, 1, tzinfo=parse_zone("US/Pacific"))
    assert summer.utcoffset() == timedelta(hours=-7)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("us/pacific", "did you mean `US/Pacific`?"),
        ("Europe/Berln", "did you mean `Europe/Berlin`?"),
        ("UTC+19", "an offset has at most 18 hours"),
        ("../etc/passwd", "write a name such as Europe/Berlin, or UTC+2"),
        ("localtime", "write a name such as Europe/Berlin, or UTC+2"),
    ],
)
def test_an_unknown_zone_has_a_way_out(text: str, hint: str) -> None:
    with pytest.raises(ZoneError, match="is not a time zone") as caught:
        parse_zone(text)
    assert caught.value.hint == hint
