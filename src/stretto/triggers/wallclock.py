"""Where the wall clock of a zone skips or repeats a stretch of time."""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple


class Shift(NamedTuple):
    """A change of the clock: it is `before` ahead of UTC until the instant `at`, and `after` from then on."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def repeats(self) -> bool:
        """Set back, the clock shows a stretch twice; set forward, it skips one."""
        return self.after < self.before

    @property
    def wall_start(self) -> datetime:
        """The first wall time that is skipped or repeated."""
        return _without_zone(self.at) + min(self.before, self.after)

    @property
    def wall_end(self) -> datetime:
        """The first wall time behind it."""
        return _without_zone(self.at) + max(self.before, self.after)


def instant(wall: datetime, zone: tzinfo, *, again: bool = False) -> datetime:
    """When the clock shows a wall time, in UTC; of a repeated time the first showing, or the second one."""
    return wall.replace(tzinfo=zone, fold=int(again)).astimezone(UTC)


def shift_at(wall: datetime, zone: tzinfo) -> Shift | None:
    """The change that skips or repeats a wall time; None for all ordinary times.

    A zone reads such a time with the offset before the change first, and with the one after it `again`.
    """
    first, second = instant(wall, zone), instant(wall, zone, again=True)
    if first == second:
        return None
    before, after = wall - _without_zone(first), wall - _without_zone(second)
    early, late = sorted((first, second))

    def has_changed(seconds: int) -> bool:
        moment = early + timedelta(seconds=seconds)
        return _without_zone(moment.astimezone(zone)) - _without_zone(moment) == after

    span = (late - early) // timedelta(seconds=1)
    return Shift(early + timedelta(seconds=bisect_left(range(span), True, key=has_changed)), before, after)


def _without_zone(moment: datetime) -> datetime:
    return moment.replace(tzinfo=None, fold=0)
