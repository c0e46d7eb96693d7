"""Expand, then contract: code that knows an older schema goes on working while newer code is rolled out.

A migration only adds. One that takes something away says so (`contracts`), with the number of the schema that
code must know from then on, and raises the floor of the database to it: older code is refused.
"""

import asyncio
import re
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scripts.schema.script import DIALECTS
from tests.ports.mariadb_bench import Database, query
from tests.ports.mariadb_bench import run as run_on_mariadb
from tests.ports.mariadb_server import MariadbServer
from tests.ports.old_statements import FOLDER, kept
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer
from tests.ports.test_sql_plans import SCHEMA, Anything

from stretto.model.errors import PreconditionFailed
from stretto.store.mariadb import upkeep as mariadb
from stretto.store.postgresql import upkeep as postgresql
from stretto.store.sql import migrations
from stretto.store.sql.migrations import MIGRATIONS, Migration, statements_of
from stretto.store.sql.version import HEAD, Standing
from stretto.store.sqlite import upkeep as sqlite

NUMBERS = [each.number for each in MIGRATIONS]
LATER = MIGRATIONS[1:]
NEW_TABLE = re.compile(r"CREATE TABLE (\w+)")
INDEX = re.compile(r"CREATE (UNIQUE )?INDEX \w+ ON (\w+)")
ADDS = re.compile(r"ALTER TABLE (\w+) ADD (?:COLUMN )?(?!CONSTRAINT|UNIQUE|PRIMARY|FOREIGN|CHECK)\w+ ([^,]*)")
FLOOR = re.compile(r"(?:INSERT|UPDATE|REPLACE)[^;]*\bcounter\b[^;]*oldest_schema")


def objection(statement: str, new: set[str]) -> str | None:
    """Why older code could not work beside this; `new` are tables that the same migration has made."""
    made = NEW_TABLE.match(statement)
    if made is not None:
        new.add(made[1])
        return None
    index = INDEX.match(statement)
    if index is not None:
        return None if index[2] in new or not index[1] else "older code may write what is not unique"
    column = ADDS.fullmatch(statement)
    if column is not None:
        needed = "NOT NULL" in column[2] and "DEFAULT" not in column[2]
        return "older code writes no such column" if needed and column[1] not in new else None
    if re.match(r"INSERT INTO (\w+)", statement) or FLOOR.match(statement):
        return None
    return "it does not only add"


def objections(statements: list[str]) -> list[str]:
    new: set[str] = set()
    return [f"{reason}: {text}" for text in statements if (reason := objection(text, new)) is not None]


@pytest.mark.parametrize("database", DIALECTS)
@pytest.mark.parametrize("migration", LATER, ids=lambda migration: migration.number)
def test_a_migration_only_adds(migration: Migration, database: str) -> None:
    statements = statements_of(migration.number, database)
    if migration.contracts is None:
        assert objections(statements) == []
    else:
        assert migration.contracts < migration.number
        assert any(FLOOR.match(text) and f"{int(migration.contracts)}" in text for text in statements)


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE run",
        "DROP INDEX run_time",
        "ALTER TABLE run DROP COLUMN doc",
        "ALTER TABLE run RENAME COLUMN doc TO document",
        "ALTER TABLE run RENAME TO runs",
        "ALTER TABLE run ALTER COLUMN owner TYPE bigint",
        "ALTER TABLE run MODIFY owner VARCHAR(10)",
        "ALTER TABLE run ADD COLUMN urgent INTEGER NOT NULL",
        "ALTER TABLE run ADD CONSTRAINT one UNIQUE (owner)",
        "CREATE UNIQUE INDEX run_owner ON run (owner)",
        "UPDATE run SET owner = NULL",
        "DELETE FROM run",
    ],
)
def test_one_that_takes_something_away_would_be_found_out(text: str) -> None:
    assert objections([text]) != []


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE run ADD COLUMN urgent INTEGER",
        "ALTER TABLE run ADD COLUMN urgent INTEGER DEFAULT 0 NOT NULL",
        "CREATE INDEX run_owner ON run (owner)",
        "CREATE TABLE fresh (\n    name TEXT NOT NULL,\n    PRIMARY KEY (name)\n)",
        "INSERT INTO flow_group (group_id, generation, falls) VALUES (1, 0, 0)",
        "INSERT INTO counter (name, next_value) VALUES ('oldest_schema', 2)",
    ],
)
def test_one_that_adds_is_let_pass(text: str) -> None:
    assert objections([text]) == []


def test_what_is_new_may_be_strict() -> None:
    texts = ["CREATE TABLE fresh (name TEXT)", "CREATE UNIQUE INDEX one ON fresh (name)"]
    assert objections([*texts, "ALTER TABLE fresh ADD COLUMN size INTEGER NOT NULL"]) == []


# ---------------------------------------------------------------------------------------------- older code
@pytest.mark.parametrize("number", NUMBERS[:-1])
def test_what_older_code_says_is_understood(number: str) -> None:
    """Also what it writes: a column that it does not know would be missing."""
    assert (FOLDER / f"{number}.sql").exists(), "python -m tests.ports.old_statements, with the code before"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        for text in kept(number):
            bound: Any = [None] * text.count("?") if "?" in text else Anything()
            connection.execute(f"EXPLAIN {text}", bound)


def test_statements_that_are_kept_are_many() -> None:
    assert all(len(kept(number)) > 250 for number in NUMBERS[:-1])
    assert NUMBERS[-1] == HEAD


# ------------------------------------------------------------------------------------------------- schemas
def migrated(path: Path, number: str) -> None:
    """Bring a file to a schema, from wherever it is."""
    with closing(sqlite3.connect(path)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        noted = connection.execute("SELECT version_num FROM stretto_version") if tables else []
        found = next((row[0] for row in noted), None)
        for each in MIGRATIONS:
            if (found or "") < each.number <= number:
                connection.executescript(";\n".join(statements_of(each.number, "sqlite")))
        connection.executescript(STAMP if found is None else "DELETE FROM stretto_version")
        connection.execute("INSERT INTO stretto_version VALUES (?)", [number])
        connection.commit()


def schema_of(path: Path) -> dict[str, dict[str, Any]]:
    """Tables with their columns: type, whether it must have a value that nobody gives, place in the key."""
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: {
                name: (kind, bool(strict and default is None), key)
                for _, name, kind, strict, default, key in connection.execute(f"PRAGMA table_info({table})")
            }
            for table in names
        }


def indexes_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index'")}


CONTRACTING = {each.number for each in LATER if each.contracts is not None}
PAIRS = [(before, after) for before, after in pairwise(NUMBERS) if after not in CONTRACTING]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_every_older_column_is_as_it_was(before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "stretto.db"
    migrated(path, before)
    old = schema_of(path)
    migrated(path, after)
    new = schema_of(path)
    for table, columns in old.items():
        assert columns.items() <= new[table].items()
        added = {name: new[table][name] for name in new[table].keys() - columns.keys()}
        assert not any(strict or key for _kind, strict, key in added.values())


def test_step_by_step_leads_where_a_new_file_begins(tmp_path: Path) -> None:
    for number in NUMBERS:
        migrated(tmp_path / "old.db", number)
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    assert schema_of(tmp_path / "old.db") == schema_of(tmp_path / "new.db")
    assert indexes_of(tmp_path / "old.db") == indexes_of(tmp_path / "new.db")


# --------------------------------------------------------------------------------------- every earlier schema
# As Alembic made it, which ran the migrations of earlier releases.
STAMP = (
    "CREATE TABLE stretto_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT stretto_version_pkc PRIMARY KEY (version_num))"
)


NOTE = "INSERT INTO stretto_version VALUES ('{}')"


def earlier(number: str, database: str) -> str:
    """What a release with this schema left in a new database."""
    texts = (text for each in NUMBERS if each <= number for text in statements_of(each, database))
    return "".join(f"{text};\n" for text in (*texts, STAMP, NOTE.format(number)))


@pytest.mark.parametrize("number", NUMBERS[:-1])
def test_a_sqlite_file_of_an_earlier_release_goes_on(number: str, tmp_path: Path) -> None:
    path, fresh = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(earlier(number, "sqlite"))
    for each in (path, fresh):
        sqlite.upgrade(f"sqlite:///{each}")
        assert sqlite.check(f"sqlite:///{each}") == (Standing.CURRENT, HEAD)
    assert schema_of(path) == schema_of(fresh)
    assert indexes_of(path) == indexes_of(fresh)


COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns "
    "WHERE table_schema = {schema} ORDER BY 1, 2"
)


@pytest.mark.parametrize("number", NUMBERS[:-1])
def test_a_postgresql_database_of_an_earlier_release_goes_on(
    number: str, own_postgresql: PostgresServer
) -> None:
    async def say(url: str, text: str) -> Any:
        async with connection_to(url) as connection:
            return await (connection.fetch(text) if text.startswith("SELECT") else connection.execute(text))

    found = []
    for name, texts in ((f"earlier_{number}", earlier(number, "postgresql")), (f"fresh_{number}", "")):
        asyncio.run(say(own_postgresql.url(), f"CREATE DATABASE {name}"))
        url = own_postgresql.url(name)
        asyncio.run(say(url, texts or "SELECT 1"))
        postgresql.upgrade(url)
        assert postgresql.check(url) == (Standing.CURRENT, HEAD)
        rows = asyncio.run(say(url, COLUMNS.format(schema="current_schema()")))
        indexes = asyncio.run(
            say(url, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
        )
        found.append(([tuple(row) for row in rows], [tuple(row) for row in indexes]))
    assert found[0] == found[1]
    assert len(found[0][0]) > 200


@pytest.mark.parametrize("number", NUMBERS[:-1])
@pytest.mark.parametrize("cut_short", [False, True])
def test_a_mariadb_database_of_an_earlier_release_goes_on(
    number: str, own_mariadb: MariadbServer, cut_short: bool
) -> None:
    """Also if an upgrade was killed when it had begun: no statement that changes a table can be undone."""
    found = []
    following = NUMBERS[NUMBERS.index(number) + 1]
    for texts in (earlier(number, "mariadb"), ""):
        database = Database(own_mariadb.url("mysql"), empty=True)
        try:
            if texts:
                run_on_mariadb(database.url, texts)
            if texts and cut_short:
                run_on_mariadb(database.url, statements_of(following, "mariadb")[0])
            mariadb.upgrade(database.url)
            assert mariadb.check(database.url) == (Standing.CURRENT, HEAD)
            indexes = COLUMNS.replace("columns ", "statistics ").replace(
                "data_type", "index_name, seq_in_index"
            )
            indexes = indexes.replace("is_nullable, column_default", "non_unique")
            found.append(
                [sorted(query(database.url, each.format(schema="DATABASE()"))) for each in (COLUMNS, indexes)]
            )
        finally:
            database.drop()
    assert found[0] == found[1]
    assert len(found[0][0]) > 200


def test_a_migration_that_fails_leaves_a_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(earlier(NUMBERS[-2], "sqlite"))
    before = schema_of(path)
    monkeypatch.setattr(
        migrations,
        "statements_of",
        lambda *_: ["CREATE TABLE fresh (name TEXT)", "CREATE TABLE run (x TEXT)"],
    )
    with pytest.raises(PreconditionFailed, match="table run already exists"):
        sqlite.upgrade(f"sqlite:///{path}")
    assert schema_of(path) == before
    assert sqlite.check(f"sqlite:///{path}") == (Standing.TOO_OLD, NUMBERS[-2])
