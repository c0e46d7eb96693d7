"""A time trigger that is ready to be asked when it fires: its cron, its zone and its fuzzy delay."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from heapq import merge
from itertools import islice, takewhile
from typing import NamedTuple

import msgspec

from stretto.triggers.cron import Cron, parse_cron, parse_predefined
from stretto.triggers.errors import TriggerError, UnsupportedTriggerError
from stretto.triggers.firing import fires, next_fire


class Schedule(msgspec.Struct, frozen=True):
    """Fires `delay` after each fire of the cron."""

    cron: Cron
    zone: tzinfo
    delay: timedelta = timedelta()

    def next_fire(self, after: datetime) -> datetime | None:
        """The first fire later than `after`, in UTC; None when it never fires again."""
        fire = next_fire(self.cron, after - self.delay, self.zone)
        return None if fire is None else fire + self.delay

    def fires(self, after: datetime) -> Iterator[datetime]:
        """All fires later than `after`, in UTC and in order."""
        return (fire + self.delay for fire in fires(self.cron, after - self.delay, self.zone))


class Watch(NamedTuple):
    """A schedule, and the last fire of it that has been dealt with."""

    schedule: Schedule
    watermark: datetime


class Planned(NamedTuple):
    """A fire of the schedule with this number in the list of watches."""

    at: datetime
    number: int


def cron_of(kind: str, expression: str) -> Cron:
    """The cron behind a time trigger of type CRON or PREDEFINED; an INTERVAL has none."""
    match kind.upper():
        case "CRON":
            return parse_cron(expression)
        case "PREDEFINED":
            return parse_predefined(expression)
        case "INTERVAL":
            hint = "write the interval as a cron, such as `0 */3 * * *` for every three hours"
            raise UnsupportedTriggerError("a trigger of type INTERVAL has no next fire time", hint)
        case _:
            raise TriggerError(f"`{kind}` is not a type of time trigger", "one of CRON, PREDEFINED")


def plan(watches: Iterable[Watch], end: datetime, most: int) -> list[Planned]:
    """The fires after each watermark and before `end`, in order; at `most` so many, the earliest first."""
    lines = (_planned(watch, number, end) for number, watch in enumerate(watches))
    return list(islice(merge(*lines), most))


def earliest_fire(watches: Iterable[Watch]) -> datetime | None:
    """The first fire of any of them after its watermark; None when none fires again."""
    nexts = (schedule.next_fire(watermark) for schedule, watermark in watches)
    return min((fire for fire in nexts if fire is not None), default=None)


def _planned(watch: Watch, number: int, end: datetime) -> Iterator[Planned]:
    due = takewhile(lambda fire: fire < end, watch.schedule.fires(watch.watermark))
    return (Planned(fire, number) for fire in due)
