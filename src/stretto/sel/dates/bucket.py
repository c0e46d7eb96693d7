"""What was read from a date's text so far, and the moment it makes together."""

from stretto.sel.dates import fields
from stretto.sel.dates.datetime import DateTime, from_local
from stretto.sel.dates.fields import Field, Unit
from stretto.sel.dates.zones import Zone

DEFAULT_YEAR = 2000  # of a text that begins with its month or day: a leap year, so that 29 February is read


class Bucket:
    """Fields are applied to 1970-01-01T00:00 from the largest to the smallest, whatever their order."""

    def __init__(self, pivot_year: int) -> None:
        self.pivot_year = pivot_year
        self.offset: int | None = None
        self.zone: Zone | None = None
        self._saved: list[tuple[Field, int]] = []

    def save(self, field: Field, value: int) -> None:
        """Remember a field's value."""
        self._saved.append((field, value))

    def moment(self, zone: Zone) -> DateTime:
        """The moment, in the zone that was read, else in `zone`; an error for a value out of range."""
        local = self._local()
        if self.offset is not None:
            return DateTime(local - self.offset, zone)
        return from_local(local, self.zone or zone)

    def _local(self) -> int:
        saved = sorted(self._saved, key=lambda item: (-item[0].within, -item[0].unit))
        if saved and Unit.DAYS <= saved[0][0].unit <= Unit.MONTHS:
            saved.insert(0, (fields.YEAR, DEFAULT_YEAR))
        local = 0
        for field, value in saved:
            local = field.floor(field.set(local, value))
        for field, value in saved:  # again: a later field may have moved an earlier one (a week its year)
            local = field.set(local, value)
        return local
