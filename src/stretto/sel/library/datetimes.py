"""The methods of DateTime, DateTimeZone, DateTimeFormatter, Property and Days."""

from collections.abc import Callable
from typing import Final

from stretto.sel.dates import fields
from stretto.sel.dates.datetime import DateTime, Days, Property
from stretto.sel.dates.fields import HOUR, MINUTE, SECOND, Field
from stretto.sel.dates.formatter import Formatter
from stretto.sel.dates.pattern import MONTHS, WEEKDAYS
from stretto.sel.dates.zones import UTC, Zone, zone
from stretto.sel.errors import Kind, SelError, class_cast
from stretto.sel.library.arguments import instance, integer, text
from stretto.sel.runtime.frame import Frame, Method
from stretto.sel.values import Type, Unset, Value, is_null, type_of

SHIFTS: Final[dict[str, Callable[[DateTime, int], DateTime]]] = {
    "Years": lambda moment, count: moment.plus_months(12 * count),
    "Months": DateTime.plus_months,
    "Weeks": lambda moment, count: moment.plus_days(7 * count),
    "Days": DateTime.plus_days,
    "Hours": lambda moment, count: moment.plus_millis(count * HOUR),
    "Minutes": lambda moment, count: moment.plus_millis(count * MINUTE),
    "Seconds": lambda moment, count: moment.plus_millis(count * SECOND),
    "Millis": DateTime.plus_millis,
}
SETTABLE: Final = (
    fields.YEAR,
    fields.WEEKYEAR,
    fields.MONTH_OF_YEAR,
    fields.WEEK_OF_WEEKYEAR,
    fields.DAY_OF_YEAR,
    fields.DAY_OF_MONTH,
    fields.DAY_OF_WEEK,
    fields.HOUR_OF_DAY,
    fields.MINUTE_OF_HOUR,
    fields.SECOND_OF_MINUTE,
    fields.MILLIS_OF_SECOND,
    fields.MILLIS_OF_DAY,
)
PROPERTIES: Final = (*SETTABLE[1:], fields.MINUTE_OF_DAY, fields.SECOND_OF_DAY)
GETTERS: Final = (fields.YEAR, *PROPERTIES)


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _shift(function: Callable[[DateTime, int], DateTime], sign: int) -> Method:
    return lambda _, receiver, count: function(receiver, sign * integer(count))


def _setter(field: Field) -> Method:
    return lambda _, receiver, value: receiver.with_field(field, integer(value))


def _getter(field: Field) -> Method:
    return lambda _, receiver: field.get(receiver.local)


def _property(field: Field) -> Method:
    return lambda _, receiver: Property(receiver, field)


def _compared(compare: Callable[[int, int], bool]) -> Method:
    def method(frame: Frame, receiver: DateTime, other: Value) -> bool:
        # A null moment is now, as in Joda.
        millis = frame.now() if is_null(other) else instance(other, DateTime).millis
        return compare(receiver.millis, millis)

    return method


def pivot_year(frame: Frame) -> int:
    """The middle of the hundred years that two digits can mean; only they need to know the time."""
    now = frame.environment.now_millis
    return fields.date(now or 0)[0] - 30


def _parse(frame: Frame, _: Value, source: Value, formatter: Value) -> DateTime:
    return instance(formatter, Formatter).parse(text(source), pivot_year(frame))


DATETIME: Final[dict[str, Method]] = {
    "toString/0": lambda _, receiver: receiver.text(),
    "toString/1": lambda _, receiver, pattern: Formatter.of(text(pattern)).print(receiver),
    "withZone/1": lambda _, receiver, other: receiver.in_zone(instance(other, Zone)),
    "toDateTime/1": lambda _, receiver, other: receiver.in_zone(instance(other, Zone)),
    "withTimeAtStartOfDay/0": lambda _, receiver: receiver.at_start_of_day(),
    "isAfter/1": _compared(lambda left, right: left > right),
    "isBefore/1": _compared(lambda left, right: left < right),
    "isEqual/1": _compared(lambda left, right: left == right),
    "getMillis/0": lambda _, receiver: receiver.millis,
    **{f"plus{name}/1": _shift(function, 1) for name, function in SHIFTS.items()},
    **{f"minus{name}/1": _shift(function, -1) for name, function in SHIFTS.items()},
    **{f"with{_capital(field.name)}/1": _setter(field) for field in SETTABLE},
    **{f"get{_capital(field.name)}/0": _getter(field) for field in GETTERS},
    **{f"{field.name}/0": _property(field) for field in PROPERTIES},
}
DATETIME_STATIC: Final[dict[str, Method]] = {"parse/2": _parse}
"""What only the class name `DateTime` can do."""


# ------------------------------------------------------------------------------------------------ zones
def _for_id(_: Frame, __: Value, name: Value) -> Zone:
    if type(name) is Unset and name.type is Type.STRING:
        return UTC  # no name means the default zone
    if type(name) is not str:
        raise class_cast("a STRING", type_of(name))
    return zone(name)


ZONE_STATIC: Final[dict[str, Method]] = {"forID/1": _for_id}
ZONE: Final[dict[str, Method]] = {
    **ZONE_STATIC,
    "getOffset/1": lambda _, receiver, moment: receiver.offset_at(instance(moment, DateTime).millis),
}
ZONE_FIELDS: Final = {"UTC": UTC}


# ------------------------------------------------------------------------------------------- formatters
def _for_pattern(_: Frame, __: Value, pattern: Value) -> Formatter:
    if type(pattern) is not str:
        raise class_cast("a STRING as the pattern", type_of(pattern))
    return Formatter.of(pattern)


def _printed(_: Frame, receiver: Formatter, moment: Value) -> str:
    if type(moment) is int:
        return receiver.print(DateTime(moment, UTC))
    return receiver.print(instance(moment, DateTime))


def _read(frame: Frame, receiver: Formatter, source: Value) -> DateTime:
    digits = str(source) if type(source) is int else source
    if type(digits) is not str:
        raise class_cast("a STRING or a LONG", type_of(source))
    return receiver.parse(digits, pivot_year(frame))


def _read_millis(frame: Frame, receiver: Formatter, source: Value) -> int:
    if type(source) is not str:
        raise class_cast("a STRING", type_of(source))
    return receiver.parse(source, pivot_year(frame)).millis


FORMATTER_STATIC: Final[dict[str, Method]] = {"forPattern/1": _for_pattern}
FORMATTER: Final[dict[str, Method]] = {
    **FORMATTER_STATIC,
    "withZone/1": lambda _, receiver, other: receiver.in_zone(instance(other, Zone)),
    "parseDateTime/1": _read,
    "parseMillis/1": _read_millis,
    "print/1": _printed,
}


# -------------------------------------------------------------------------------- properties and days
def _as_text(_: Frame, receiver: Property) -> str:
    value = receiver.moment.get(receiver.field)
    if receiver.field is fields.MONTH_OF_YEAR:
        return MONTHS[value - 1]
    return WEEKDAYS[value - 1] if receiver.field is fields.DAY_OF_WEEK else str(value)


def _extreme(*, highest: bool) -> Method:
    def method(_: Frame, receiver: Property) -> DateTime:
        moment, field = receiver.moment, receiver.field
        return moment.with_field(field, field.high(moment.local) if highest else field.low)

    return method


PROPERTY: Final[dict[str, Method]] = {
    "get/0": lambda _, receiver: receiver.moment.get(receiver.field),
    "getAsText/0": _as_text,
    "withMinimumValue/0": _extreme(highest=False),
    "withMaximumValue/0": _extreme(highest=True),
}


def _between(_: Frame, __: Value, start: Value, end: Value) -> Days:
    days = Days.between(instance(start, DateTime), instance(end, DateTime))
    if abs(days.count) >= 2**31:
        raise SelError(Kind.ARITHMETIC, "There are more days in between than 32 bits can count")
    return days


DAYS_STATIC: Final[dict[str, Method]] = {"daysBetween/2": _between}
DAYS: Final[dict[str, Method]] = {**DAYS_STATIC, "getDays/0": lambda _, receiver: receiver.count}
