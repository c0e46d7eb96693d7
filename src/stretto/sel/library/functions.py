"""`Util`: functions on dates written as yyyyMMdd, ranges, deadlines and JSON."""

from typing import Final

from stretto.sel.dates.datetime import DateTime
from stretto.sel.dates.durations import parse_duration
from stretto.sel.dates.fields import DAY, HOUR
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.zones import UTC, zone
from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library.arguments import digits, instance, integer
from stretto.sel.numbers import INT_MAX, INT_MIN, not_a_number, parse_long
from stretto.sel.runtime.frame import VALUE_SIZE, Frame, Method
from stretto.sel.text import json_text
from stretto.sel.values import LongArray, Value, type_of

DATE: Final = Formatter.of("yyyyMMdd").in_zone(UTC)
VISITS_PER_DATE: Final = 200
HOURLY: Final = Formatter.of("yyyyMMddHH")


def moment_of(value: Value) -> DateTime:
    """The UTC midnight of a yyyyMMdd text or number."""
    return DATE.parse(digits(value), pivot_year=0)


def parse_int(value: str) -> int:
    """A 32-bit integer."""
    number = parse_long(value)
    if INT_MIN <= number <= INT_MAX:
        return number
    raise not_a_number(value)


def date_to_millis(_: Frame, __: Value, date: Value) -> int:
    """`Util.dateIntToTs(date)`."""
    return moment_of(date).millis


def millis_to_date(_: Frame, __: Value, millis: Value) -> str:
    """`Util.tsToDateInt(millis)`."""
    return DATE.print(DateTime(parse_long(digits(millis)), UTC))


def increment_date(_: Frame, __: Value, date: Value, days: Value) -> str:
    """`Util.incrementDateInt(date, days)`."""
    if type(days) is not int:
        raise class_cast("a LONG number of days", type_of(days))
    return DATE.print(moment_of(date).plus_days(integer(days)))


def hour_to_millis(_: Frame, __: Value, *arguments: Value) -> int:
    """`Util.dateIntHourToTs(date, hour, zone, days, hours)`: that hour, so many days and hours earlier."""
    date, hour, zone_id, days, hours = map(digits, arguments)
    moment = HOURLY.in_zone(zone(zone_id)).parse(date + hour, pivot_year=0)
    return moment.plus_days(-parse_int(days)).plus_millis(-parse_int(hours) * HOUR).millis


def _range(frame: Frame, start: int, stop: int, step: int) -> range:
    numbers = range(start, stop, step)
    frame.pay(VALUE_SIZE * len(numbers))
    return numbers


def dates_between(frame: Frame, _: Value, start: Value, end: Value, step: Value) -> LongArray:
    """`Util.dateIntsBetween(from, to, step)`: without `to`; a negative step gives them in reverse."""
    days = parse_int(digits(step))
    first, last = (moment_of(date).millis // DAY for date in (start, end))
    if days == 0:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "Dates can not be counted in steps of 0")
    low, high = (first, last) if days > 0 else (last, first)
    numbers = _range(frame, low, high, abs(days))
    frame.spend(VISITS_PER_DATE * len(numbers))
    dates = [int(DATE.print(DateTime(day * DAY, UTC))) for day in numbers]
    return LongArray(dates if days > 0 else reversed(dates))


def ints_between(frame: Frame, _: Value, start: Value, end: Value, step: Value) -> LongArray:
    """`Util.intsBetween(from, to, step)`: without `to`."""
    first, last, stride = (parse_int(digits(value)) for value in (start, end, step))
    if stride == 0:
        if first > last:
            raise SelError(Kind.ILLEGAL_ARGUMENT, "Numbers can not be counted in steps of 0")
        return LongArray()
    return LongArray(_range(frame, first, last, stride))


def _timeout(frame: Frame, deadline: DateTime, duration: Value) -> str:
    if type(duration) is not str:
        raise class_cast("a STRING as the duration", type_of(duration))
    return f"{max(0, deadline.millis + parse_duration(duration) - frame.now())} milliseconds"


def timeout_of_moment(frame: Frame, _: Value, deadline: Value, duration: Value) -> str:
    """`Util.timeoutForDateTimeDeadline(moment, duration)`."""
    return _timeout(frame, instance(deadline, DateTime), duration)


def timeout_of_date(frame: Frame, _: Value, deadline: Value, duration: Value) -> str:
    """`Util.timeoutForDateIntDeadline(date, duration)`."""
    return _timeout(frame, moment_of(deadline), duration)


def to_json(frame: Frame, _: Value, arguments: list[Value]) -> str:
    """`Util.toJson(value)`."""
    if len(arguments) != 1:
        raise SelError(Kind.ILLEGAL_ARGUMENT, "toJson takes exactly one argument")
    return json_text(arguments[0], frame.pay_text)


METHODS: Final[dict[str, Method]] = {
    "dateIntToTs/1": date_to_millis,
    "tsToDateInt/1": millis_to_date,
    "incrementDateInt/2": increment_date,
    "dateIntHourToTs/5": hour_to_millis,
    "dateIntsBetween/3": dates_between,
    "intsBetween/3": ints_between,
    "timeoutForDateTimeDeadline/2": timeout_of_moment,
    "timeoutForDateIntDeadline/2": timeout_of_date,
}
VARIADIC: Final[dict[str, Method]] = {"toJson": to_json}
