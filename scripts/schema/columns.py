"""Kinds of columns, and how tables are made of them.

Keys are compared byte by byte on every database, so that the order of a list is the order in which Python
sorts: by code points, capitals first, trailing spaces counted.
"""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, SmallInteger, String, Table, Text
from sqlalchemy.dialects import mysql

from stretto.store.sql.lengths import ID_LENGTH, TEXT_LENGTH

METADATA: Final = MetaData()
SINCE: Final = "since"

INT: Final = BigInteger().with_variant(Integer(), "sqlite")  # only INTEGER can be AUTOINCREMENT there
FLAG: Final = SmallInteger()
DOCUMENT: Final = (
    Text()
    .with_variant(mysql.LONGTEXT(charset="utf8mb4", collation="utf8mb4_nopad_bin"), "mariadb")
    .with_variant(mysql.LONGTEXT(charset="utf8mb4", collation="utf8mb4_0900_bin"), "mysql")
)


def text(length: int = TEXT_LENGTH) -> Any:
    """Text that is compared byte by byte, and can be part of a key."""
    return (
        String(length)
        .with_variant(String(length, collation="C"), "postgresql")
        .with_variant(mysql.VARCHAR(length, charset="utf8mb4", collation="utf8mb4_nopad_bin"), "mariadb")
        .with_variant(mysql.VARCHAR(length, charset="utf8mb4", collation="utf8mb4_0900_bin"), "mysql")
    )


def key(name: str, kind: Any, **more: Any) -> Column[Any]:
    """A column of the primary key; nothing is numbered by the database unless it says so."""
    return Column(name, kind, primary_key=True, autoincrement=more.pop("autoincrement", False), **more)


def some(name: str, kind: Any, default: str | None = None) -> Column[Any]:
    """A column that always has a value."""
    return Column(name, kind, nullable=False, server_default=default)


def maybe(name: str, kind: Any) -> Column[Any]:
    """A column that may be null."""
    return Column(name, kind, nullable=True)


def run_key(prefix: str = "") -> list[Column[Any]]:
    """The columns that name a run."""
    return [
        key(f"{prefix}workflow_id", text(ID_LENGTH)),
        key(f"{prefix}instance_id", INT),
        key(f"{prefix}run_id", INT),
    ]


def attempt_key() -> list[Column[Any]]:
    """The columns that name a step attempt."""
    return [*run_key(), key("step_id", text(ID_LENGTH)), key("attempt_no", INT)]


FIRST: Final = "0001"  # the number of the first migration


def table(name: str, *parts: Any, small: bool = False, since: str = FIRST, **more: Any) -> Table:
    """A table. One with `small` rows is kept in the tree of its key; others would make that tree deep.
    `since` is the number of the migration that makes it.
    """
    return Table(
        name,
        METADATA,
        *parts,
        info={SINCE: since},
        sqlite_with_rowid=not small,
        mysql_engine="InnoDB",
        mysql_row_format="DYNAMIC",
        mariadb_engine="InnoDB",
        mariadb_row_format="DYNAMIC",
        **more,
    )


def index(
    name: str, *columns: str, where: Any = None, unique: bool = False, since: str | None = None
) -> Index:
    """An index; `where` makes it smaller on the databases that know how. `since` is the number of the
    migration that makes it, if that is not the one of its table.
    """
    filters = {} if where is None else {"sqlite_where": where, "postgresql_where": where}
    return Index(name, *columns, unique=unique, info={SINCE: since}, **filters)
