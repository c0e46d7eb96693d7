"""Fire times against slow and obvious models: one walks the clock step by step, one walks the calendar."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice, takewhile
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from stretto.triggers import Cron, CronError, describe, fires, next_fire, parse_cron, parse_zone

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",  # half hours off UTC
    "America/Sao_Paulo",  # no midnight on the day of the change
    "Australia/Lord_Howe",  # changed by half an hour
    "Africa/Casablanca",  # changed around Ramadan
    "Asia/Beirut",
    "Pacific/Apia",  # had no 30 December 2011
    "UTC",
)


def changes(zone: tzinfo) -> list[datetime]:
    """The days from 2010 to 2020 on which the clock is changed; the first day where it never is."""
    days = [datetime(2010, 1, 1, tzinfo=UTC) + n * DAY for n in range(3650)]
    offsets = [day.astimezone(zone).utcoffset() for day in days]
    changed = [day for day, old, new in zip(days, offsets, offsets[1:], strict=False) if old != new]
    return changed or days[:1]


CHANGES = [(parse_zone(name), day) for name in ZONES for day in changes(parse_zone(name))]


class Clock(NamedTuple):
    """A cron that names times of the day only, as text and as the numbers it was written from."""

    text: str
    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]

    def shows(self, wall: datetime) -> bool:
        return wall.hour in self.hours and wall.minute in self.minutes and wall.second in self.seconds


def field(values: frozenset[int], size: int) -> str:
    return "*" if len(values) == size else ",".join(map(str, sorted(values)))


def numbers(size: int) -> st.SearchStrategy[frozenset[int]]:
    few = st.frozensets(st.integers(0, size - 1), min_size=1, max_size=4)
    return few | st.just(frozenset(range(size)))


@st.composite
def clocks(draw: st.DrawFn, *, with_seconds: bool) -> Clock:
    # The early hours are the ones that clock changes skip and repeat.
    night = st.frozensets(st.integers(0, 3), min_size=1)
    hours = draw(night | numbers(24))
    minutes = draw(numbers(60))
    seconds = draw(numbers(60)) if with_seconds else frozenset({0})
    times = f"{field(minutes, 60)} {field(hours, 24)}"
    text = f"{field(seconds, 60)} {times} * * ?" if with_seconds else f"{times} * * *"
    return Clock(text, seconds, minutes, hours)


def walk(clock: Clock, zone: tzinfo, start: datetime, end: datetime, step: timedelta) -> Iterator[datetime]:
    """The fires from `start` to before `end`, found by looking at the clock at every step."""
    open_hours = len(clock.hours) == 24
    moment = start
    before = (start - step).astimezone(zone).replace(tzinfo=None)
    while moment < end:
        showing = moment.astimezone(zone)
        wall = showing.replace(tzinfo=None, fold=0)
        skipped = []
        if not open_hours:
            count = max(0, (wall - before) // step - 1)
            skipped = [before + n * step for n in range(1, count + 1)]
        if (clock.shows(wall) and (open_hours or showing.fold == 0)) or any(map(clock.shows, skipped)):
            yield moment
        before = wall
        moment += step


def found(cron: Cron, zone: tzinfo, start: datetime, end: datetime) -> list[datetime]:
    """What the real search finds in the same stretch."""
    return list(takewhile(lambda fire: fire < end, fires(cron, start - timedelta(seconds=1), zone)))


@settings(deadline=None, max_examples=150)
@given(clock=clocks(with_seconds=False), change=st.sampled_from(CHANGES))
def test_fires_around_a_change_of_the_clock(clock: Clock, change: tuple[tzinfo, datetime]) -> None:
    zone, start = change
    end = start + 2 * DAY
    assert found(parse_cron(clock.text), zone, start, end) == list(walk(clock, zone, start, end, MINUTE))


@settings(deadline=None, max_examples=40)
@given(
    clock=clocks(with_seconds=True),
    change=st.sampled_from(CHANGES),
    hour=st.integers(0, 47),
)
def test_fires_to_the_second(clock: Clock, change: tuple[tzinfo, datetime], hour: int) -> None:
    zone, day = change
    start = day + timedelta(hours=hour)
    end = start + timedelta(hours=1)
    model = list(islice(walk(clock, zone, start, end, timedelta(seconds=1)), 500))
    real = list(islice(found(parse_cron(clock.text), zone, start, end), 500))
    assert real == model


@settings(deadline=None, max_examples=150)
@given(
    clock=clocks(with_seconds=False),
    change=st.sampled_from(CHANGES),
    offset=st.integers(0, 2 * 86_400_000 - 1),
)
def test_the_next_fire_after_any_millisecond(
    clock: Clock, change: tuple[tzinfo, datetime], offset: int
) -> None:
    zone, start = change
    after = start + timedelta(milliseconds=offset)
    fire = next_fire(parse_cron(clock.text), after, zone)
    model = (at for at in walk(clock, zone, start, start + 4 * DAY, MINUTE) if at > after)
    assert fire == next(model)


# ------------------------------------------------------------------------------------------------- days
SUNDAY_FIRST = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


def sunday_first(day: date) -> int:
    return (day.weekday() + 1) % 7 + 1


def last_of(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def nearest_workday(day: date, target: int) -> bool:
    month = [day.replace(day=n) for n in range(1, last_of(day).day + 1)]
    workdays = [one for one in month if one.weekday() < 5]
    return target <= len(month) and day == min(workdays, key=lambda one: abs(one.day - target))


def day_field(mark: str, n: int, k: int) -> tuple[str, str]:
    """A day of month and a day of week in the Quartz dialect."""
    return {
        "n": (f"{n}", "?"),
        "n/k": (f"{n}/{k}", "?"),
        "L": ("L", "?"),
        "L-k": (f"L-{k}", "?"),
        "LW": ("LW", "?"),
        "nW": (f"{n}W", "?"),
        "dow": ("?", SUNDAY_FIRST[n % 7]),
        "dowL": ("?", f"{n % 7 + 1}L"),
        "dow#k": ("?", f"{n % 7 + 1}#{k}"),
        "dow-dow": ("?", f"{n % 7 + 1}-{k}"),
    }[mark]


def is_named(mark: str, n: int, k: int, day: date) -> bool:
    """The same day rules, each as a question about one day."""
    weekday = sunday_first(day)
    start = n % 7 + 1
    last = last_of(day)
    return {
        "n": lambda: day.day == n,
        "n/k": lambda: day.day >= n and (day.day - n) % k == 0,
        "L": lambda: day == last,
        "L-k": lambda: day == last - k * DAY,
        "LW": lambda: nearest_workday(day, last.day),
        "nW": lambda: nearest_workday(day, n),
        "dow": lambda: weekday == start,
        "dowL": lambda: weekday == start and (day + 7 * DAY).month != day.month,
        "dow#k": lambda: weekday == start and (day.day + 6) // 7 == k,
        "dow-dow": lambda: (weekday - start) % 7 <= (k - start) % 7,
    }[mark]()


MARKS = ("n", "n/k", "L", "L-k", "LW", "nW", "dow", "dowL", "dow#k", "dow-dow")


@settings(deadline=None, max_examples=150)
@given(
    mark=st.sampled_from(MARKS),
    n=st.integers(1, 31),
    k=st.integers(1, 5),
    months=st.frozensets(st.integers(1, 12), min_size=1),
    year=st.integers(1970, 2096),
)
def test_days_against_the_calendar(mark: str, n: int, k: int, months: frozenset[int], year: int) -> None:
    month_day, weekday = day_field(mark, n, k)
    cron = parse_cron(f"0 0 0 {month_day} {field(months, 12)} {weekday}")
    start = datetime(year, 1, 1, tzinfo=UTC)
    end = datetime(year + 3, 1, 1, tzinfo=UTC)
    calendar = (start + number * DAY for number in range((end - start).days))
    assert found(cron, UTC, start, end) == [
        at for at in calendar if at.month in months and is_named(mark, n, k, at.date())
    ]


@settings(deadline=None, max_examples=100)
@given(
    month_day=st.integers(1, 31),
    weekday=st.integers(0, 7),
    year=st.integers(1970, 2097),
)
def test_a_unix_cron_takes_either_day(month_day: int, weekday: int, year: int) -> None:
    start = datetime(year, 1, 1, tzinfo=UTC)
    end = datetime(year + 1, 1, 1, tzinfo=UTC)
    calendar = (start + number * DAY for number in range((end - start).days))
    assert found(parse_cron(f"0 0 {month_day} * {weekday}"), UTC, start, end) == [
        at for at in calendar if at.day == month_day or at.isoweekday() % 7 == weekday % 7
    ]


# ------------------------------------------------------------------------------------------------- texts
SIGNS = st.text(alphabet="0123456789*/-,?LW#@ MONFRIJAN", max_size=24)


@settings(deadline=None, max_examples=300)
@given(text=st.one_of(st.text(max_size=30), SIGNS, SIGNS.map(lambda item: f"{item} * * * *")))
def test_any_text_is_a_cron_or_a_clear_error(text: str) -> None:
    try:
        cron = parse_cron(text)
    except CronError as error:
        said = str(error)
    else:
        next_fire(cron, datetime(2025, 1, 1, tzinfo=UTC), UTC)  # ends, with or without a fire
        said = describe(cron) + text
    assert text in said
