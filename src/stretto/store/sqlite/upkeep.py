"""What an operator does with a SQLite file: `stretto db upgrade | check | vacuum`."""

import sqlite3
from contextlib import closing

from stretto.store.sql.version import Standing
from stretto.store.sqlite.address import path_of
from stretto.store.sqlite.database import connected
from stretto.store.sqlite.opening import check_place, explaining, lock_beside, prepare, standing_at


def upgrade(url: str) -> None:
    """Make the tables, or bring them up to date."""
    path = path_of(url)
    check_place(path)
    with lock_beside(path):
        prepare(path)


def check(url: str) -> tuple[Standing, str | None]:
    """How the file stands to the code, and the number of its last migration. It is not made here."""
    path = path_of(url)
    check_place(path)
    if not path.exists():
        return Standing.EMPTY, None
    with explaining(path), closing(sqlite3.connect(path)) as connection:
        return standing_at(connection)


def vacuum(url: str) -> None:
    """Give the room of deleted rows back to the disk. Writers wait meanwhile."""
    path = path_of(url)
    check_place(path)
    with lock_beside(path), explaining(path), closing(connected(path)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA optimize")
