"""How PostgreSQL spells things. Many rows at once are bound as one array for each column."""

from collections.abc import Sequence
from typing import Final

from stretto.store.sql.statement import INT, TEXT, Bulk, Field, Kind, Way, names_of, same

CLOCK: Final = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"  # `now()` is the begin
ARRAYS: Final = {INT: "bigint", TEXT: "text"}


class PostgresDialect:
    """See `sql.statement.Dialect`. `:name[2]` is the third column of a list of tuples."""

    name = "postgresql"
    shared = "FOR SHARE"
    exclusive = "FOR UPDATE"
    free = "FOR UPDATE SKIP LOCKED"
    clock = f"({CLOCK} + :ahead)"

    def among(self, column: str, name: str, kind: Kind) -> str:
        return f"{column} = ANY(:{name}::{ARRAYS[kind]}[])"

    def listed(self, name: str, fields: Sequence[Field]) -> str:
        arrays = ", ".join(f":{name}[{place}]::{ARRAYS[each.kind]}[]" for place, each in enumerate(fields))
        names = names_of(fields)
        return f"(SELECT {names} FROM unnest({arrays}) AS listed ({names}))"

    def beyond(self, columns: Sequence[str], names: Sequence[str], sign: str) -> str:
        return f"({', '.join(columns)}) {sign} ({', '.join(f':{name}' for name in names)})"

    def missing(self, table: str, fields: Sequence[Field]) -> str:
        values = ", ".join(f":{field.name}" for field in fields)
        return f"INSERT INTO {table} ({names_of(fields)}) VALUES ({values}) ON CONFLICT DO NOTHING"


DIALECT: Final = PostgresDialect()


def spell_all(bulks: Sequence[Bulk]) -> str:
    """Several in one statement, each on a table of its own: then it makes no difference which is first."""
    *others, last = (spell(bulk, 1 + sum(map(width, bulks[:place]))) for place, bulk in enumerate(bulks))
    parts = ", ".join(f"part_{place} AS ({part})" for place, part in enumerate(others))
    return f"WITH {parts} {last}" if parts else last


def width(bulk: Bulk) -> int:
    """How many values are bound to it: an array for each column, then a value for each common one."""
    return len(bulk.fields) + len(bulk.common)


def spell(bulk: Bulk, first: int = 1, *, guard: str | None = None) -> str:
    """The statement for any number of rows; the first of its values has this number.

    guard   A query beside it that says whether it may write (`fine`), and the time, which is then the value
            of its common columns (`now`).
    """
    arrays = ", ".join(array(field.kind, first + place) for place, field in enumerate(bulk.fields))
    rows = f"unnest({arrays}) AS new ({names_of(bulk.fields)})"
    place = first + len(bulk.fields)
    common = {each.name: f"${place + index}::{ARRAYS[each.kind]}" for index, each in enumerate(bulk.common)}
    only = ""
    if guard is not None:
        common = {each.name: f"(SELECT now FROM {guard})" for each in bulk.common}
        only = f"(SELECT fine FROM {guard})"
    match bulk.way:
        case Way.UPDATE:
            values = {**common, **{each.name: _changed(bulk, each.name) for each in bulk.fields[bulk.key :]}}
            changes = ", ".join(f"{name} = {value}" for name, value in values.items())
            found = " AND ".join(filter(None, (same(bulk.keys, bulk.table, "new"), only)))
            return f"UPDATE {bulk.table} SET {changes} FROM {rows} WHERE {found}"
        case Way.DELETE:
            found = " AND ".join(filter(None, (same(bulk.fields, bulk.table, "new"), only)))
            return f"DELETE FROM {bulk.table} USING {rows} WHERE {found}"
        case _:
            brought = ", ".join([*(f"new.{field.name}" for field in bulk.fields), *common.values()])
            names = names_of(bulk.all_fields)
            chosen = f" WHERE {only}" if only else ""
            return (
                f"INSERT INTO {bulk.table} ({names}) SELECT {brought} FROM {rows}{chosen}{_on_conflict(bulk)}"
            )


def array(kind: Kind, number: int) -> str:
    """Numbers come as one text: the driver takes three times as long to put them into an array one by one."""
    return f"${number}::text::bigint[]" if kind is INT else f"${number}::text[]"


def _changed(bulk: Bulk, name: str) -> str:
    return f"COALESCE(new.{name}, {bulk.table}.{name})" if name in bulk.keeps else f"new.{name}"


def _on_conflict(bulk: Bulk) -> str:
    if bulk.way is Way.INSERT:
        return ""
    if bulk.way is Way.MISSING:
        return " ON CONFLICT DO NOTHING"
    names = [field.name for field in bulk.all_fields if field.name in bulk.changes]
    changes = ", ".join(f"{name} = {_put(bulk, name)}" for name in names)
    return f" ON CONFLICT ({names_of(bulk.keys)}) DO UPDATE SET {changes}"


def _put(bulk: Bulk, name: str) -> str:
    new, old = f"excluded.{name}", f"{bulk.table}.{name}"
    if name in bulk.adds:
        return f"{old} + {new}"
    if name in bulk.raises:
        return f"GREATEST({old}, {new})"
    return f"COALESCE({new}, {old})" if name in bulk.keeps else new
