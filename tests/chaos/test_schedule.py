"""Fires that are left out, come twice or come late are found. Time when nobody could do anything does not
count, nor do fires that were due when somebody set the clock.
"""

import pytest
from chaos.availability import Availability
from chaos.clock import ClockHistory, Reached
from chaos.schedule import Fire, Schedule

MINUTE = 60_000
HOUR = 60 * MINUTE


def nothing(begin: int, end: int) -> int:  # noqa: ARG001 - all time counts
    return 0


def schedule(*settings: tuple[int, int], every: int = 3_000) -> Schedule:
    """With a clock that was set at such moments to be so far ahead."""
    clock = ClockHistory()
    for at, ahead in settings:
        clock.note(at, ahead)
    return Schedule(every, nothing, clock)


@pytest.mark.parametrize(
    ("fires", "found"),
    [
        ([Fire(3_000, 3_100), Fire(6_000, 15_900)], None),
        ([Fire(3_000, 3_100), Fire(9_000, 9_100)], "lost: the fire due at 6000 has started no run"),
        ([Fire(3_000, 3_100), Fire(3_000, 3_200)], "doubled: the fire due at 3000 has started 2 runs"),
        ([Fire(3_000, 14_000)], "the fire due at 3000 has started its run 11.0 s late"),
        ([Fire(3_000, 2_000)], "the fire due at 3000 has started its run before it was due"),
        ([], "lost: the schedule has started nothing"),
    ],
)
def test_a_schedule(fires: list[Fire], found: str | None) -> None:
    violations = list(schedule().violations(fires))
    assert not violations if found is None else found in violations[0]


def test_time_without_a_database_does_not_count() -> None:
    answers = True
    seen = Availability(lambda: answers)
    seen.look(1_000)
    answers = False
    seen.look(4_000)
    seen.look(8_000)
    answers = True
    seen.look(12_000)
    assert seen.millis_without(0, 4_000) == 0
    assert seen.millis_without(3_000, 16_000) == 8_000
    assert seen.millis_without(10_000, 11_000) == 1_000
    fires = [Fire(3_000, 16_000)]
    kept = Schedule(3_000, seen.millis_without, ClockHistory())
    assert kept.lags(fires, counts=True) == [5.0]
    assert kept.lags(fires) == [13.0]
    assert not list(kept.violations(fires))
    answers = False
    seen.look(20_000)
    assert seen.millis_without(19_000, 23_000) == 3_000


def test_what_is_due_before_an_outage_is_judged_until_long_after_it() -> None:
    clock = ClockHistory()
    clock.note(50_000, HOUR)
    kept = Schedule(3_000, lambda begin, end: min(max(0, end - max(begin, 10_000)), 35_000), clock)
    assert kept.is_certain(3_000)  # it has 7 s before the outage, and 3 s after it, until 48,000
    assert not kept.is_certain(6_000)


# ---------------------------------------------------------------------------------------------------- jumps
def test_what_a_clock_has_shown() -> None:
    clock = ClockHistory()
    clock.note(100_000, HOUR)
    clock.note(200_000, -MINUTE)
    assert clock.ahead == -MINUTE
    assert clock.reached(99_000) == Reached(99_000)
    assert clock.reached(130_000) == Reached(100_000, HOUR - 30_000)  # it was left out
    assert clock.reached(HOUR + 150_000) == Reached(150_000)
    assert clock.reached(HOUR + 200_000) == Reached(HOUR + 200_000 + MINUTE)  # long after it was set back
    assert clock.moments(99_000) == [99_000]
    assert clock.moments(150_000) == [210_000]
    assert clock.moments(HOUR + 150_000) == [150_000, HOUR + 210_000]
    assert clock.was_set(100_000, 100_000)
    assert not clock.was_set(100_001, 199_999)


def test_after_a_jump_forward_the_newest_missed_fires_are_wanted() -> None:
    kept = schedule((100_000, HOUR), every=MINUTE)
    shown = HOUR + 100_000  # when it was set
    old = [MINUTE * number for number in range(1, 2)]
    new = [MINUTE * number for number in range(57, 64)]
    fires = [Fire(due, max(due, shown if due > 100_000 else 0) + 500) for due in [*old, *new]]
    assert not list(kept.violations(fires))
    assert kept.lags(fires) == [0.5] * len(fires)
    (lost,) = kept.violations([each for each in fires if each.due != 60 * MINUTE])
    assert lost == f"lost: the fire due at {HOUR} has started no run"
    (late,) = kept.violations([*fires[:-1], Fire(fires[-1].due, fires[-1].due + 20_000)])
    assert "20.0 s late" in late


def test_moments_that_come_again_are_not_fired_again() -> None:
    kept = schedule((100_000, -MINUTE))
    before = [Fire(due, due + 10) for due in range(3_000, 91_000, 3_000)]
    after = [Fire(due, due + 10) for due in range(102_000, 120_000, 3_000)]
    assert not list(kept.violations([*before, *after]))
    again = Fire(90_000, 90_010)
    (doubled,) = kept.violations([*before, again, *after])
    assert doubled == "doubled: the fire due at 90000 has started 2 runs"


def test_what_was_due_when_the_clock_was_set_may_come_or_not() -> None:
    kept = schedule((100_000, -MINUTE))
    assert kept.is_certain(87_000)
    assert not kept.is_certain(93_000)
    fires = [Fire(87_000, 87_010), Fire(93_000, 93_010), Fire(102_000, 102_010)]
    for left in (fires, [fires[0], *fires[2:]]):
        assert not [each for each in kept.violations(left) if "93000" in each]
