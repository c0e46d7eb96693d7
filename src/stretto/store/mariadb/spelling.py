"""Statements as the server gets them: each value has a place, in the order of the places."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from stretto.ports.failures import Poison
from stretto.store.mariadb.indexes import guided
from stretto.store.sql.statement import Dialect, Statement

NAME: Final = re.compile(r"(?<![:\w]):([a-z_][a-z_0-9]*)(\.\.\.)?")
PLACE: Final = "%s"

_encode: Final = msgspec.json.Encoder().encode


class Spelled(NamedTuple):
    """A statement, cut at its values.

    parts    The text before the first value, between each two, and behind the last.
    names    The values. Of those that are lists, all elements have a place.
    lists    Which of them are such lists.
    """

    parts: tuple[str, ...]
    names: tuple[str, ...]
    lists: frozenset[str]

    def values(self, given: dict[str, Any]) -> tuple[tuple[int, ...], list[Any]]:
        """How many places each list has, and what is bound. More may be given than is used.

        The last element of a list is repeated until there is a power of two, so that few texts serve all.
        """
        sizes: list[int] = []
        bound: list[Any] = []
        for name in self.names:
            value = given[name]
            if name in self.lists:
                size = 1 << max(len(value) - 1, 0).bit_length()
                sizes.append(size)
                bound += value
                bound += (size - len(value)) * [value[-1] if value else None]
            else:
                bound.append(_json(value) if type(value) is list else value)
        return tuple(sizes), bound

    def text(self, sizes: Sequence[int]) -> str:
        """The text for lists of these sizes."""
        left = iter(sizes)
        places = [", ".join([PLACE] * next(left)) if name in self.lists else PLACE for name in self.names]
        return "".join(part for pair in zip(self.parts, [*places, ""], strict=True) for part in pair)


class Spelling:
    """Every statement that was said so far, in the words of one kind of server."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._spelled: dict[Statement, Spelled] = {}
        self._texts: dict[tuple[Statement, tuple[int, ...]], str] = {}

    def of(self, statement: Statement, given: dict[str, Any]) -> tuple[str, list[Any]]:
        """The text, and what is bound to its places."""
        spelled = self._spelled.get(statement)
        if spelled is None:
            spelled = self._spelled[statement] = cut(guided(statement.of(self.dialect)))
        sizes, bound = spelled.values(given)
        text = self._texts.get((statement, sizes))
        if text is None:
            text = self._texts[statement, sizes] = spelled.text(sizes)
        return text, bound


def _json(rows: list[Any]) -> str:
    try:
        return str(_encode(rows), "utf-8")
    except UnicodeEncodeError as error:
        raise Poison(f"the database refuses a value: {error}") from error


def cut(text: str) -> Spelled:
    """A text with names for its values, cut at them."""
    pieces = NAME.split(text.replace("%", "%%"))
    names = pieces[1::3]
    lists = {name for name, dots in zip(names, pieces[2::3], strict=True) if dots}
    return Spelled(tuple(pieces[::3]), tuple(names), frozenset(lists))
