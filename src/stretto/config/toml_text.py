"""TOML text -> values, and the spots of its keys. Python's reader does not tell them; they are looked for.

Keys of inline tables have no spot of their own; who asks gets that of the table.
"""

import re
import tomllib
from typing import Any, Final

from stretto.config.problems import BadValue
from stretto.definition.reading.located import Spot
from stretto.model.problem import Code

Keys = tuple[str, ...]

_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED: Final = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_ONE: Final = re.compile(_KEY)
_LINE: Final = re.compile(rf"[ \t]*(?:\[\[?[ \t]*(?P<table>{_DOTTED})[ \t]*\]|(?P<key>{_DOTTED})[ \t]*=)")
_PLACE: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_MOST_KEYS: Final = 8  # inside each other; no setting is that deep
_LONG_QUOTES: Final = ('"""', "'''")


class NotToml(Exception):
    """The text can not be read; `spot` says where, if that is known."""

    def __init__(self, bad: BadValue, spot: Spot | None) -> None:
        super().__init__(bad.message)
        self.bad = bad
        self.spot = spot


def read_toml(text: str) -> dict[str, Any]:
    """The values. Raises NotToml."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise NotToml(BadValue(Code.TOO_DEEP, "lists or tables are nested too deeply"), None) from None
    except ValueError as error:  # a TOMLDecodeError, or a number with thousands of digits
        place = _PLACE.fullmatch(str(error))
        said = place[1] if place else str(error)
        spot = Spot(int(place[2]), int(place[3])) if place else None
        if said.startswith("Cannot "):
            bad = BadValue(Code.DUPLICATE_KEY, "a key or a table is given twice", "give it once")
        else:
            bad = BadValue(Code.SYNTAX, f"this is not TOML: {said[:1].lower()}{said[1:]}")
        raise NotToml(bad, spot) from None


def toml_spots(text: str) -> dict[Keys, Spot]:
    """Where each key and each table begins, for text that can be read."""
    spots: dict[Keys, Spot] = {}
    table: Keys = ()
    inside = ""  # the quotes that end a text of several lines
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            inside = "" if inside in line else inside
            continue
        found = _LINE.match(line)
        if found is not None:
            name = found.lastgroup or ""
            keys = tuple(_plain(each) for each in _ONE.findall(found[name]))
            table, keys = (keys, keys) if name == "table" else (table, table + keys)
            for end in range(1, min(len(keys), _MOST_KEYS) + 1):
                spots.setdefault(keys[:end], Spot(number, found.start(name) + 1))
        inside = next((quotes for quotes in _LONG_QUOTES if line.count(quotes) % 2), "")
    return spots


def _plain(key: str) -> str:
    return key[1:-1] if key[:1] in {'"', "'"} else key
