"""Reads one field of a cron: numbers for the time and the month, rules for the day."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from stretto.triggers.days import (
    BeforeLast,
    DayRule,
    LastWeekday,
    NearestWorkday,
    NthWeekday,
    OnDays,
    OnWeekdays,
)
from stretto.triggers.ranges import read_count, read_number, read_range
from stretto.triggers.snippets import Snippet

SATURDAY: Final = 5  # as `datetime` counts: Monday is 0

_EVERY: Final = frozenset({"*", "*/1", "/1"})
_BEFORE_LAST: Final = re.compile(r"L(?:-(?P<offset>\w+))?", re.ASCII | re.IGNORECASE)
_NEAREST_WORKDAY: Final = re.compile(r"(?:L|(?P<day>\d+))W", re.ASCII | re.IGNORECASE)
_LAST_WEEKDAY: Final = re.compile(r"(?P<weekday>\d+|[A-Z]{3})?L", re.ASCII | re.IGNORECASE)


def read_numbers(snippet: Snippet) -> tuple[int, ...]:
    """The numbers a field allows, in ascending order."""
    return _ascending(number for item in snippet.split(",") for number in read_range(item))


def read_month_days(snippet: Snippet) -> tuple[DayRule, ...]:
    """The rules of a day-of-month field; none where it leaves the day open."""
    return _rules(snippet, _month_day_mark, OnDays)


def read_weekdays(snippet: Snippet) -> tuple[DayRule, ...]:
    """The rules of a day-of-week field; none where it leaves the day open."""

    def on_weekdays(numbers: Iterable[int]) -> DayRule:
        return OnWeekdays(_ascending(_from_monday(snippet, number) for number in numbers))

    return _rules(snippet, _weekday_mark, on_weekdays)


def _rules(
    snippet: Snippet,
    mark_of: Callable[[Snippet], DayRule | None],
    plain_rule: Callable[[tuple[int, ...]], DayRule],
) -> tuple[DayRule, ...]:
    """One rule for all numbers of the list, and one for each mark."""
    if _leaves_open(snippet):
        return ()
    rules: list[DayRule] = []
    numbers: list[int] = []
    for item in snippet.split(","):
        mark = mark_of(item) if snippet.field.marks else None
        if mark is None:
            numbers += read_range(item)
        else:
            rules.append(mark)
    return (*([plain_rule(_ascending(numbers))] if numbers else []), *rules)


def _leaves_open(snippet: Snippet) -> bool:
    return snippet.text in _EVERY or (snippet.text == "?" and "?" in snippet.field.marks)


def _month_day_mark(item: Snippet) -> DayRule | None:
    if match := _BEFORE_LAST.fullmatch(item.text):
        offset = item.group(match, "offset")
        return BeforeLast(read_count(offset, 0, 30, "the distance from the last day") if offset else 0)
    if match := _NEAREST_WORKDAY.fullmatch(item.text):
        day = item.group(match, "day")
        return NearestWorkday(read_number(day) if day else None)
    return None


def _weekday_mark(item: Snippet) -> DayRule | None:
    if match := _LAST_WEEKDAY.fullmatch(item.text):
        weekday = item.group(match, "weekday")
        # A bare `L` is the last day of the week, and that is Saturday.
        return LastWeekday(_from_monday(item, read_number(weekday))) if weekday else OnWeekdays((SATURDAY,))
    if "#" in item.text:
        weekday, nth = item.split("#", 1)
        return NthWeekday(
            _from_monday(item, read_number(weekday)), read_count(nth, 1, 5, "the week of the month")
        )
    return None


def _from_monday(item: Snippet, number: int) -> int:
    """A weekday as `datetime` counts it: Monday is 0. The two Sundays of a UNIX cron become one."""
    sunday = item.field.low
    return (number - sunday - 1) % 7


def _ascending(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))
