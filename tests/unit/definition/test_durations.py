"""Durations as Maestro reads them."""

import pytest

from stretto.definition.durations import duration_millis


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("0", 0),
        (" 90 ", 90_000),
        ("1s", 1_000),
        ("2 sec", 2_000),
        ("3 Seconds", 3_000),
        ("4ms", 4),
        ("5 milliseconds", 5),
        ("1 millisecond", 1),
        ("6min", 360_000),
        ("1 MINUTE", 60_000),
        ("2h", 7_200_000),
        ("1 hour", 3_600_000),
        ("1d", 86_400_000),
        ("2 days", 172_800_000),
        ("1 day 2 hours 3min 4s 5ms", 93_784_005),
        ("10min 1min", 660_000),
        ("abc 1min", 60_000),
        ("", None),
        ("soon", None),
        ("5m", None),
        ("1  min", None),
        ("-", None),
        ("٣", None),
        ("1" * 1_001, None),
    ],
)
def test_durations(text: str, millis: int | None) -> None:
    assert duration_millis(text) == millis
