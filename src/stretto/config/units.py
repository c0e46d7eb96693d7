"""Durations and sizes: a number with a unit, or a bare number of milliseconds or bytes."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import msgspec

from stretto.config.kinds import shown, whole, within
from stretto.config.problems import BadValue, ConfigCode
from stretto.model.durations import (
    DAY,
    DURATION_HINT,
    HOUR,
    MINUTE,
    SECOND,
    NoDuration,
    duration_text,
    millis_in,
)
from stretto.model.problem import Code

__all__ = ["DAY", "GB", "HOUR", "KB", "LONGEST", "MB", "MINUTE", "SECOND", "Duration", "Size"]

LONGEST: Final = 36_500 * DAY
_WORDS: Final = {SECOND: "seconds", DAY: "days"}

KB: Final = 1024
MB: Final = 1024 * KB
GB: Final = 1024 * MB
SIZES: Final[Mapping[str, int]] = {
    "b": 1,
    **dict.fromkeys(("kb", "kib"), KB),
    **dict.fromkeys(("mb", "mib"), MB),
    **dict.fromkeys(("gb", "gib"), GB),
}

_LONGEST_TEXT: Final = 50
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+)", re.IGNORECASE)
_SIZE_HINT: Final = 'write bytes, or a number with a unit: "512B", "256KB", "4MB", "1GB"'


class Duration(msgspec.Struct, frozen=True):
    """How long. `unit` is what the setting counts in: 1 for milliseconds, 1,000 for seconds ..."""

    least: int = 1  # in milliseconds, as is `most`
    most: int = LONGEST
    unit: int = 1
    name: str = "duration"

    def read(self, value: object) -> int:
        if isinstance(value, str):
            return self.parse(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadValue(Code.BAD_DURATION, f"{shown(value)} is not a duration", DURATION_HINT)
        return self._counted(value)

    def parse(self, text: str) -> int:
        millis = whole(text)
        if millis is None:
            try:
                millis = millis_in(text)
            except NoDuration as wrong:
                raise BadValue(Code.BAD_DURATION, f"{shown(text)} {wrong.reason}", wrong.hint) from None
        return self._counted(millis)

    def _counted(self, millis: int) -> int:
        within(millis, self.least, self.most, self, self.unit)
        number, rest = divmod(millis, self.unit)
        if rest:
            message = f"{duration_text(millis)} is not a whole number of {_WORDS[self.unit]}"
            raise BadValue(Code.BAD_DURATION, message)
        return number

    def show(self, value: int) -> str:
        return duration_text(value * self.unit)


class Size(msgspec.Struct, frozen=True):
    """How much. 1 KB is 1,024 bytes, however it is written."""

    least: int = 1
    most: int = GB
    name: str = "size"

    def read(self, value: object) -> int:
        if isinstance(value, str):
            return self.parse(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadValue(ConfigCode.BAD_SIZE, f"{shown(value)} is not a size", _SIZE_HINT)
        return within(value, self.least, self.most, self)

    def parse(self, text: str) -> int:
        size = whole(text)
        if size is None:
            part = _PART.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
            if part is None:
                raise BadValue(ConfigCode.BAD_SIZE, f"{shown(text)} is not a size", _SIZE_HINT)
            number, unit = part.groups()
            if unit.lower() not in SIZES:
                message = f"{shown(text)} has the unit `{unit}`, which is none of B, KB, MB, GB"
                raise BadValue(ConfigCode.BAD_SIZE, message, _SIZE_HINT)
            total = Decimal(number) * SIZES[unit.lower()]
            if total % 1:
                raise BadValue(ConfigCode.BAD_SIZE, f"{shown(text)} is not a whole number of bytes")
            size = int(total)
        return within(size, self.least, self.most, self)

    def show(self, value: int) -> str:
        unit = next(unit for unit in ("gb", "mb", "kb", "b") if value % SIZES[unit] == 0)
        return f"{value // SIZES[unit]}{unit.upper()}"
