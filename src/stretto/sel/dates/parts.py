"""The parts of a pattern: each prints itself, and reads itself from a position of a text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from stretto.sel.dates import fields, zones
from stretto.sel.dates.bucket import Bucket
from stretto.sel.dates.datetime import DateTime
from stretto.sel.dates.fields import Field

DIGITS: Final = re.compile(r"[0-9]*")
ZONE_ID: Final = re.compile(r"[A-Za-z0-9_+/-]{1,64}")

# The abbreviations that can be read: they name one zone each in the United States, and nowhere else.
ABBREVIATIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("UT", "UTC", "GMT"), "UTC"),
    **dict.fromkeys(("EST", "EDT"), "America/New_York"),
    **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
    **dict.fromkeys(("MST", "MDT"), "America/Denver"),
    **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
}


class Part(Protocol):
    """One element of a pattern."""

    def print(self, moment: DateTime) -> str:
        """The text of this part of a moment."""
        ...

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        """Where this part ends in the text, or -1 if it is not there."""
        ...


def padded(value: int, width: int) -> str:
    """The number with zeros in front, behind its sign."""
    return f"-{-value:0{width}}" if value < 0 else f"{value:0{width}}"


@dataclass(frozen=True, slots=True)
class Text:
    """Text that stands for itself. Case does not count when it is read."""

    text: str

    def print(self, moment: DateTime) -> str:  # noqa: ARG002
        return self.text

    def read(self, text: str, position: int, bucket: Bucket) -> int:  # noqa: ARG002
        end = position + len(self.text)
        return end if text[position:end].lower() == self.text.lower() else -1


@dataclass(frozen=True, slots=True)
class Number:
    """A field as digits: at least `width` printed, at most `most` read."""

    field: Field
    width: int
    most: int
    signed: bool = False

    def print(self, moment: DateTime) -> str:
        return padded(self.field.get(moment.local), self.width)

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        sign = text[position : position + 1]
        start = position + (self.signed and sign in {"+", "-"})
        match = DIGITS.match(text, start, start + self.most)
        if not match or not match.group():
            return -1
        value = int(match.group())
        bucket.save(self.field, -value if start > position and sign == "-" else value)
        return match.end()


@dataclass(frozen=True, slots=True)
class TwoDigitYear:
    """`yy`: the year of the century around now. A longer year is read as it is, unless digits follow."""

    field: Field
    lenient: bool

    def print(self, moment: DateTime) -> str:
        return f"{abs(self.field.get(moment.local)) % 100:02}"

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        if self.lenient:
            sign = text[position : position + 1]
            start = position + (sign in {"+", "-"})
            match = DIGITS.match(text, start)
            if match and (start > position or len(match.group()) != 2):
                return Number(self.field, 2, 9, signed=True).read(text, position, bucket)
        digits = text[position : position + 2]
        if len(digits) != 2 or not (digits.isascii() and digits.isdigit()):
            return -1
        low = bucket.pivot_year - 50
        bucket.save(self.field, low + (int(digits) - low) % 100)
        return position + 2


@dataclass(frozen=True, slots=True)
class Fraction:
    """`SSS`: the first digits of the fraction of a second."""

    width: int

    def print(self, moment: DateTime) -> str:
        return f"{moment.local % 1_000:03}".ljust(self.width, "0")[: self.width]

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        match = DIGITS.match(text, position, position + self.width)
        if not match or not match.group():
            return -1
        bucket.save(fields.MILLIS_OF_SECOND, int(match.group().ljust(3, "0")[:3]))
        return match.end()


@dataclass(frozen=True, slots=True)
class Word:
    """A field as a name: printed long or short, read both ways in any case."""

    field: Field
    printed: Mapping[int, str]
    readable: Mapping[str, int]

    def print(self, moment: DateTime) -> str:
        return self.printed[self.field.get(moment.local)]

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        rest = text[position : position + 9].lower()
        for length in range(len(rest), 0, -1):
            value = self.readable.get(rest[:length])
            if value is not None:
                bucket.save(self.field, value)
                return position + length
        return -1


@dataclass(frozen=True, slots=True)
class Offset:
    """`Z` and `ZZ`: +0100 and +01:00. Both read both, and `Z`."""

    colon: bool

    def print(self, moment: DateTime) -> str:
        text = zones.offset_text(moment.local - moment.millis)[:6]
        return text if self.colon else text.replace(":", "")

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        if text[position : position + 1] in {"Z", "z"}:
            bucket.offset = 0
            return position + 1
        parsed = zones.parse_offset(text, position)
        if parsed is None:
            return -1
        bucket.offset, end = parsed
        return end


@dataclass(frozen=True, slots=True)
class ZoneId:
    """`ZZZ`: the name of the zone; the longest one is read."""

    def print(self, moment: DateTime) -> str:
        return moment.zone.id

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        match = ZONE_ID.match(text, position)
        for end in range(match.end() if match else position, position, -1):
            name = text[position:end]
            if name == "UTC" or name in zones.zone_ids():
                bucket.zone = zones.zone(name)
                return end
        return -1


@dataclass(frozen=True, slots=True)
class ZoneName:
    """`z`: the abbreviation in use then, such as PDT."""

    def print(self, moment: DateTime) -> str:
        return moment.zone.abbreviation(moment.millis)

    def read(self, text: str, position: int, bucket: Bucket) -> int:
        for name in (text[position : position + 3], text[position : position + 2]):
            if name in ABBREVIATIONS:
                bucket.zone = zones.zone(ABBREVIATIONS[name])
                return position + len(name)
        return -1
