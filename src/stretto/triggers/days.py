"""Which days of a month a cron means. Every rule answers for one month, so no rule looks further."""

from calendar import monthrange
from typing import NamedTuple

import msgspec

WORKDAYS_END = 5  # Monday is 0, so 5 and 6 are the weekend


class Month(NamedTuple):
    """A month of a year; `opens_on` is the weekday of its first day (Monday is 0)."""

    year: int
    month: int
    opens_on: int
    length: int

    @classmethod
    def of(cls, year: int, month: int) -> "Month":
        return cls(year, month, *monthrange(year, month))

    def weekday(self, day: int) -> int:
        return (self.opens_on + day - 1) % 7

    def first(self, weekday: int) -> int:
        """The first day of the month that falls on a weekday."""
        return (weekday - self.opens_on) % 7 + 1


class OnDays(msgspec.Struct, frozen=True):
    """`1,15`: these days, in the months that have them."""

    days: tuple[int, ...]

    def days_in(self, month: Month) -> set[int]:
        return {day for day in self.days if day <= month.length}


class BeforeLast(msgspec.Struct, frozen=True):
    """`L` is the last day of the month, `L-3` the day three days before it."""

    offset: int

    def days_in(self, month: Month) -> set[int]:
        return {month.length - self.offset} if self.offset < month.length else set()


class NearestWorkday(msgspec.Struct, frozen=True):
    """`15W`: the workday nearest to a day, in the same month. Without a day it is `LW`, the last workday."""

    day: int | None

    def days_in(self, month: Month) -> set[int]:
        if self.day is None:
            return {_last_workday(month)}
        if self.day > month.length:
            return set()
        beyond_friday = month.weekday(self.day) - WORKDAYS_END  # 0 on Saturday, 1 on Sunday
        if beyond_friday < 0:
            return {self.day}
        if beyond_friday == 0:
            return {self.day - 1 if self.day > 1 else 3}  # no Friday before a first: the Monday after
        return {self.day + 1 if self.day < month.length else self.day - 2}


def _last_workday(month: Month) -> int:
    return month.length - max(0, month.weekday(month.length) - WORKDAYS_END + 1)


class OnWeekdays(msgspec.Struct, frozen=True):
    """`MON-FRI`: these weekdays, in every week."""

    weekdays: tuple[int, ...]

    def days_in(self, month: Month) -> set[int]:
        return {day for weekday in self.weekdays for day in range(month.first(weekday), month.length + 1, 7)}


class NthWeekday(msgspec.Struct, frozen=True):
    """`FRI#3`: the third Friday, in the months that have one."""

    weekday: int
    nth: int

    def days_in(self, month: Month) -> set[int]:
        day = month.first(self.weekday) + 7 * (self.nth - 1)
        return {day} if day <= month.length else set()


class LastWeekday(msgspec.Struct, frozen=True):
    """`6L`: the last Friday of the month."""

    weekday: int

    def days_in(self, month: Month) -> set[int]:
        return {month.length - (month.weekday(month.length) - self.weekday) % 7}


DayRule = OnDays | BeforeLast | NearestWorkday | OnWeekdays | NthWeekday | LastWeekday
EVERY_DAY = OnDays(tuple(range(1, 32)))
