"""The two ways to write a cron, field by field: UNIX with five fields, Quartz with six or seven."""

from typing import Final

import msgspec

FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2099  # no cron of either dialect fires after this year, so every search ends

MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

DAY_MARKS_ARE_QUARTZ: Final = "`?`, `L`, `W` and `#` need the Quartz form: six or seven fields, seconds first"
DAY_MARKS_ARE_FOR_DAYS: Final = "`?`, `L`, `W` and `#` belong in the fields of the day"


class Field(msgspec.Struct, frozen=True):
    """One field of a dialect: the numbers it takes, and the names of those numbers from `low` upwards."""

    title: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    marks: str = ""  # what it takes beside numbers, names, `*`, `,`, `-` and `/`
    wraps: bool = False  # `22-2` runs over the end and goes on at the start
    hint: str | None = None  # the usual slip behind a number that is out of range
    mark_hint: str = DAY_MARKS_ARE_FOR_DAYS

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    @property
    def allowed(self) -> str:
        """What a reader may write, for messages."""
        names = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{self.low}-{self.high}{names}"


UNIX: Final = (
    Field("minute", 0, 59),
    Field("hour", 0, 23, hint="the minute stands before the hour, and midnight is hour 0"),
    Field("day of month", 1, 31, mark_hint=DAY_MARKS_ARE_QUARTZ),
    Field("month", 1, 12, MONTHS),
    Field("day of week", 0, 7, WEEKDAYS, mark_hint=DAY_MARKS_ARE_QUARTZ),  # Sunday is 0 and 7
)

QUARTZ: Final = (
    Field("second", 0, 59, wraps=True),
    Field("minute", 0, 59, wraps=True),
    Field("hour", 0, 23, wraps=True, hint="second and minute stand before the hour, and midnight is hour 0"),
    Field("day of month", 1, 31, marks="?LW", wraps=True),
    Field("month", 1, 12, MONTHS, wraps=True),
    Field(
        "day of week", 1, 7, WEEKDAYS, marks="?L#", wraps=True, hint="a Quartz week begins with Sunday = 1"
    ),
    Field("year", FIRST_YEAR, LAST_YEAR),
)
