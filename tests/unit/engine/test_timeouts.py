"""Timeouts as they are written, and what is refused."""

import pytest

from stretto.engine.timeouts import DAY_MILLIS, BadTimeout, timeout_millis


def as_written(text: str) -> str:
    raise AssertionError(f"{text} holds no variable")


def test_without_a_timeout_the_default_holds() -> None:
    assert timeout_millis(None, as_written) == 10 * DAY_MILLIS
    assert timeout_millis(None, as_written, default=5) == 5


def test_numbers_are_seconds_and_texts_are_durations() -> None:
    assert timeout_millis(90, as_written) == 90_000
    assert timeout_millis("90", as_written) == 90_000
    assert timeout_millis("1 min 30 s", as_written) == 90_000
    assert timeout_millis("${limit}", {"${limit}": "2h"}.__getitem__) == 7_200_000


def test_the_limit_itself_is_allowed_and_a_setting() -> None:
    assert timeout_millis("120 days", as_written) == 120 * DAY_MILLIS
    with pytest.raises(BadTimeout, match="more than system limit: 1 days"):
        timeout_millis("25h", as_written, most_days=1)


@pytest.mark.parametrize("timeout", [0, -1, 120 * 86_400 + 1, "", "soon", "0s", "${limit}"])
def test_what_is_no_time_or_too_long_is_refused(timeout: int | str) -> None:
    with pytest.raises(BadTimeout, match="cannot be non-positive or more than system limit: 120 days"):
        timeout_millis(timeout, lambda _: "never")
