"""The proleptic Gregorian calendar and ISO weeks, on days counted from 1970-01-01. Any year works."""

from typing import Final

DAYS_PER_400_YEARS: Final = 146_097
DAYS_TO_1970: Final = 719_468  # from 0000-03-01, where this arithmetic begins its years


def days_of(year: int, month: int, day: int) -> int:
    """The day number of a date. Years are counted from March, so that the leap day comes last."""
    year -= month <= 2
    cycle, in_cycle = divmod(year, 400)
    in_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return (
        cycle * DAYS_PER_400_YEARS + in_cycle * 365 + in_cycle // 4 - in_cycle // 100 + in_year - DAYS_TO_1970
    )


def date_of(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day number."""
    cycle, in_cycle = divmod(days + DAYS_TO_1970, DAYS_PER_400_YEARS)
    year = (in_cycle - in_cycle // 1_460 + in_cycle // 36_524 - in_cycle // 146_096) // 365
    in_year = in_cycle - (365 * year + year // 4 - year // 100)
    month = (5 * in_year + 2) // 153
    day = in_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return cycle * 400 + year + (month <= 2), month, day


def is_leap(year: int) -> bool:
    """Whether the year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def weekday_of(days: int) -> int:
    """Monday is 1, Sunday is 7."""
    return (days + 3) % 7 + 1


def first_monday(weekyear: int) -> int:
    """The day number on which a week year begins: the Monday of the week with 4 January."""
    fourth = days_of(weekyear, 1, 4)
    return fourth - (weekday_of(fourth) - 1)


def weekyear_of(days: int) -> int:
    """The week year of a day: the year of the Thursday of its week."""
    return date_of(days - weekday_of(days) + 4)[0]


def weeks_in(weekyear: int) -> int:
    """52 or 53."""
    return (first_monday(weekyear + 1) - first_monday(weekyear)) // 7
