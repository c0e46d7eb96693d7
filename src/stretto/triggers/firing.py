"""When a cron fires in a zone, also in the nights in which the clock is changed.

A cron that leaves the hour open follows elapsed time: it fires whenever the clock shows a match, so a
repeated hour counts twice and a skipped one not at all. A cron with fixed hours fires once for each match:
at the first showing of a repeated time, and at the end of the gap for the times that are skipped.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, pairwise
from typing import Final

from stretto.triggers.cron import Cron
from stretto.triggers.dialects import FIRST_YEAR, LAST_YEAR
from stretto.triggers.search import first_match
from stretto.triggers.wallclock import Shift, instant, shift_at

SECOND: Final = timedelta(seconds=1)
# No zone is a whole day off UTC, so the years of a cron lie between these instants wherever they are read.
DAWN: Final = datetime(FIRST_YEAR - 1, 12, 31, tzinfo=UTC)
DUSK: Final = datetime(LAST_YEAR + 1, 1, 2, tzinfo=UTC)


def next_fire(cron: Cron, after: datetime, zone: tzinfo) -> datetime | None:
    """The first fire later than `after`, in UTC; None when the cron never fires again."""
    if after.tzinfo is None:
        raise ValueError(f"{after} has no time zone, so it is not a point in time")
    if after >= DUSK:
        return None
    showing = max(after, DAWN).astimezone(zone)
    wall = showing.replace(tzinfo=None, microsecond=0, fold=0)
    shift = shift_at(wall, zone)
    if shift is None:
        return _fire_from(cron, wall + SECOND, zone)
    return _fire_in_repeated_time(cron, wall, shift, zone, again=showing.fold == 1)


def fires(cron: Cron, after: datetime, zone: tzinfo) -> Iterator[datetime]:
    """All fires later than `after`, in UTC and in order."""
    fire = next_fire(cron, after, zone)
    while fire is not None:
        yield fire
        fire = next_fire(cron, fire, zone)


def starts_nothing(cron: Cron) -> bool:
    """Whether it names no day that there is, such as a 30 February."""
    return first_match(cron, datetime(FIRST_YEAR, 1, 1)) is None  # noqa: DTZ001 - of the wall clock


def next_gap(cron: Cron, after: datetime, zone: tzinfo) -> timedelta | None:
    """The time between the next two fires; None when fewer than two are left."""
    return next((later - sooner for sooner, later in pairwise(islice(fires(cron, after, zone), 2))), None)


def next_two_apart(cron: Cron, after: datetime, zone: tzinfo, least: timedelta) -> bool:
    """Whether the next two fires are at least so far apart; a cron that fires once more, or never, is."""
    gap = next_gap(cron, after, zone)
    return gap is None or gap >= least


def _fire_from(cron: Cron, start: datetime, zone: tzinfo) -> datetime | None:
    """The fire of the first match at or after a wall time that is not being shown again."""
    while match := first_match(cron, start):
        shift = shift_at(match, zone)
        if shift is None or shift.repeats:
            return instant(match, zone)
        if not cron.every_hour:
            return shift.at
        start = shift.wall_end
    return None


def _fire_in_repeated_time(
    cron: Cron, wall: datetime, shift: Shift, zone: tzinfo, *, again: bool
) -> datetime | None:
    """The next fire after a wall time that is shown twice, looked at in its first showing or `again`."""
    start = wall + SECOND
    if not again:
        match = first_match(cron, start)
        if match and match < shift.wall_end:
            return instant(match, zone)
        start = shift.wall_start
    if cron.every_hour:
        match = first_match(cron, start)
        if match and match < shift.wall_end:
            return instant(match, zone, again=True)
    return _fire_from(cron, shift.wall_end, zone)
