"""Statements: what is said to a database, in words that each database spells in its own way.

    FETCH = Statement(lambda d: f"SELECT id FROM outbox WHERE {d.among('to_group', 'groups', INT)}")
    ids = await tx.all(FETCH, groups=[1, 2])

Values are always bound by name (`:name`), never written into the text. A list binds to a name that `among`
or `listed` has introduced. `Bulk` is for many rows at once: each database has its own best way for that.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

import msgspec


class Kind(Enum):
    """What is in a column, as far as a list of values must say so."""

    INT = "int"
    TEXT = "text"


INT: Final = Kind.INT
TEXT: Final = Kind.TEXT


class Field(NamedTuple):
    """A column."""

    name: str
    kind: Kind


def ints(*names: str) -> tuple[Field, ...]:
    """Columns of numbers."""
    return tuple(Field(name, INT) for name in names)


def texts(*names: str) -> tuple[Field, ...]:
    """Columns of text."""
    return tuple(Field(name, TEXT) for name in names)


RUN_KEY: Final = (*texts("workflow_id"), *ints("instance_id", "run_id"))
ATTEMPT_KEY: Final = (*RUN_KEY, *texts("step_id"), *ints("attempt_no"))


def names_of(fields: Sequence[Field], prefix: str = "") -> str:
    """`a, b, c`."""
    return ", ".join(f"{prefix}{field.name}" for field in fields)


def same(fields: Sequence[Field], left: str, right: str) -> str:
    """`left.a = right.a AND left.b = right.b`."""
    return " AND ".join(f"{left}.{field.name} = {right}.{field.name}" for field in fields)


def given(fields: Sequence[Field], prefix: str = "", column_prefix: str = "") -> str:
    """`a = :a AND b = :b`."""
    return " AND ".join(f"{column_prefix}{field.name} = :{prefix}{field.name}" for field in fields)


class Dialect(Protocol):
    """How one database spells what differs.

    shared      Ends a SELECT (with ORDER BY on the key) that locks the rows it finds, among other readers.
    exclusive   The same, alone.
    free        Alone, and rows that somebody else has locked are passed over.
    clock       An expression: the database's clock, in milliseconds since 1970. See `Transaction.now`.
    """

    name: str
    shared: str
    exclusive: str
    free: str
    clock: str

    def among(self, column: str, name: str, kind: Kind) -> str:
        """A condition: the column has one of the values in the list that is bound to the name."""
        ...

    def listed(self, name: str, fields: Sequence[Field]) -> str:
        """A table expression (to be followed by an alias): the rows that are bound to the name as a list of
        tuples, with these columns.
        """
        ...

    def beyond(self, columns: Sequence[str], names: Sequence[str], sign: str) -> str:
        """A condition: the columns, one after the other, compare so (`<`, `>`, `<=`, `>=`) with the values
        that are bound to the names. It must be able to use an index.
        """
        ...

    def missing(self, table: str, fields: Sequence[Field]) -> str:
        """Insert one row, bound to the names of the columns, unless its key is there. The first `fields`
        are the key; a row that is there is locked by this or by the `exclusive` read that follows.
        """
        ...


Spelling = Callable[[Dialect], str]


class Statement:
    """One statement; `of` says it in the words of a database."""

    __slots__ = ("_spell",)

    def __init__(self, spell: str | Spelling) -> None:
        self._spell = spell

    def of(self, dialect: Dialect) -> str:
        return self._spell if isinstance(self._spell, str) else self._spell(dialect)


class Way(Enum):
    """What a bulk does with its rows."""

    INSERT = "insert"  # they are new; one that is not is an error
    MISSING = "missing"  # those whose key is there are left as they are
    PUT = "put"  # those whose key is there are changed
    UPDATE = "update"  # their keys are there
    DELETE = "delete"  # only keys are given; every row that begins with one goes


class Bulk(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Many rows of one table in as few statements as can be.

    fields   The columns that each row brings, in its order.
    key      How many of them are the key; they come first.
    common   Columns that have the same value in all rows: bound by name.
    changes  PUT: columns that are changed where the row is there; the others stay as they are.
    adds     PUT: of these the new value is added to what is there.
    raises   PUT: of these the greater one stays.
    keeps    PUT, UPDATE: of these a null leaves what is there.
    """

    way: Way
    table: str
    fields: tuple[Field, ...]
    key: int = 1
    common: tuple[Field, ...] = ()
    changes: frozenset[str] = frozenset()
    adds: frozenset[str] = frozenset()
    raises: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()

    @property
    def keys(self) -> tuple[Field, ...]:
        return self.fields[: self.key]

    @property
    def all_fields(self) -> tuple[Field, ...]:
        return (*self.fields, *self.common)


Row = tuple[Any, ...]


def mapped(rows: Sequence[Row]) -> dict[Any, Any]:
    """Rows of two columns: the first names the second."""
    return {row[0]: row[1] for row in rows}
