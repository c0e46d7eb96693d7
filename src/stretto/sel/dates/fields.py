"""The fields of a date and time (`dayOfMonth`, `hourOfDay` ...): read, checked, set.

They work on *local milliseconds*: milliseconds from 1970-01-01T00:00 on the wall clock of some zone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from stretto.sel.dates import calendar
from stretto.sel.errors import Kind, SelError

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MIN_YEAR: Final = -292_275_054  # 64 bits of milliseconds hold no more
MAX_YEAR: Final = 292_278_993


class Unit(IntEnum):
    """Durations by size: fields read from a text are applied from the largest to the smallest."""

    MILLIS = 0
    SECONDS = 1
    MINUTES = 2
    HOURS = 3
    HALFDAYS = 4
    DAYS = 5
    WEEKS = 6
    MONTHS = 7
    YEARS = 8
    CENTURIES = 9
    ERAS = 10
    FOREVER = 11


Getter = Callable[[int], int]
Setter = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Field:
    """A field: what one step of it is, within what it repeats, and its bounds at a moment."""

    name: str
    unit: Unit
    within: Unit
    get: Getter
    place: Setter  # the local milliseconds with another value, which is in range
    low: int
    high: Getter
    floor: Getter  # the first moment with the same value

    def set(self, local: int, value: int) -> int:
        """The local milliseconds with this field set; an error when there is no such value then."""
        high = self.high(local)
        if not self.low <= value <= high:
            raise SelError(
                Kind.ILLEGAL_ARGUMENT,
                f"{value} is not a valid {self.name}: the range is {self.low} to {high}",
            )
        return self.place(local, value)


def at_date(year: int, month: int, day: int, local: int) -> int:
    """A date, clamped to its month, at the time of day of `local`."""
    day = min(day, calendar.month_length(year, month))
    return calendar.days_of(year, month, day) * DAY + local % DAY


def date(local: int) -> tuple[int, int, int]:
    """Year, month and day of a local moment."""
    return calendar.date_of(local // DAY)


def weekyear(local: int) -> int:
    """The ISO week year of a local moment."""
    return calendar.weekyear_of(local // DAY)


def week(local: int) -> int:
    """The ISO week of a local moment."""
    days = local // DAY
    return (days - calendar.first_monday(calendar.weekyear_of(days))) // 7 + 1


def at_weekyear(local: int, year: int) -> int:
    """The same week and weekday of another week year; its last week if it has no 53rd."""
    weeks = min(week(local), calendar.weeks_in(year)) - 1
    days = calendar.first_monday(year) + 7 * weeks + calendar.weekday_of(local // DAY) - 1
    return days * DAY + local % DAY


def _year_start(year: int) -> int:
    return calendar.days_of(year, 1, 1) * DAY


def _day_of_year(local: int) -> int:
    return local // DAY - calendar.days_of(date(local)[0], 1, 1) + 1


def _at_year(local: int, year: int) -> int:
    return at_date(year, *date(local)[1:], local)


def _at_month(local: int, month: int) -> int:
    year, _, day = date(local)
    return at_date(year, month, day, local)


def _year_of_era(local: int) -> int:
    year = date(local)[0]
    return year if year > 0 else 1 - year


def _of_era(local: int, year_of_era: int) -> int:
    return _at_year(local, year_of_era if date(local)[0] > 0 else 1 - year_of_era)


def _at_century(local: int, century: int) -> int:
    return _of_era(local, century * 100 + _year_of_era(local) % 100)


def _at_era(local: int, era: int) -> int:
    year = date(local)[0]
    return local if era == (year > 0) else _at_year(local, 1 - year)


def _floor_to(unit: int) -> Getter:
    return lambda local: local - local % unit


def _shifting(get: Getter, unit: int) -> Setter:
    """Set by moving the difference: right for every field whose step always has the same length."""
    return lambda local, value: local + (value - get(local)) * unit


def _cyclic(name: str, unit: Unit, step: int, within: Unit, cycle: int, *, clock: bool = False) -> Field:
    """A field of the time of day. On a `clock` the first value is called by the last number: 12 or 24."""
    count = cycle // step

    def get(local: int) -> int:
        value = local % cycle // step
        return value or count if clock else value

    def place(local: int, value: int) -> int:
        return local + (value % count - local % cycle // step) * step

    high = count if clock else count - 1
    return Field(name, unit, within, get, place, int(clock), lambda _: high, _floor_to(step))


def _weekday(local: int) -> int:
    return calendar.weekday_of(local // DAY)


def _day(local: int) -> int:
    return date(local)[2]


ERA: Final = Field(
    "era",
    Unit.ERAS,
    Unit.FOREVER,
    lambda local: int(date(local)[0] > 0),
    _at_era,
    0,
    lambda _: 1,
    lambda local: local,
)
CENTURY_OF_ERA: Final = Field(
    "centuryOfEra",
    Unit.CENTURIES,
    Unit.ERAS,
    lambda local: _year_of_era(local) // 100,
    _at_century,
    0,
    lambda _: MAX_YEAR // 100,
    lambda local: _year_start(date(local)[0] // 100 * 100),
)
YEAR_OF_ERA: Final = Field(
    "yearOfEra",
    Unit.YEARS,
    Unit.ERAS,
    _year_of_era,
    _of_era,
    1,
    lambda _: MAX_YEAR,
    lambda local: _year_start(date(local)[0]),
)
YEAR: Final = Field(
    "year",
    Unit.YEARS,
    Unit.FOREVER,
    lambda local: date(local)[0],
    _at_year,
    MIN_YEAR,
    lambda _: MAX_YEAR,
    lambda local: _year_start(date(local)[0]),
)
WEEKYEAR: Final = Field(
    "weekyear",
    Unit.YEARS,
    Unit.FOREVER,
    weekyear,
    at_weekyear,
    MIN_YEAR,
    lambda _: MAX_YEAR,
    lambda local: calendar.first_monday(weekyear(local)) * DAY,
)
MONTH_OF_YEAR: Final = Field(
    "monthOfYear",
    Unit.MONTHS,
    Unit.YEARS,
    lambda local: date(local)[1],
    _at_month,
    1,
    lambda _: 12,
    lambda local: calendar.days_of(*date(local)[:2], 1) * DAY,
)
WEEK_OF_WEEKYEAR: Final = Field(
    "weekOfWeekyear",
    Unit.WEEKS,
    Unit.YEARS,
    week,
    _shifting(week, 7 * DAY),
    1,
    lambda local: calendar.weeks_in(weekyear(local)),
    lambda local: (local // DAY - _weekday(local) + 1) * DAY,
)
DAY_OF_YEAR: Final = Field(
    "dayOfYear",
    Unit.DAYS,
    Unit.YEARS,
    _day_of_year,
    _shifting(_day_of_year, DAY),
    1,
    lambda local: 366 if calendar.is_leap(date(local)[0]) else 365,
    _floor_to(DAY),
)
DAY_OF_MONTH: Final = Field(
    "dayOfMonth",
    Unit.DAYS,
    Unit.MONTHS,
    _day,
    _shifting(_day, DAY),
    1,
    lambda local: calendar.month_length(*date(local)[:2]),
    _floor_to(DAY),
)
DAY_OF_WEEK: Final = Field(
    "dayOfWeek", Unit.DAYS, Unit.WEEKS, _weekday, _shifting(_weekday, DAY), 1, lambda _: 7, _floor_to(DAY)
)
HALFDAY_OF_DAY: Final = _cyclic("halfdayOfDay", Unit.HALFDAYS, 12 * HOUR, Unit.DAYS, DAY)
HOUR_OF_DAY: Final = _cyclic("hourOfDay", Unit.HOURS, HOUR, Unit.DAYS, DAY)
CLOCKHOUR_OF_DAY: Final = _cyclic("clockhourOfDay", Unit.HOURS, HOUR, Unit.DAYS, DAY, clock=True)
HOUR_OF_HALFDAY: Final = _cyclic("hourOfHalfday", Unit.HOURS, HOUR, Unit.HALFDAYS, 12 * HOUR)
CLOCKHOUR_OF_HALFDAY: Final = _cyclic(
    "clockhourOfHalfday", Unit.HOURS, HOUR, Unit.HALFDAYS, 12 * HOUR, clock=True
)
MINUTE_OF_DAY: Final = _cyclic("minuteOfDay", Unit.MINUTES, MINUTE, Unit.DAYS, DAY)
MINUTE_OF_HOUR: Final = _cyclic("minuteOfHour", Unit.MINUTES, MINUTE, Unit.HOURS, HOUR)
SECOND_OF_DAY: Final = _cyclic("secondOfDay", Unit.SECONDS, SECOND, Unit.DAYS, DAY)
SECOND_OF_MINUTE: Final = _cyclic("secondOfMinute", Unit.SECONDS, SECOND, Unit.MINUTES, MINUTE)
MILLIS_OF_DAY: Final = _cyclic("millisOfDay", Unit.MILLIS, 1, Unit.DAYS, DAY)
MILLIS_OF_SECOND: Final = _cyclic("millisOfSecond", Unit.MILLIS, 1, Unit.SECONDS, SECOND)
