"""What time it is for a node."""

import pytest

from stretto.node.context import DatabaseTime

BEGIN = 1_700_000_000_000


class Clock:
    """A steady clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(time: DatabaseTime, clock: Clock, before: float, after: float, *, set_by: int = 0) -> int:
    """A question whose answer was given so long after it was sent, and so long before it came back. The true
    time of the database is that of the steady clock. Returns the jump that the node sees.
    """
    sent = clock.seconds
    clock.seconds += before
    said = BEGIN + round(clock.seconds * 1_000) + set_by
    clock.seconds += after
    return time.hear(said, sent)


def off_by(time: DatabaseTime, clock: Clock) -> int:
    """Milliseconds that a node is ahead."""
    return time.now() - BEGIN - round(clock.seconds * 1_000)


def test_nothing_was_heard(clock: Clock) -> None:
    time = DatabaseTime(clock)
    assert time.now() == 0
    assert time.steady_at(BEGIN) == clock.seconds


def test_a_quick_answer_corrects_a_slow_one(clock: Clock) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.020, 0.0)  # it had to connect first
    assert off_by(time, clock) == 10
    clock.seconds += 2
    asked(time, clock, 0.0005, 0.0005)
    assert abs(off_by(time, clock)) <= 1


def test_a_slow_answer_does_not_spoil_a_quick_one(clock: Clock) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.0005, 0.0005)
    clock.seconds += 2
    asked(time, clock, 0.5, 0.0)
    assert abs(off_by(time, clock)) <= 1


def test_what_was_heard_long_ago_says_less(clock: Clock) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.0005, 0.0005)
    clock.seconds += 600  # clocks come apart
    asked(time, clock, 0.0, 0.1)
    assert off_by(time, clock) == -50


@pytest.mark.parametrize("millis", [-3_600_000, 5_000])
def test_a_clock_that_was_set_counts_at_once(clock: Clock, millis: int) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.0005, 0.0005)
    clock.seconds += 2
    jump = asked(time, clock, 0.01, 0.0, set_by=millis)
    assert jump == pytest.approx(millis, abs=10)
    assert time.now() == BEGIN + round(clock.seconds * 1_000) + millis + 5
    due = BEGIN + round(clock.seconds * 1_000) + millis + 7_000
    assert time.steady_at(due) == pytest.approx(clock.seconds + 7, abs=0.02)


def test_a_clock_that_was_ahead_once_leaves_nothing_behind(clock: Clock) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.0, 0.001)
    clock.seconds += 2
    assert asked(time, clock, 0.0, 0.001, set_by=60_000) == pytest.approx(60_000, abs=2)
    clock.seconds += 2
    assert asked(time, clock, 0.0, 0.001) == pytest.approx(-60_000, abs=2)
    assert abs(off_by(time, clock)) <= 1
    assert time.steady_at(time.now() + 5_000) == pytest.approx(clock.seconds + 5, abs=0.002)


def test_clocks_that_come_apart_slowly_were_not_set(clock: Clock) -> None:
    time = DatabaseTime(clock)
    asked(time, clock, 0.0005, 0.0005)
    clock.seconds += 600
    assert asked(time, clock, 0.0, 0.1) == 0
