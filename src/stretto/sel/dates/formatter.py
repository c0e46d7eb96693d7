"""`DateTimeFormat.forPattern(...)`: prints moments and reads them."""

from stretto.sel.dates.bucket import Bucket
from stretto.sel.dates.datetime import DateTime
from stretto.sel.dates.parts import Part
from stretto.sel.dates.pattern import compile_pattern
from stretto.sel.dates.zones import UTC, Zone
from stretto.sel.errors import Kind, SelError


class Formatter:
    """A pattern, and the zone to print and read in if it has one. Immutable."""

    __slots__ = ("_parts", "_zone")

    def __init__(self, parts: tuple[Part, ...], zone: Zone | None = None) -> None:
        self._parts = parts
        self._zone = zone

    @classmethod
    def of(cls, pattern: str) -> "Formatter":
        """The formatter of a pattern."""
        return cls(compile_pattern(pattern))

    def in_zone(self, zone: Zone) -> "Formatter":
        """The same pattern, in a zone."""
        return Formatter(self._parts, zone)

    def print(self, moment: DateTime) -> str:
        """The text of a moment, in its own zone unless the formatter has one."""
        if self._zone is not None:
            moment = moment.in_zone(self._zone)
        return "".join([part.print(moment) for part in self._parts])

    def parse(self, text: str, pivot_year: int) -> DateTime:
        """The moment a text means. Two-digit years lie from 50 years before `pivot_year` to 49 after."""
        bucket = Bucket(pivot_year)
        position = 0
        for part in self._parts:
            end = part.read(text, position, bucket)
            if end < 0:
                raise malformed(text, position)
            position = end
        if position != len(text):
            raise malformed(text, position)
        moment = bucket.moment(self._zone or UTC)
        return moment.in_zone(self._zone) if self._zone is not None else moment


def malformed(text: str, position: int) -> SelError:
    """The error of a text that is no date, saying from where."""
    place = f" from {text[position:]!r} on" if 0 < position < len(text) else ""
    return SelError(Kind.ILLEGAL_ARGUMENT, f"The text {text!r} is not in the expected form{place}")
