from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from stretto.triggers import (
    Planned,
    Schedule,
    TriggerError,
    UnsupportedTriggerError,
    Watch,
    cron_of,
    earliest_fire,
    fuzzy_delay,
    parse_cron,
    plan,
)

NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_delay_moves_every_fire() -> None:
    schedule = Schedule(parse_cron("@hourly"), UTC, timedelta(minutes=10))
    assert schedule.next_fire(NEW_YEAR) == NEW_YEAR + timedelta(minutes=10)
    assert list(islice(schedule.fires(NEW_YEAR + timedelta(minutes=10)), 2)) == [
        NEW_YEAR + timedelta(minutes=70),
        NEW_YEAR + timedelta(minutes=130),
    ]


def test_a_plan_merges_the_schedules_and_stops_at_the_cap() -> None:
    hourly = Watch(Schedule(parse_cron("@hourly"), UTC), NEW_YEAR)
    daily = Watch(Schedule(parse_cron("0 2 * * *"), UTC), NEW_YEAR)
    end = NEW_YEAR + 4 * HOUR
    fires = [
        Planned(NEW_YEAR + 1 * HOUR, 0),
        Planned(NEW_YEAR + 2 * HOUR, 0),
        Planned(NEW_YEAR + 2 * HOUR, 1),
        Planned(NEW_YEAR + 3 * HOUR, 0),
    ]
    assert plan([hourly, daily], end, 100) == fires
    assert plan([hourly, daily], end, 2) == fires[:2]
    assert plan([], end, 2) == []


def test_the_earliest_fire_of_several() -> None:
    over = Watch(Schedule(parse_cron("0 0 0 1 1 ? 2024"), UTC), NEW_YEAR)
    daily = Watch(Schedule(parse_cron("@daily"), UTC), NEW_YEAR)
    assert earliest_fire([over, daily]) == NEW_YEAR + 24 * HOUR
    assert earliest_fire([over]) is None


def test_the_type_of_a_trigger_decides_how_it_is_read() -> None:
    assert cron_of("cron", "0 0 * * *") == cron_of("PREDEFINED", "daily")
    with pytest.raises(TriggerError, match="`DAILY` is not a type"):
        cron_of("DAILY", "")


def test_an_interval_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnsupportedTriggerError, match="INTERVAL has no next fire time") as caught:
        cron_of("Interval", "3H")
    assert "0 */3 * * *" in str(caught.value)


def test_a_fuzzy_delay_is_constant_for_a_workflow_and_spread_over_workflows() -> None:
    most = timedelta(minutes=5)
    delays = [fuzzy_delay("0 2 * * *", f"wf-{n}", most) for n in range(1000)]
    assert delays == [fuzzy_delay("0 2 * * *", f"wf-{n}", most) for n in range(1000)]
    assert all(timedelta() <= delay < most for delay in delays)
    assert len(set(delays)) > 250
    assert fuzzy_delay("0 3 * * *", "wf-1", most) != delays[1]


@pytest.mark.parametrize("most", [timedelta(), timedelta(milliseconds=999), timedelta(seconds=-5)])
def test_there_is_no_delay_below_a_second(most: timedelta) -> None:
    assert fuzzy_delay("@daily", "wf", most) == timedelta()
