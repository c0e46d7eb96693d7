"""Opening a SQLite file: it is made if it is missing, and brought up to date."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from stretto.model.errors import PreconditionFailed
from stretto.ports.store import Store
from stretto.store.settings import DatabaseSettings
from stretto.store.sql.hints import at_opening
from stretto.store.sql.migrations import statements_since
from stretto.store.sql.part import DEFAULTS
from stretto.store.sql.store import SqlStore
from stretto.store.sql.version import FLOOR, Standing, has_floor, standing_of
from stretto.store.sqlite.address import path_of
from stretto.store.sqlite.clock import host_clock
from stretto.store.sqlite.database import SqliteDatabase, connected
from stretto.store.sqlite.errors import HINTS
from stretto.store.sqlite.files import make_private
from stretto.store.sqlite.lock import FileLock
from stretto.store.sqlite.network import refuse_network

OLDEST_SQLITE: Final = (3, 35, 0)  # DELETE ... RETURNING, UPDATE ... FROM


async def open_sqlite(
    path: str | Path, settings: DatabaseSettings = DEFAULTS, *, clock: Callable[[], int] = host_clock
) -> Store:
    """A store on a file."""
    return SqlStore(await asyncio.to_thread(_open, Path(path), settings, clock), settings)


async def open_url(url: str, settings: DatabaseSettings, *, create: bool = False) -> Store:  # noqa: ARG001
    """The store at an address. A file that is missing is always made."""
    return await open_sqlite(path_of(url), settings)


def _open(path: Path, settings: DatabaseSettings, clock: Callable[[], int]) -> SqliteDatabase:
    path = path.absolute()
    check_place(path)
    lock = lock_beside(path)
    try:
        with lock:
            prepare(path)
    except BaseException:
        lock.close()
        raise
    return SqliteDatabase(path, lock, settings, clock)


def check_place(path: Path) -> None:
    """Refuse what can not work, with a way out."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise PreconditionFailed(
            f"SQLite {sqlite3.sqlite_version} is too old: {'.'.join(map(str, OLDEST_SQLITE))} is needed",
            hint="install a Python that brings a newer SQLite along",
        )
    if path.is_dir():
        raise PreconditionFailed(f"{path} is a folder", hint="name a file in it, such as stretto.db")
    if not path.parent.is_dir():
        raise PreconditionFailed(
            f"there is no folder {path.parent} for the database {path.name}", hint=f"mkdir -p {path.parent}"
        )
    refuse_network(path.parent.resolve())


def lock_beside(path: Path) -> FileLock:
    """The lock between processes. The database is made, too: both belong to whoever comes first."""
    try:
        make_private(path)
        return FileLock(path.with_name(path.name + "-lock"), path.stat().st_mode & 0o777)
    except OSError as error:
        raise PreconditionFailed(
            f"the database {path} can not be opened: {error.strerror or error}",
            hint="give this process the right to write to the folder of the database",
        ) from error


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """What SQLite says of a file that it can not work with, and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise PreconditionFailed(
            f"the database {path} can not be opened: {error}", hint=at_opening(HINTS.get(code))
        ) from error


def prepare(path: Path) -> None:
    """Make the tables, or bring them up to date."""
    with explaining(path), closing(connected(path)) as connection:
        standing, found = standing_at(connection)
        if standing is Standing.EMPTY:
            _create(connection)
        elif standing is Standing.TOO_OLD:
            _migrate(connection, found)
        elif not standing.is_usable:
            raise standing.refusal(str(path), found)


def standing_at(connection: sqlite3.Connection) -> tuple[Standing, str | None]:
    """How a file stands to the code, and the number of its last migration."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {row[0] for row in rows}
    found: str | None = None
    if "stretto_version" in tables:
        row = connection.execute("SELECT version_num FROM stretto_version").fetchone()
        found = None if row is None else row[0]
    floor = connection.execute(FLOOR).fetchone() if has_floor(tables, found) else None
    return standing_of(tables, found, floor and floor[0]), found


def _create(connection: sqlite3.Connection) -> None:
    """All tables at once, from a text that is made of the same schema as the migrations."""
    script = files("stretto.store.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")
    connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nCOMMIT;")


def _migrate(connection: sqlite3.Connection, found: str | None) -> None:
    """An older file: all migrations that are missing, or none."""
    script = "".join(f"{statement};\n" for statement in statements_since(found, "sqlite"))
    connection.executescript(f"BEGIN IMMEDIATE;\n{script}COMMIT;")
