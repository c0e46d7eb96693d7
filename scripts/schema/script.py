"""The schema as text: what migrations that make tables run, and what a new SQLite file is made of."""

from collections.abc import Sequence
from typing import Final

from scripts.schema import METADATA
from scripts.schema.columns import FIRST, SINCE
from sqlalchemy import Dialect, Index
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.dialects.mysql.mariadb import MariaDBDialect
from sqlalchemy.schema import CreateIndex, CreateTable

from stretto.ports.places import GROUPS
from stretto.store.sql.migrations import NOTE
from stretto.store.sql.version import HEAD, TABLE

DIALECTS: Final[dict[str, type[Dialect]]] = {
    "sqlite": sqlite.dialect,
    "postgresql": postgresql.dialect,
    "mariadb": MariaDBDialect,
    "mysql": mysql.dialect,
}
AT_ONCE: Final = frozenset({"mariadb", "mysql"})
"""An index that is made after its table costs these as much as the table itself."""


def statements(database: str, since: str | None = None) -> list[str]:
    """Every table, or those that one migration makes; their indexes, and the rows that a new database has."""
    dialect = DIALECTS[database]()
    texts: list[str] = []
    for table in METADATA.sorted_tables:
        indexes = sorted(table.indexes, key=lambda each: str(each.name))
        with_table = [each for each in indexes if each.info[SINCE] is None]
        later = [
            each for each in indexes if each.info[SINCE] is not None and since in {None, each.info[SINCE]}
        ]
        if since in {None, table.info[SINCE]}:
            text = _tidy(str(CreateTable(table).compile(dialect=dialect)))
            if database in AT_ONCE:
                texts.append(_with_indexes(text, with_table))
            else:
                texts += [text, *(_made(each, dialect) for each in with_table)]
        texts += [_made(each, dialect) for each in later]
    if since not in {None, FIRST}:
        return texts
    groups = ", ".join(f"({group}, 0, 0)" for group in range(GROUPS))
    return [*texts, f"INSERT INTO flow_group (group_id, generation, falls) VALUES {groups}"]  # noqa: S608 - numbers


def _made(index: Index, dialect: Dialect) -> str:
    return _tidy(str(CreateIndex(index).compile(dialect=dialect)))


def _with_indexes(text: str, indexes: Sequence[Index]) -> str:
    body, end = text.rsplit("\n)", 1)
    kinds = {True: "UNIQUE INDEX", False: "INDEX"}
    for each in indexes:
        columns = ", ".join(column.name for column in each.columns)
        body += f",\n    {kinds[each.unique]} {each.name} ({columns})"
    return f"{body}\n){end}"


def script(database: str, since: str | None = None, *, stamped: bool) -> str:
    """The same as one text; stamped, it is a database that needs no migration."""
    texts = statements(database, since)
    if stamped:
        texts.append(NOTE)
        texts.append(f"INSERT INTO {TABLE} (version_num) VALUES ('{HEAD}')")  # noqa: S608 - a number
    return "".join(f"{text};\n" for text in texts)


def _tidy(text: str) -> str:
    return "\n".join(line.replace("\t", "    ").rstrip() for line in text.strip().splitlines())
