"""Which fires of a trigger start a run, if nobody came to them in time: no server ran, or the clock jumped.

A fire is missed if it is more than `IN_TIME` late. Fires that are in time always start; of the missed ones
those that `catch_up` says, and never more than the limit. The cost depends on the limit, not on how long
nobody was there.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final, NamedTuple

from stretto.model.trigger import CatchUp
from stretto.triggers.schedule import Schedule

IN_TIME: Final = timedelta(minutes=1)
DEFAULT_LIMIT: Final = 100  # missed fires that are started, unless the trigger asks for more
MOST_LIMIT: Final = 1_000  # that a trigger can ask for
MOST_COUNTED: Final = 1_000  # dropped fires
TICK: Final = timedelta(microseconds=1)  # less than between any two moments that are told apart


class Dropped(NamedTuple):
    """Missed fires that are not started: how many, at least, and the first and the last of them."""

    at_least: int
    is_exact: bool
    first: datetime
    last: datetime


class Due(NamedTuple):
    """The fires to start, in order, and what is dropped."""

    fires: tuple[datetime, ...]
    dropped: Dropped | None = None


def due_fires(
    schedule: Schedule, first: datetime, now: datetime, catch_up: CatchUp, limit: int = DEFAULT_LIMIT
) -> Due:
    """What to start at `now`, if `first` is the oldest fire that has not been dealt with."""
    since = max(first, now - IN_TIME)
    in_time = tuple(_fires(schedule, since, now + TICK))
    if first >= since:
        return Due(in_time)
    most = {CatchUp.ALL: limit, CatchUp.LATEST: 0 if in_time else 1, CatchUp.NONE: 0}[catch_up]
    newest = _newest(schedule, first, since, most + 1)
    if len(newest) <= most:
        return Due((*newest, *in_time))
    last, *kept = newest
    return Due((*kept, *in_time), _dropped(schedule, first, last))


def _fires(schedule: Schedule, since: datetime, until: datetime) -> Iterator[datetime]:
    """From `since` on, and before `until`."""
    return takewhile(lambda fire: fire < until, schedule.fires(since - TICK))


def _newest(schedule: Schedule, first: datetime, until: datetime, count: int) -> list[datetime]:
    """The last fires from `first` on and before `until`, at most so many. It looks back twice as far each
    time; where that finds far too many, because the schedule fires in bursts, it looks less far again.
    """
    few, many = until, None  # from when on there are too few fires, and far too many
    while True:
        further = max(first, few - max(until - few, IN_TIME))
        start = further if many is None else many + (few - many) / 2
        found = list(islice(_fires(schedule, start, until), 2 * count + 1))
        if len(found) > 2 * count:
            many = start
        elif len(found) >= count or start == first:
            return found[-count:]
        else:
            few = start


def _dropped(schedule: Schedule, first: datetime, last: datetime) -> Dropped:
    count = sum(1 for _fire in islice(_fires(schedule, first, last + TICK), MOST_COUNTED + 1))
    return Dropped(min(count, MOST_COUNTED), count <= MOST_COUNTED, first, last)
