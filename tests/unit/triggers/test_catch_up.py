"""Fires that nobody came to in time."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from stretto.model.trigger import CatchUp
from stretto.triggers import Dropped, Due, Schedule, due_fires, parse_cron
from stretto.triggers.catch_up import IN_TIME, MOST_COUNTED

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
WEEK = timedelta(weeks=1)
HOURLY = Schedule(parse_cron("0 * * * *"), UTC)
MINUTELY = Schedule(parse_cron("* * * * *"), UTC)


def hours(count: int, until: datetime = NOON) -> tuple[datetime, ...]:
    """The last full hours up to one, the oldest first."""
    return tuple(until - HOUR * number for number in reversed(range(count)))


def test_one_fire_that_is_in_time() -> None:
    for rule in CatchUp:
        assert due_fires(HOURLY, NOON, NOON, rule) == Due((NOON,))
        assert due_fires(HOURLY, NOON, NOON + IN_TIME, rule) == Due((NOON,))


def test_a_fire_is_missed_after_a_minute() -> None:
    late = NOON + IN_TIME + timedelta(milliseconds=1)
    assert due_fires(HOURLY, NOON, late, CatchUp.ALL) == Due((NOON,))
    assert due_fires(HOURLY, NOON, late, CatchUp.LATEST) == Due((NOON,))
    assert due_fires(HOURLY, NOON, late, CatchUp.NONE) == Due((), Dropped(1, True, NOON, NOON))


def test_all_latest_and_none() -> None:
    first, now = NOON - 5 * HOUR, NOON + HOUR / 2
    missed = hours(6)
    assert due_fires(HOURLY, first, now, CatchUp.ALL) == Due(missed)
    assert due_fires(HOURLY, first, now, CatchUp.LATEST) == Due((NOON,), Dropped(5, True, first, missed[-2]))
    assert due_fires(HOURLY, first, now, CatchUp.NONE) == Due((), Dropped(6, True, first, NOON))


def test_fires_that_are_in_time_start_whatever_was_missed() -> None:
    """The newest fire is in time: it is the latest, and it is not a missed one."""
    first, missed = NOON - 5 * HOUR, hours(5, NOON - HOUR)
    assert due_fires(HOURLY, first, NOON, CatchUp.ALL) == Due((*missed, NOON))
    dropped = Dropped(5, True, first, NOON - HOUR)
    assert due_fires(HOURLY, first, NOON, CatchUp.LATEST) == Due((NOON,), dropped)
    assert due_fires(HOURLY, first, NOON, CatchUp.NONE) == Due((NOON,), dropped)


def test_fires_close_to_each_other_are_not_dropped_while_they_are_in_time() -> None:
    each_second = Schedule(parse_cron("* * * * * ?"), UTC)
    found = due_fires(each_second, NOON - timedelta(seconds=30), NOON, CatchUp.LATEST)
    assert (len(found.fires), found.dropped) == (31, None)


def test_a_limit_keeps_the_newest() -> None:
    first, now = NOON - 9 * HOUR, NOON + HOUR / 2
    found = due_fires(HOURLY, first, now, CatchUp.ALL, 3)
    assert found == Due(hours(3), Dropped(7, True, first, NOON - 3 * HOUR))
    assert due_fires(HOURLY, first, now, CatchUp.ALL, 10) == Due(hours(10))


def test_a_week_without_a_server_starts_a_hundred_runs() -> None:
    """More than a thousand dropped fires are not counted to the end."""
    now = NOON + MINUTE / 2
    found = due_fires(MINUTELY, NOON - WEEK, now, CatchUp.ALL)
    assert found.fires == tuple(NOON - MINUTE * number for number in reversed(range(101)))
    assert found.dropped == Dropped(MOST_COUNTED, False, NOON - WEEK, NOON - 101 * MINUTE)


@pytest.mark.parametrize("rule", list(CatchUp))
def test_the_cost_does_not_grow_with_the_time(monkeypatch: pytest.MonkeyPatch, rule: CatchUp) -> None:
    """So many fires are computed for a week as for ten years, but for looking back twice as far each time."""
    from stretto.triggers import firing  # noqa: PLC0415

    compute, computed = firing.next_fire, 0

    def counted(*given: Any) -> Any:
        nonlocal computed
        computed += 1
        return compute(*given)

    monkeypatch.setattr(firing, "next_fire", counted)
    costs = []
    for weeks in (1, 520):
        computed = 0
        due_fires(MINUTELY, NOON - weeks * WEEK, NOON, rule)
        costs.append(computed)
    assert costs[1] <= costs[0] + 10
    assert costs[0] < 2_000


def test_bursts() -> None:
    """Each second of each Monday: looking back twice as far finds nothing, or a whole day."""
    mondays = Schedule(parse_cron("* * * ? * MON"), UTC)
    sunday = NOON + timedelta(days=6)
    found = due_fires(mondays, NOON - 4 * WEEK, sunday, CatchUp.ALL, 5)
    midnight = datetime(2026, 3, 3, tzinfo=UTC)
    assert found.fires == tuple(midnight - timedelta(seconds=5 - number) for number in range(5))
    assert found.dropped is not None
    assert found.dropped.last == midnight - timedelta(seconds=6)
    assert due_fires(mondays, NOON - 4 * WEEK, sunday, CatchUp.LATEST).fires == (
        midnight - timedelta(seconds=1),
    )


def test_the_clock_is_changed_meanwhile() -> None:
    """In the night to 29 March the hour from 2 to 3 is missing in Berlin; on 25 October it comes twice."""
    berlin = Schedule(parse_cron("30 * * * *"), ZoneInfo("Europe/Berlin"))
    for night in (datetime(2026, 3, 28, 23, 30, tzinfo=UTC), datetime(2026, 10, 24, 22, 30, tzinfo=UTC)):
        expected = tuple(islice(berlin.fires(night - timedelta(seconds=1)), 6))
        now = expected[-1] + 2 * IN_TIME
        assert due_fires(berlin, night, now, CatchUp.ALL).fires == expected
        assert due_fires(berlin, night, now, CatchUp.ALL, 2).fires == expected[-2:]


def test_a_fire_that_the_schedule_no_longer_has() -> None:
    """The rules of a time zone have changed since it was planned."""
    odd = NOON - 3 * HOUR + timedelta(minutes=7)
    assert due_fires(HOURLY, odd, NOON - HOUR / 2, CatchUp.ALL) == Due(hours(2, NOON - HOUR))
    assert due_fires(HOURLY, NOON - HOUR / 2, NOON - HOUR / 4, CatchUp.NONE) == Due(())


def test_every_rule_keeps_an_end_of_all_fires() -> None:
    """Compared with a count of all fires, for many beginnings and limits."""
    schedule = Schedule(parse_cron("*/7 3,4,15 * * *"), ZoneInfo("America/Sao_Paulo"), timedelta(seconds=11))
    for days in range(1, 40, 3):
        first = schedule.next_fire(NOON - timedelta(days=days, hours=days))
        assert first is not None
        everything = [
            each for each in islice(schedule.fires(first - MINUTE), 10_000) if first <= each <= NOON
        ]
        for limit in (1, 2, 10, 100, 1_000):
            found = due_fires(schedule, first, NOON, CatchUp.ALL, limit)
            assert list(found.fires) == everything[-limit:]
            dropped = len(everything) - len(found.fires)
            assert (found.dropped.at_least if found.dropped else 0) == min(dropped, MOST_COUNTED)
