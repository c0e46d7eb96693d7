"""A moment in a zone, and its arithmetic: dates keep the wall clock, hours and less are elapsed time."""

from stretto.sel.dates import fields
from stretto.sel.dates.fields import DAY, Field
from stretto.sel.dates.zones import Zone, offset_text
from stretto.sel.errors import Kind, SelError

MAX_MILLIS = 2**63 - 1


class DateTime:
    """An instant seen in a zone. Immutable. `local` is what the wall clock there shows."""

    __slots__ = ("local", "millis", "zone")

    def __init__(self, millis: int, zone: Zone) -> None:
        if not -MAX_MILLIS <= millis <= MAX_MILLIS:
            raise SelError(
                Kind.ILLEGAL_ARGUMENT, "This moment is beyond what 64 bits of milliseconds can hold"
            )
        self.millis = millis
        self.zone = zone
        self.local = millis + zone.offset_at(millis)

    def __repr__(self) -> str:
        return f"DateTime({self.text()})"

    def text(self) -> str:
        """ISO 8601 with milliseconds: `2019-01-01T10:20:30.123+02:00`, or `Z` in UTC."""
        year, month, day = fields.date(self.local)
        seconds, millis = divmod(self.local % DAY, 1_000)
        sign = "-" if year < 0 else ""
        offset = self.local - self.millis
        return (
            f"{sign}{abs(year):04}-{month:02}-{day:02}T"
            f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}"
            f"{offset_text(offset) if offset else 'Z'}"
        )

    def in_zone(self, zone: Zone) -> "DateTime":
        """The same instant elsewhere."""
        return DateTime(self.millis, zone)

    def get(self, field: Field) -> int:
        """The value of a field on the wall clock."""
        return field.get(self.local)

    def with_field(self, field: Field, value: int) -> "DateTime":
        """With one field changed. It is an error if clocks skip that time."""
        local = field.set(self.local, value)
        changed = DateTime(self.zone.instant_of(local, keep=self.local - self.millis), self.zone)
        if changed.get(field) != value:
            raise SelError(Kind.ILLEGAL_ARGUMENT, f"{field.name} can not be {value}: clocks skip it there")
        return changed

    def plus_millis(self, amount: int) -> "DateTime":
        """That much later on a stopwatch."""
        return DateTime(self.millis + amount, self.zone)

    def plus_days(self, amount: int) -> "DateTime":
        """The same local time on another day; the earlier one if there are two."""
        return self._at(self.local + amount * DAY)

    def plus_months(self, amount: int) -> "DateTime":
        """The same day of another month, or its last day."""
        year, month, day = fields.date(self.local)
        years, month0 = divmod(month - 1 + amount, 12)
        return self._at(fields.at_date(self._year(year + years), month0 + 1, day, self.local))

    def at_start_of_day(self) -> "DateTime":
        """The first moment of the day: not always midnight."""
        midnight = self.local - self.local % DAY
        if self.zone.is_gap(midnight):
            return DateTime(self.zone.gap_end(midnight), self.zone)
        return self._at(midnight)

    def _at(self, local: int) -> "DateTime":
        return DateTime(self.zone.instant_of(local), self.zone)

    @staticmethod
    def _year(year: int) -> int:
        if not fields.MIN_YEAR <= year <= fields.MAX_YEAR:
            raise SelError(Kind.ILLEGAL_ARGUMENT, f"There is no year {year}")
        return year


def from_local(local: int, zone: Zone) -> DateTime:
    """The moment a wall clock shows `local`. It is an error if clocks skip that time."""
    if zone.is_gap(local):
        raise SelError(Kind.ILLEGAL_ARGUMENT, f"Clocks skip this local time in {zone.id}")
    return DateTime(zone.instant_of(local), zone)


class Property:
    """A field of a certain moment: what `dateTime.dayOfWeek()` gives."""

    __slots__ = ("field", "moment")

    def __init__(self, moment: DateTime, field: Field) -> None:
        self.moment = moment
        self.field = field

    def text(self) -> str:
        """Its text form."""
        return f"Property[{self.field.name}]"


class Days:
    """A number of days."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count

    @classmethod
    def between(cls, start: DateTime, end: DateTime) -> "Days":
        """Whole days on the wall clock of the first moment's zone; negative if the second is earlier."""
        span = end.in_zone(start.zone).local - start.local
        return cls(span // DAY if span >= 0 else -(-span // DAY))

    def text(self) -> str:
        """ISO 8601: `P31D`."""
        return f"P{self.count}D"
