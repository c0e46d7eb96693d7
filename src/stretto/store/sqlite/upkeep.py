"""What an operator does with a SQLite file: `stretto db upgrade | check | vacuum`."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from stretto.store.sql.migrating import look, migrate
from stretto.store.sql.version import Standing
from stretto.store.sqlite.address import path_of
from stretto.store.sqlite.database import connected
from stretto.store.sqlite.opening import check_place, explaining, lock_beside, prepare


def upgrade(url: str) -> None:
    """Make the tables, or bring them up to date."""
    path = path_of(url)
    check_place(path)
    with lock_beside(path):
        prepare(path)


def migrate_file(path: Path) -> None:
    """Run the migrations that are missing. The caller holds the lock."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    with engine.begin() as connection:
        migrate(connection)


def check(url: str) -> tuple[Standing, str | None]:
    """How the file stands to the code, and the number of its last migration. It is not made here."""
    path = path_of(url)
    check_place(path)
    if not path.exists():
        return Standing.EMPTY, None
    with explaining(path):
        return _look(path)


def _look(path: Path) -> tuple[Standing, str | None]:
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    try:
        with engine.connect() as connection:
            return look(connection)
    except DBAPIError as error:
        raise error.orig or error from None


def vacuum(url: str) -> None:
    """Give the room of deleted rows back to the disk. Writers wait meanwhile."""
    path = path_of(url)
    check_place(path)
    with lock_beside(path), explaining(path), closing(connected(path)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA optimize")
