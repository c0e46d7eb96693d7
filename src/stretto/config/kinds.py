"""Kinds of values: how each is read from a file, parsed from a variable or a flag, checked and shown.

A file has types, and they must be right: `"8"` is no number. Variables and flags are texts, and so is what
`${VAR}` stands for; there the text must spell the value.
"""

import datetime as dt
import re
from enum import StrEnum
from typing import Any, Final, Protocol

import msgspec

from stretto.config.problems import BadValue
from stretto.model.problem import Code
from stretto.model.suggest import did_you_mean

MOST: Final = 2**31 - 1
MOST_SHOWN: Final = 40  # characters of a value in a message
NONE: Final = "none"
_MODULES_HINT: Final = 'write ["shop.jobs", "shop.reports"], or shop.jobs,shop.reports'
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_HOST: Final = re.compile(r"[0-9A-Za-z.:_-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NAME_HINT: Final = "1 to 64 letters, digits, `.`, `_` or `-`"


class Kind(Protocol):
    """One kind of value. `read` and `parse` raise BadValue."""

    @property
    def name(self) -> str:
        """What the documentation calls it."""
        ...

    def read(self, value: object) -> Any:
        """The value that a file gives."""
        ...

    def parse(self, text: str) -> Any:
        """The value that a text spells."""
        ...

    def show(self, value: Any) -> str:
        """The value as a user would write it."""
        ...


def shown(value: object) -> str:
    """A value inside a message: short, on one line, and fit for any terminal."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f'"{printable(shortened(value))}"'
        case int() if abs(value) >= 10**18:
            return "a number of more than 18 digits"
        case list():
            return "a list"
        case dict():
            return "a table"
        case dt.date() | dt.time():
            return "a date or a time"
        case _:
            return f"`{value}`"


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def printable(text: str) -> str:
    """Without control characters, and without bytes that are no UTF-8."""
    escaped = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
    return escaped.encode(errors="backslashreplace").decode()


def within(number: int, least: int, most: int, kind: Kind, unit: int = 1) -> int:
    """The number, if it is between the bounds; `unit` is what `kind` counts in."""
    if number < least:
        raise BadValue(Code.OUT_OF_RANGE, f"it must be at least {kind.show(least // unit)}")
    if number > most:
        raise BadValue(Code.OUT_OF_RANGE, f"it must be at most {kind.show(most // unit)}")
    return number


def whole(text: str) -> int | None:
    """A whole number that is not absurd, or None."""
    return int(text) if _WHOLE.fullmatch(text) else None


class Count(msgspec.Struct, frozen=True):
    """A whole number."""

    least: int = 1
    most: int = MOST
    name: str = "number"

    def read(self, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return within(value, self.least, self.most, self)
        quoted = isinstance(value, str) and whole(value) is not None
        hint = "write it without quotes" if quoted else None
        raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not a whole number", hint)

    def parse(self, text: str) -> int:
        number = whole(text)
        if number is None:
            raise BadValue(Code.WRONG_TYPE, f"{shown(text)} is not a whole number")
        return within(number, self.least, self.most, self)

    def show(self, value: int) -> str:
        return str(value)


class Switch(msgspec.Struct, frozen=True):
    """True or false."""

    name: str = "true or false"

    def read(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        quoted = isinstance(value, str) and value in {"true", "false"}
        hint = "write it without quotes" if quoted else None
        raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is neither true nor false", hint)

    def parse(self, text: str) -> bool:
        if text not in {"true", "false"}:
            raise BadValue(Code.WRONG_TYPE, f"{shown(text)} is neither true nor false", "in small letters")
        return text == "true"

    def show(self, value: bool) -> str:
        return "true" if value else "false"


class Choice(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: type[StrEnum]

    @property
    def name(self) -> str:
        return " or ".join(f"`{word}`" for word in self.words)

    def read(self, value: object) -> StrEnum:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not {self.name}")
        return self.parse(value)

    def parse(self, text: str) -> StrEnum:
        for word in self.words:
            if word == text:
                return word
        hint = did_you_mean(shortened(text), self.words)
        raise BadValue(Code.UNKNOWN_VALUE, f"{shown(text)} is not {self.name}", hint)

    def show(self, value: StrEnum) -> str:
        return str(value)


class Folder(msgspec.Struct, frozen=True):
    """A folder, which need not be there yet; a relative one is taken from where the program is started."""

    name: str = "folder"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not the name of a folder")
        return self.parse(value)

    def parse(self, text: str) -> str:
        if not text or not text.isprintable():
            raise BadValue(Code.WRONG_TYPE, f"{shown(text)} is not the name of a folder")
        return text

    def show(self, value: str) -> str:
        return value


class Host(msgspec.Struct, frozen=True):
    """A name or an address of this machine."""

    name: str = "host"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not the name or the address of a host")
        return self.parse(value)

    def parse(self, text: str) -> str:
        if not _HOST.fullmatch(text):
            raise BadValue(Code.WRONG_TYPE, f"{shown(text)} is not the name or the address of a host")
        return text

    def show(self, value: str) -> str:
        return value


class Name(msgspec.Struct, frozen=True):
    """A name that other systems read: letters, digits, `.`, `_` and `-`."""

    name: str = "name"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not a name", _NAME_HINT)
        return self.parse(value)

    def parse(self, text: str) -> str:
        if not _NAME.fullmatch(text):
            raise BadValue(Code.WRONG_TYPE, f"{shown(text)} is not a name", _NAME_HINT)
        return text

    def show(self, value: str) -> str:
        return value


class Modules(msgspec.Struct, frozen=True):
    """Names of Python modules: a list in a file, with commas between them in a text."""

    name: str = "names of modules"

    def read(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            return self.parse(value)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise BadValue(Code.WRONG_TYPE, f"{shown(value)} is not a list of modules", _MODULES_HINT)
        return self.parse(",".join(value))

    def parse(self, text: str) -> tuple[str, ...]:
        names = tuple(each.strip() for each in text.split(",") if each.strip())
        for each in names:
            if not all(part.isidentifier() for part in each.split(".")):
                raise BadValue(Code.WRONG_TYPE, f"{shown(each)} is not the name of a module", _MODULES_HINT)
        return names

    def show(self, value: tuple[str, ...]) -> str:
        return ",".join(value)


class OrNone(msgspec.Struct, frozen=True):
    """A value, or the word `none` for no limit. TOML has no null; YAML's is taken for it."""

    inner: Kind

    @property
    def name(self) -> str:
        return f"{self.inner.name} or `{NONE}`"

    def read(self, value: object) -> Any:
        return None if value is None or value == NONE else self.inner.read(value)

    def parse(self, text: str) -> Any:
        return None if text == NONE else self.inner.parse(text)

    def show(self, value: Any) -> str:
        return NONE if value is None else self.inner.show(value)
