"""Expand, then contract: code that knows an older schema goes on working while newer code is rolled out.

A migration only adds. One that takes something away has `contracts = "NNNN"` in its module, the number of the
schema that code must know from then on, and raises the floor of the database to it: older code is refused.
"""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool
from tests.ports.old_statements import FOLDER, kept
from tests.ports.test_sql_plans import SCHEMA, Anything

from stretto.store.sql.migrations import versions
from stretto.store.sql.migrations.scripts import statements_of
from stretto.store.sql.schema.script import DIALECTS
from stretto.store.sql.version import HEAD

MODULES = [import_module(f"{versions.__name__}.{each.name}") for each in iter_modules(versions.__path__)]
NUMBERS = sorted(module.revision for module in MODULES)
LATER = [module for module in MODULES if module.revision != NUMBERS[0]]
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
@pytest.mark.parametrize("module", LATER, ids=lambda module: module.revision)
def test_a_migration_only_adds(module: Any, database: str) -> None:
    statements = statements_of(module.revision, database)
    contracts = getattr(module, "contracts", None)
    if contracts is None:
        assert objections(statements) == []
    else:
        assert contracts < module.revision
        assert any(FLOOR.match(text) and f"{int(contracts)}" in text for text in statements)


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
def migrated(path: Path, number: str, go: Callable[[Config, str], None] = command.upgrade) -> None:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", "stretto.store.sql:migrations")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        go(config, number)


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


CONTRACTING = {module.revision for module in LATER if hasattr(module, "contracts")}
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


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_what_was_added_can_be_taken_away_again(before: str, after: str, tmp_path: Path) -> None:
    migrated(tmp_path / "once.db", before)
    migrated(tmp_path / "back.db", after)
    migrated(tmp_path / "back.db", before, command.downgrade)
    assert schema_of(tmp_path / "back.db") == schema_of(tmp_path / "once.db")
