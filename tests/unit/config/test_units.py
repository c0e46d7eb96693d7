"""Durations and sizes: numbers with a unit, strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stretto.config.problems import BadValue, ConfigCode
from stretto.config.units import DAY, GB, HOUR, KB, LONGEST, MB, MINUTE, SECOND, Duration, Size
from stretto.model.problem import Code

DURATION = Duration(least=0)


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("250ms", 250),
        ("2s", 2 * SECOND),
        ("15m", 15 * MINUTE),
        ("24h", DAY),
        ("7d", 7 * DAY),
        ("1h30m", 90 * MINUTE),
        ("1h 30m", 90 * MINUTE),
        ("1.5s", 1_500),
        ("0.25 h", 15 * MINUTE),
        ("2000", 2_000),
        ("0", 0),
    ],
)
def test_a_duration(text: str, millis: int) -> None:
    assert DURATION.parse(text) == DURATION.read(text) == millis


def test_a_bare_number_is_milliseconds_or_bytes() -> None:
    assert DURATION.read(1_500) == 1_500
    assert Size().read(1_500) == 1_500


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("15min", '"15min" has the unit `min`, which is none of ms, s, m, h, d', "did you mean `15m`?"),
        ("2 Seconds", '"2 Seconds" has the unit `Seconds`, which is none of', "did you mean `2s`?"),
        ("3 millis", '"3 millis" has the unit `millis`, which is none of', "did you mean `3ms`?"),
        ("3msec", '"3msec" has the unit `msec`, which is none of', "did you mean `3ms`?"),
        ("15M", '"15M" has the unit `M`, which is none of', "did you mean `15m`?"),
        ("2w", '"2w" has the unit `w`, which is none of', "write milliseconds, or"),
        ("soon", '"soon" is not a duration', "write milliseconds, or"),
        ("2s,", '"2s," is not a duration', "write milliseconds, or"),
        ("s", '"s" is not a duration', "write milliseconds, or"),
        ("1.5", '"1.5" is not a duration', "write milliseconds, or"),
        ("1s" * 30, '"1s1s1s1s1s1s1s1s1s1s1s1s1s1s1s1s1s1s1..." is not a duration', "write milliseconds, or"),
        ("0.5ms", '"0.5ms" is not a whole number of milliseconds', None),
    ],
)
def test_no_duration(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(BadValue) as bad:
        DURATION.parse(text)
    assert bad.value.code == Code.BAD_DURATION
    assert bad.value.message.startswith(message)
    assert (bad.value.hint or "").startswith(hint or "")
    assert (bad.value.hint is None) == (hint is None)


@pytest.mark.parametrize("value", [True, 1.5, None, [1]])
def test_durations_and_sizes_are_whole_numbers_or_texts(value: object) -> None:
    with pytest.raises(BadValue, match="is not a duration"):
        DURATION.read(value)
    with pytest.raises(BadValue, match="is not a size"):
        Size().read(value)


def test_a_duration_that_is_counted_in_other_units() -> None:
    days = Duration(least=DAY, unit=DAY)
    assert days.parse("48h") == 2
    assert days.show(2) == "2d"
    with pytest.raises(BadValue, match="36h is not a whole number of days"):
        days.parse("36h")
    with pytest.raises(BadValue, match="at least 1d"):
        days.parse("3h")
    with pytest.raises(BadValue, match="1500ms is not a whole number of seconds"):
        Duration(least=0, unit=SECOND).read(1_500)


def test_bounds() -> None:
    with pytest.raises(BadValue, match="it must be at least 1ms"):
        Duration().parse("0s")
    with pytest.raises(BadValue, match="it must be at most 1h"):
        Duration(most=HOUR).parse("61m")
    with pytest.raises(BadValue, match="it must be at least 1KB"):
        Size(least=KB).parse("1000B")
    with pytest.raises(BadValue, match="it must be at most 1GB"):
        Size().parse("1025mb")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512B", 512),
        ("256KB", 256 * KB),
        ("256 KiB", 256 * KB),
        ("4MB", 4 * MB),
        ("4mb", 4 * MB),
        ("0.5 MiB", 512 * KB),
        ("1GB", GB),
        ("1GiB", GB),
        ("1024", KB),
    ],
)
def test_a_size(text: str, size: int) -> None:
    assert Size().parse(text) == Size().read(text) == size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4TB", '"4TB" has the unit `TB`, which is none of B, KB, MB, GB'),
        ("4 s", '"4 s" has the unit `s`, which is none of B, KB, MB, GB'),
        ("much", '"much" is not a size'),
        ("1MB 2KB", '"1MB 2KB" is not a size'),
        ("1" * 60 + "KB", f'"{"1" * 37}..." is not a size'),
        ("0.3B", '"0.3B" is not a whole number of bytes'),
    ],
)
def test_no_size(text: str, message: str) -> None:
    with pytest.raises(BadValue) as bad:
        Size().parse(text)
    assert (bad.value.code, bad.value.message) == (ConfigCode.BAD_SIZE, message)


@pytest.mark.parametrize(
    ("millis", "text"), [(0, "0s"), (90_000, "90s"), (7_200_000, "2h"), (1_500, "1500ms"), (DAY, "1d")]
)
def test_how_a_duration_is_shown(millis: int, text: str) -> None:
    assert DURATION.show(millis) == text


@given(st.integers(0, LONGEST))
def test_a_duration_that_is_shown_can_be_read(millis: int) -> None:
    assert DURATION.parse(DURATION.show(millis)) == millis


@given(st.integers(1, GB))
def test_a_size_that_is_shown_can_be_read(size: int) -> None:
    assert Size().parse(Size().show(size)) == size
