"""How SQLite spells things. The write lock covers every row, so that there is nothing to lock one by one."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from stretto.store.sql.statement import INT, TEXT, Bulk, Field, Kind, Way, names_of


class SqliteDialect:
    """See `sql.statement.Dialect`. Lists are bound as JSON."""

    name = "sqlite"
    shared = ""
    exclusive = ""
    free = ""
    clock = ":clock"  # that of the host: whoever says the statement binds it

    def among(self, column: str, name: str, kind: Kind) -> str:  # noqa: ARG002 - JSON knows the kind
        return f"{column} IN (SELECT value FROM json_each(:{name}))"

    def listed(self, name: str, fields: Sequence[Field]) -> str:
        columns = ", ".join(
            f"json_extract(value, '$[{place}]') AS {field.name}" for place, field in enumerate(fields)
        )
        return f"(SELECT {columns} FROM json_each(:{name}))"

    def beyond(self, columns: Sequence[str], names: Sequence[str], sign: str) -> str:
        if len(columns) == 1:
            return f"{columns[0]} {sign} :{names[0]}"
        return f"({', '.join(columns)}) {sign} ({', '.join(f':{name}' for name in names)})"

    def missing(self, table: str, fields: Sequence[Field]) -> str:
        values = ", ".join(f":{field.name}" for field in fields)
        return f"INSERT INTO {table} ({names_of(fields)}) VALUES ({values}) ON CONFLICT DO NOTHING"


DIALECT = SqliteDialect()


def spell(bulk: Bulk, count: int) -> str:
    """The statement for so many rows at once. Its places have no numbers: with numbers, SQLite takes time to
    prepare it that grows with the square of their count.
    """
    width = len(bulk.fields) if bulk.way is Way.UPDATE else len(bulk.all_fields)
    rows = ", ".join([f"({', '.join('?' * width)})"] * count)
    match bulk.way:
        case Way.UPDATE:
            return _update(bulk, rows)
        case Way.DELETE:
            return _delete(bulk, rows)
        case _:
            insert = f"INSERT INTO {bulk.table} ({names_of(bulk.all_fields)}) VALUES {rows}"
            return insert + _on_conflict(bulk)


def values_of(bulk: Bulk, rows: Sequence[Any], common: Sequence[Any]) -> list[Any]:
    """What is bound to the places of the statement, in their order."""
    if bulk.way is Way.UPDATE:
        return [*common, *chain.from_iterable(rows)]
    if common:
        return [value for row in rows for value in (*row, *common)]
    return [*chain.from_iterable(rows)]


def _on_conflict(bulk: Bulk) -> str:
    if bulk.way is Way.INSERT:
        return ""
    if bulk.way is Way.MISSING:
        return " ON CONFLICT DO NOTHING"
    changes = ", ".join(
        f"{name} = {_new_value(bulk, name)}"
        for name in (field.name for field in bulk.all_fields)
        if name in bulk.changes
    )
    return f" ON CONFLICT ({names_of(bulk.keys)}) DO UPDATE SET {changes}"


def _new_value(bulk: Bulk, name: str) -> str:
    if name in bulk.adds:
        return f"{bulk.table}.{name} + excluded.{name}"
    if name in bulk.raises:
        return f"MAX({bulk.table}.{name}, excluded.{name})"
    if name in bulk.keeps:
        return f"COALESCE(excluded.{name}, {bulk.table}.{name})"
    return f"excluded.{name}"


def _update(bulk: Bulk, rows: str) -> str:
    """The columns of VALUES have no names but `column1`, `column2` ..."""
    numbers = {field.name: f"new.column{place + 1}" for place, field in enumerate(bulk.fields)}
    changes = [f"{field.name} = ?" for field in bulk.common]
    changes += [
        f"{field.name} = COALESCE({numbers[field.name]}, {bulk.table}.{field.name})"
        if field.name in bulk.keeps
        else f"{field.name} = {numbers[field.name]}"
        for field in bulk.fields[bulk.key :]
    ]
    keys = " AND ".join(f"{bulk.table}.{field.name} = {numbers[field.name]}" for field in bulk.keys)
    return f"UPDATE {bulk.table} SET {', '.join(changes)} FROM (VALUES {rows}) AS new WHERE {keys}"


def _delete(bulk: Bulk, rows: str) -> str:
    """Without the casts, SQLite does not see that the index on the key is of use."""
    types = {INT: "INTEGER", TEXT: "TEXT"}
    keys = ", ".join(
        f"CAST(column{place + 1} AS {types[field.kind]})" for place, field in enumerate(bulk.fields)
    )
    return f"DELETE FROM {bulk.table} WHERE ({names_of(bulk.fields)}) IN (SELECT {keys} FROM (VALUES {rows}))"
