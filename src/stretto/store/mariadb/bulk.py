"""Many rows at once, in MariaDB's words.

New and changed rows go into one INSERT with a place for each value. To change rows that are there, UPDATE
would have to join them with the new ones, which takes two to four times as long: they are locked, and then
inserted on top of themselves. Columns that such a row must have, and does not bring, get a value that nobody
ever sees. (A row that is put must not have the second unique key of another: the server would take it for
that one. Only iterations have such a key, and a new one for each.)
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from stretto.store.mariadb.spelling import PLACE
from stretto.store.sql.statement import Bulk, Dialect, Field, Row, Statement, Way, names_of, same

MOST_ROWS: Final = 128  # of one statement; a power of two
MOST_VALUES: Final = 65_535  # that can be bound to one statement
Needed = Mapping[str, str]  # columns that are not null and have no default, with some value


def insert(bulk: Bulk, count: int, needed: Needed) -> str:
    """The statement that inserts so many rows, whatever becomes of those that are there."""
    fields = bulk.all_fields
    others = {} if bulk.way is not Way.UPDATE else _not_brought(fields, needed)
    places = ", ".join([*([PLACE] * len(fields)), *others.values()])
    rows = ", ".join([f"({places})"] * count)
    names = ", ".join([names_of(fields), *others])
    return f"INSERT INTO {bulk.table} ({names}) VALUES {rows}{_on_duplicate(bulk)}"


def lock(bulk: Bulk) -> Statement:
    """Lock the rows of an UPDATE in the order of their keys, and tell which are there."""
    return Statement(
        lambda d: f"SELECT {names_of(bulk.keys, 'named.')} FROM {_joined(d, bulk, bulk.keys)} {d.exclusive}"
    )


def delete(bulk: Bulk) -> Statement:
    """Delete the rows that begin with one of the keys."""
    return Statement(lambda d: f"DELETE {bulk.table} FROM {_joined(d, bulk, bulk.fields)}")


def sizes(rows: int, width: int) -> Iterator[int]:
    """So many rows in few statements of few sizes, so that each is prepared once: powers of two."""
    size = MOST_ROWS
    while size * width > MOST_VALUES:
        size //= 2
    while rows:
        while size > rows:
            size //= 2
        yield size
        rows -= size


def flattened(rows: Sequence[Row], common: Sequence[Any]) -> list[Any]:
    """What is bound to the places of an INSERT."""
    return [value for row in rows for value in (*row, *common)]


def _joined(dialect: Dialect, bulk: Bulk, fields: Sequence[Field]) -> str:
    """The keys first, then the row of each: the other way round, rows that are passed would be locked."""
    named = dialect.listed("keys", fields)
    return f"{named} named STRAIGHT_JOIN {bulk.table} ON {same(fields, bulk.table, 'named')}"


def _not_brought(fields: Sequence[Field], needed: Needed) -> dict[str, str]:
    brought = {field.name for field in fields}
    return {name: value for name, value in needed.items() if name not in brought}


def _on_duplicate(bulk: Bulk) -> str:
    match bulk.way:
        case Way.INSERT:
            return ""
        case Way.MISSING:
            key = bulk.keys[0].name
            return f" ON DUPLICATE KEY UPDATE {key} = {bulk.table}.{key}"
        case Way.UPDATE:
            changed = {field.name for field in bulk.all_fields[bulk.key :]}
        case _:
            changed = set(bulk.changes)
    names = [field.name for field in bulk.all_fields if field.name in changed]
    return " ON DUPLICATE KEY UPDATE " + ", ".join(f"{name} = {_new_value(bulk, name)}" for name in names)


def _new_value(bulk: Bulk, name: str) -> str:
    old, new = f"{bulk.table}.{name}", f"VALUES({name})"
    if name in bulk.adds:
        return f"{old} + {new}"
    if name in bulk.raises:
        return f"GREATEST({old}, {new})"
    return f"COALESCE({new}, {old})" if name in bulk.keeps else new
