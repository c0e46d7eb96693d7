"""What SQLite's errors mean."""

import sqlite3
from pathlib import Path
from typing import Final

from stretto.model.errors import Conflict, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.store.sql.database import Taken
from stretto.store.sql.hints import BY_ITSELF

BAD_VALUES: Final = (
    OverflowError,
    UnicodeError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)


def translated(error: Exception, path: Path) -> Exception:
    """The error that a caller understands; what is not SQLite's stays as it is."""
    if isinstance(error, Taken):
        return Conflict(f"a row is there already: {error}")
    if isinstance(error, BAD_VALUES):
        return Poison(f"the database {path} refuses a value: {error}")
    if isinstance(error, sqlite3.Error):
        return _unavailable(error, path)
    if isinstance(error, OSError):
        return Unavailable(f"the database {path} can not be used: {error.strerror or error}")
    return error


def unknown(error: sqlite3.Error, path: Path) -> StrettoError:
    """What a failed COMMIT means. If the disk failed, the file may still turn out to hold it."""
    code = _primary(error)
    if code == sqlite3.SQLITE_IOERR:
        return OutcomeUnknown(
            f"the disk failed while a transaction was stored in {path}: {error}",
            hint="look at the disk; after it is repaired, everything goes on by itself",
        )
    return _unavailable(error, path)


def _primary(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


HINTS: Final = {
    sqlite3.SQLITE_FULL: f"make room on the disk of the database; {BY_ITSELF} then",
    sqlite3.SQLITE_READONLY: "give this process the right to write to the file and to its folder",
    sqlite3.SQLITE_CANTOPEN: "the folder must exist, and this process must have the right to write to it",
    sqlite3.SQLITE_NOTADB: "name another file, or move this one away",
    sqlite3.SQLITE_CORRUPT: "restore the file from a backup; `sqlite3 FILE .recover` may save what is left",
    sqlite3.SQLITE_IOERR: "look at the disk",
    sqlite3.SQLITE_BUSY: "another program holds the file: only Stretto may write to it",
    sqlite3.SQLITE_LOCKED: "another program holds the file: only Stretto may write to it",
}


def _unavailable(error: sqlite3.Error, path: Path) -> StrettoError:
    return Unavailable(f"the database {path} can not be used: {error}", hint=HINTS.get(_primary(error)))
