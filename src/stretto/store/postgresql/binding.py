"""Values on their way to a statement: names become numbers, lists of tuples become arrays."""

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from stretto.store.postgresql.dialect import DIALECT
from stretto.store.sql.statement import INT, Field, Row, Statement

_NAME: Final = re.compile(r"(?<!:):([a-z_][a-z_0-9]*)(?:\[(\d+)\])?")  # and not the `::` of a cast
_encode: Final = msgspec.json.Encoder().encode
_bindings: Final[dict[Statement, "Binding"]] = {}


class Slot(NamedTuple):
    """A value of a statement; of a list of tuples, one column."""

    name: str
    column: int | None


class Binding(NamedTuple):
    """A statement in PostgreSQL's words, and which value has which number in it."""

    text: str
    slots: tuple[Slot, ...]
    plain: bool  # no list of tuples among them

    def values(self, given: dict[str, Any]) -> list[Any]:
        """What is bound, in order; more may be given than is used."""
        if self.plain:
            return [given[slot.name] for slot in self.slots]
        tables: dict[str, list[Sequence[Any]]] = {}
        bound: list[Any] = []
        for name, column in self.slots:
            value = given[name]
            if column is not None:
                if name not in tables:
                    tables[name] = columns_of(value)
                value = tables[name][column] if tables[name] else ()
            bound.append(value)
        return bound


def binding_of(statement: Statement) -> Binding:
    """A statement, translated once."""
    known = _bindings.get(statement)
    if known is None:
        known = _bindings[statement] = _translated(statement.of(DIALECT))
    return known


def columns_of(rows: Sequence[Row]) -> list[Sequence[Any]]:
    """The same values, column by column; nothing, if there are no rows."""
    return list(zip(*rows, strict=True))


def arrays_of(fields: Sequence[Field], rows: Sequence[Row]) -> list[Any]:
    """What is bound to the columns of a bulk."""
    columns = zip(*rows, strict=True)
    return [
        _literal(column) if field.kind is INT else column
        for field, column in zip(fields, columns, strict=True)
    ]


def _literal(numbers: Sequence[int | None]) -> str:
    """An array as text: `{1,2,null}`."""
    return f"{{{str(_encode(numbers)[1:-1], 'ascii')}}}"


def _translated(text: str) -> Binding:
    numbers: dict[Slot, int] = {}

    def number(match: re.Match[str]) -> str:
        slot = Slot(match[1], None if match[2] is None else int(match[2]))
        return f"${numbers.setdefault(slot, len(numbers) + 1)}"

    translated = _NAME.sub(number, text)
    return Binding(translated, tuple(numbers), all(slot.column is None for slot in numbers))
