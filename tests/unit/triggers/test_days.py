"""Each rule for days, in months that make it hard."""

import pytest

from stretto.triggers import parse_cron
from stretto.triggers.days import (
    BeforeLast,
    DayRule,
    LastWeekday,
    Month,
    NearestWorkday,
    NthWeekday,
    OnDays,
    OnWeekdays,
)

MON, FRI, SUN = 0, 4, 6


@pytest.mark.parametrize(
    ("rule", "year", "month", "days"),
    [
        (OnDays((1, 29, 30)), 2023, 2, {1}),
        (OnDays((1, 29, 30)), 2024, 2, {1, 29}),
        (BeforeLast(0), 2024, 2, {29}),
        (BeforeLast(27), 2023, 2, {1}),
        (BeforeLast(28), 2023, 2, set()),
        (NearestWorkday(14), 2025, 5, {14}),  # a Wednesday
        (NearestWorkday(17), 2025, 5, {16}),  # a Saturday
        (NearestWorkday(18), 2025, 5, {19}),  # a Sunday
        (NearestWorkday(1), 2025, 2, {3}),  # a Saturday, and the Friday before is in January
        (NearestWorkday(31), 2025, 8, {29}),  # a Sunday, and the Monday after is in September
        (NearestWorkday(31), 2025, 9, set()),
        (NearestWorkday(None), 2025, 5, {30}),  # ends on a Saturday
        (NearestWorkday(None), 2025, 8, {29}),  # ends on a Sunday
        (NearestWorkday(None), 2025, 9, {30}),
        (OnWeekdays((MON, SUN)), 2025, 2, {2, 3, 9, 10, 16, 17, 23, 24}),
        (NthWeekday(FRI, 1), 2025, 8, {1}),
        (NthWeekday(FRI, 5), 2025, 8, {29}),
        (NthWeekday(FRI, 5), 2025, 9, set()),
        (LastWeekday(FRI), 2025, 8, {29}),
        (LastWeekday(SUN), 2025, 8, {31}),
    ],
)
def test_days_of_a_month(rule: DayRule, year: int, month: int, days: set[int]) -> None:
    assert rule.days_in(Month.of(year, month)) == days


def test_a_day_counts_if_any_rule_names_it() -> None:
    assert parse_cron("0 0 13 * FRI").days_in(2025, 2) == [7, 13, 14, 21, 28]
