"""The first time of the wall clock, from a given one on, that a cron names. It jumps from field to field."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from stretto.triggers.cron import Cron

START_OF_MONTH: Final = (1, 0, 0, 0)


def first_match(cron: Cron, start: datetime) -> datetime | None:
    """The first match at or after `start`, both without a time zone; None when there is none any more.

    Each month that the cron names is looked at once, so the search for a 30 February ends soon, too.
    """
    this_month = floor = (start.year, start.month)
    while page := _first_from((cron.years, cron.months), floor):
        year, month = page
        opening = (
            (start.day, start.hour, start.minute, start.second) if page == this_month else START_OF_MONTH
        )
        moment = _first_from((cron.days_in(year, month), cron.hours, cron.minutes, cron.seconds), opening)
        if moment:
            day, hour, minute, second = moment
            return start.replace(year, month, day, hour, minute, second, 0)
        floor = (year, month + 1)
    return None


def _first_from(wheels: Sequence[Sequence[int]], floor: Sequence[int]) -> tuple[int, ...] | None:
    """The first reading of a row of wheels, the slowest first, that is not below `floor`."""
    if not wheels:
        return ()
    wheel, *faster = wheels
    position = bisect_left(wheel, floor[0])
    if position < len(wheel) and wheel[position] == floor[0]:
        rest = _first_from(faster, floor[1:])
        if rest is not None:
            return (wheel[position], *rest)
        position += 1
    if position == len(wheel):
        return None
    return (wheel[position], *(next_wheel[0] for next_wheel in faster))
