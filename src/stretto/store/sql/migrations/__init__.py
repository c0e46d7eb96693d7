"""Migrations of the schema: a text of SQL for each number and database, run in their order and once.

A change of the schema is made in two releases (expand, contract): first what the new code needs is added, and
old code goes on; what nobody needs any more is removed by a later release. A number is never used twice. The
one row of `stretto_version` has the number of the migration that ran last.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final, NamedTuple

from stretto.store.sql.version import TABLE

_KEY: Final = f"CONSTRAINT {TABLE}_pkc PRIMARY KEY (version_num)"
NOTE: Final = f"CREATE TABLE IF NOT EXISTS {TABLE} (\n    version_num VARCHAR(32) NOT NULL,\n    {_KEY}\n)"
"""The table that says which migration ran last. On MariaDB it is there, if the first was cut short."""
NEW_TABLE: Final = re.compile(r"CREATE TABLE (\w+)")


class Migration(NamedTuple):
    """A change of the schema. `contracts`: it takes something away, and code must know this schema from then
    on; then it raises the floor of the database (`version.FLOOR`).
    """

    number: str
    adds: str
    contracts: str | None = None


MIGRATIONS: Final = (
    Migration("0001", "the first schema"),
    Migration("0002", "functions of programs, and results of theirs that are kept for a while"),
    Migration("0003", "indexes: when triggers of all workflows fire next, and runs by their request id"),
    Migration("0004", "bulk jobs and their items"),
    Migration("0005", "what steps ask people"),
    Migration("0006", "the functions that live nodes advertise, and the rates of tags"),
)


def statements_of(number: str, database: str) -> list[str]:
    """The statements of a migration; each ends with `;` at the end of a line."""
    text = files(__name__).joinpath(f"{number}.{database}.sql").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [statement.strip() for statement in "\n".join([*lines, ""]).split(";\n") if statement.strip()]


def statements_since(found: str | None, database: str) -> Iterator[str]:
    """What brings a database to the newest schema, whose last migration has this number; None: it is empty.
    Each migration ends with the statement that notes it.
    """
    if found is None:
        yield NOTE
    for migration in MIGRATIONS:
        if found is None or migration.number > found:
            yield from statements_of(migration.number, database)
            if found is None:
                yield f"INSERT INTO {TABLE} (version_num) VALUES ('{migration.number}')"
            else:
                yield f"UPDATE {TABLE} SET version_num = '{migration.number}'"
            found = migration.number


def made_tables(database: str) -> set[str]:
    """All tables that migrations make, but the one that counts them."""
    texts = (text for each in MIGRATIONS for text in statements_of(each.number, database))
    return {made[1] for text in texts if (made := NEW_TABLE.match(text)) is not None}
