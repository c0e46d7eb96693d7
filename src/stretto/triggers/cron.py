"""Cron expressions: the text a person writes, and the moments of the wall clock it stands for."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.model.suggest import did_you_mean
from stretto.triggers.days import EVERY_DAY, DayRule, Month
from stretto.triggers.dialects import FIRST_YEAR, LAST_YEAR, QUARTZ, UNIX, Field
from stretto.triggers.errors import CronError
from stretto.triggers.fields import read_month_days, read_numbers, read_weekdays
from stretto.triggers.snippets import Snippet

PREDEFINED: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
EVERY_YEAR: Final = tuple(range(FIRST_YEAR, LAST_YEAR + 1))
HOURS_OF_A_DAY: Final = 24
SHAPES: Final = (
    "UNIX: minute, hour, day of month, month, day of week; "
    "Quartz: a second before those, and a year behind them if you like"
)


class Cron(msgspec.Struct, frozen=True):
    """A cron that was understood. The numbers are in ascending order; a day counts if any rule names it."""

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[DayRule, ...]
    months: tuple[int, ...]
    years: tuple[int, ...]

    @property
    def every_hour(self) -> bool:
        """Whether the hour is left open: such a cron follows elapsed time when the clock is changed."""
        return len(self.hours) == HOURS_OF_A_DAY

    def days_in(self, year: int, month: int) -> list[int]:
        """The days of a month on which it fires, in ascending order."""
        page = Month.of(year, month)
        return sorted(set[int]().union(*(rule.days_in(page) for rule in self.days)))


def parse_cron(text: str) -> Cron:
    """A UNIX cron, else a Quartz cron, else a predefined name such as `@daily`; `CronError` otherwise."""
    words = list(re.finditer(r"\S+", text))
    match len(words):
        case 1:
            return parse_predefined(text)
        case 5:
            return _unix(text, _snippets(words, UNIX))
        case 6 | 7:
            return _quartz(text, _snippets(words, QUARTZ))
        case count:
            raise CronError(text, None, 1, f"{count} fields are neither a UNIX nor a Quartz cron", SHAPES)


def parse_predefined(text: str) -> Cron:
    """`@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`, in any case, with or without the `@`."""
    name = "@" + text.strip().lower().removeprefix("@")
    if name not in PREDEFINED:
        hint = did_you_mean(name, PREDEFINED) or f"one of {', '.join(PREDEFINED)}"
        raise CronError(text, None, 1, "neither a cron nor a predefined name", hint)
    return parse_cron(PREDEFINED[name])


def _snippets(words: list[re.Match[str]], dialect: tuple[Field, ...]) -> list[Snippet]:
    return [
        Snippet(word[0], word.start() + 1, field, word.string)
        for word, field in zip(words, dialect, strict=False)  # the year may be left out
    ]


def _unix(text: str, fields: list[Snippet]) -> Cron:
    minute, hour, month_day, month, weekday = fields
    return Cron(
        text=text,
        seconds=(0,),
        minutes=read_numbers(minute),
        hours=read_numbers(hour),
        days=_day_rules(month_day, weekday),
        months=read_numbers(month),
        years=EVERY_YEAR,
    )


def _quartz(text: str, fields: list[Snippet]) -> Cron:
    second, minute, hour, month_day, month, weekday, *year = fields
    _expect_one_open_day(month_day, weekday)
    return Cron(
        text=text,
        seconds=read_numbers(second),
        minutes=read_numbers(minute),
        hours=read_numbers(hour),
        days=_day_rules(month_day, weekday),
        months=read_numbers(month),
        years=read_numbers(year[0]) if year else EVERY_YEAR,
    )


def _day_rules(month_day: Snippet, weekday: Snippet) -> tuple[DayRule, ...]:
    """A UNIX cron that restricts both fields fires when either of them matches; Quartz opens one of them."""
    return read_month_days(month_day) + read_weekdays(weekday) or (EVERY_DAY,)


def _expect_one_open_day(month_day: Snippet, weekday: Snippet) -> None:
    if "?" not in (month_day.text, weekday.text):
        message = "a Quartz cron restricts the day of month or the day of week, not both"
        raise weekday.error(message, "write `?` in the one that is left open")
    if month_day.text == weekday.text:
        raise weekday.error("the day of month is `?` already", "write `*` for every day")
