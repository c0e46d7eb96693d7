"""Databases that count the rows which are written: a trigger on every table notes each."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.ports.mariadb_bench import Database, query, run
from tests.ports.postgresql_bench import Schema, connection_to

from stretto.store.sqlite.upkeep import upgrade

WHEN = ("INSERT", "UPDATE", "DELETE")
NOTES = "CREATE TABLE note (name VARCHAR(64) NOT NULL)"
FUNCTION = """
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO note VALUES (TG_TABLE_NAME); RETURN NULL; END $$;
"""


class Written(NamedTuple):
    """A database, and how many rows of each table were written since it was asked last."""

    url: str
    take: Callable[[], Counter[str]]


def _triggers(tables: list[str], body: str) -> list[str]:
    return [
        f"CREATE TRIGGER {when.lower()}_{table} AFTER {when} ON {table} FOR EACH ROW {body.format(table)}"
        for table in tables
        for when in WHEN
        if table not in {"stretto_version", "note"}
    ]


def _sqlite(path: Path) -> Written:
    upgrade(f"sqlite:///{path}")

    def connection() -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(path, timeout=30, isolation_level=None))

    def take() -> Counter[str]:
        with connection() as made:
            return Counter(row[0] for row in made.execute("DELETE FROM note RETURNING name"))

    with connection() as made:
        made.execute(NOTES)
        names = made.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        tables = [row[0] for row in names]
        for text in _triggers(tables, "BEGIN INSERT INTO note VALUES ('{}'); END"):
            made.execute(text)
    return Written(f"sqlite:///{path}", take)


def _postgres(schema: Schema) -> Written:
    async def make() -> None:
        async with connection_to(schema.url) as connection:
            await connection.execute(f"{NOTES}; {FUNCTION}")
            rows = await connection.fetch(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            )
            for text in _triggers([row[0] for row in rows], "EXECUTE FUNCTION noted()"):
                await connection.execute(text)

    async def taken() -> Counter[str]:
        async with connection_to(schema.url) as connection:
            return Counter(row[0] for row in await connection.fetch("DELETE FROM note RETURNING name"))

    asyncio.run(make())
    return Written(schema.url, lambda: asyncio.run(taken()))


def _mariadb(database: Database) -> Written:
    url = database.url
    tables = [row[0] for row in query(url, "SHOW TABLES")]
    run(url, NOTES)
    run(url, "; ".join(_triggers(tables, "INSERT INTO note VALUES ('{}')")))
    return Written(url, lambda: Counter(row[0] for row in query(url, "DELETE FROM note RETURNING name")))


@contextmanager
def written(kind: str, request: pytest.FixtureRequest) -> Iterator[Written]:
    """A new database of a kind."""
    if kind == "sqlite":
        yield _sqlite(request.getfixturevalue("tmp_path") / "counted.db")
    elif kind == "postgresql":
        schema = Schema(request.getfixturevalue("postgresql_url"))
        yield _postgres(schema)
        schema.drop()
    else:
        database = Database(request.getfixturevalue("mariadb_url"))
        yield _mariadb(database)
        database.drop()
