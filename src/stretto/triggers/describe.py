"""A cron in one short English phrase: `at 12:00 every day`."""

from collections.abc import Sequence
from itertools import groupby, product
from typing import Final, assert_never

from stretto.triggers.cron import EVERY_YEAR, Cron
from stretto.triggers.days import (
    EVERY_DAY,
    BeforeLast,
    DayRule,
    LastWeekday,
    NearestWorkday,
    NthWeekday,
    OnDays,
    OnWeekdays,
)

MOST_TIMES: Final = 4  # more of them are easier to read as minutes of hours

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NTH: Final = ("first", "second", "third", "fourth", "fifth")
_NUMBERS: Final = tuple(str(number) for number in range(EVERY_YEAR[-1] + 1))


def describe(cron: Cron) -> str:
    """What a cron says, for people; the time zone is not part of it."""
    parts = [_time(cron)]
    if cron.days != (EVERY_DAY,):
        parts.append(_joined([_rule(rule) for rule in cron.days], "or"))
    elif not parts[0].split(" of ")[-1].startswith("every"):  # not "every 5 minutes every day"
        parts.append("every day")
    if len(cron.months) < len(_MONTHS):
        parts.append("in " + _runs([month - 1 for month in cron.months], _MONTHS))
    if cron.years != EVERY_YEAR:
        parts.append("in " + _runs(cron.years, _NUMBERS))
    return " ".join(parts)


def _time(cron: Cron) -> str:
    """`at 02:05 and 02:15` for a few times of the day, otherwise a rhythm and where it beats."""
    wheels = (cron.hours, cron.minutes, cron.seconds)
    if len(cron.hours) * len(cron.minutes) * len(cron.seconds) <= MOST_TIMES:
        shown = wheels[:2] if cron.seconds == (0,) else wheels
        return "at " + _joined([":".join(f"{n:02}" for n in time) for time in product(*shown)])
    units = [(cron.seconds, "second", 60), (cron.minutes, "minute", 60), (cron.hours, "hour", 24)]
    while units[0][0] == (0,):
        del units[0]
    phrases = [_beat(*units[0])]
    for numbers, unit, size in units[1:]:
        if len(numbers) < size:
            phrases.append(f"{unit} {_runs(numbers, _NUMBERS)}")
        elif not phrases[-1].startswith("every"):
            phrases.append(f"every {unit}")
    return " of ".join(phrases)


def _beat(numbers: tuple[int, ...], unit: str, size: int) -> str:
    stride = size // len(numbers)
    if numbers != tuple(range(0, size, stride)):
        return f"at {unit} {_runs(numbers, _NUMBERS)}"
    return f"every {unit}" if stride == 1 else f"every {stride} {unit}s"


def _rule(rule: DayRule) -> str:
    match rule:
        case OnDays(days):
            return f"on day {_runs(days, _NUMBERS)} of the month"
        case BeforeLast(0):
            return "on the last day of the month"
        case BeforeLast(offset):
            return f"{offset} {'day' if offset == 1 else 'days'} before the last day of the month"
        case NearestWorkday(None):
            return "on the last workday of the month"
        case NearestWorkday(day):
            return f"on the workday nearest to day {day} of the month"
        case OnWeekdays(weekdays):
            return f"on {_runs(weekdays, _WEEKDAYS)}"
        case NthWeekday(weekday, nth):
            return f"on the {_NTH[nth - 1]} {_WEEKDAYS[weekday]} of the month"
        case LastWeekday(weekday):
            return f"on the last {_WEEKDAYS[weekday]} of the month"
    assert_never(rule)


def _runs(numbers: Sequence[int], names: Sequence[str]) -> str:
    """`Monday to Friday and Sunday`: three numbers or more in a row are named by their ends."""
    texts: list[str] = []
    for _, row in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [names[number] for _, number in row]
        texts += run if len(run) < 3 else [f"{run[0]} to {run[-1]}"]
    return _joined(texts)


def _joined(texts: list[str], word: str = "and") -> str:
    *most, last = texts
    return f"{', '.join(most)} {word} {last}" if most else last
