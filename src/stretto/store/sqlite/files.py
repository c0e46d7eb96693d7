"""The files of an open SQLite database: whether they are still there, sound, and able to grow.

SQLite holds its files open. One that was deleted or replaced is written to all the same, and what was written
is gone when the process ends. So after each commit the files are compared with those that were opened.
"""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from stretto.model.errors import Unavailable
from stretto.ports.failures import OutcomeUnknown
from stretto.ports.own_files import tighten

OWN_ONLY: Final = 0o600  # files hold parameters and outputs, which may be secrets
BESIDE: Final = ("-wal", "-shm")
LEAST_FREE: Final = 1024 * 1024  # bytes on the disk without which nothing can be relied on
CHECKED_UP_TO: Final = 16 * 1024 * 1024  # bytes of a file that is read as a whole to find damage
CHECK_EVERY: Final = 10.0  # seconds
DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
RESTORE: Final = "stop all processes that use it, restore it from a backup, and start them again"


class Identity(NamedTuple):
    """Which file it is, whatever its name."""

    device: int
    inode: int


class DatabaseFiles:
    """The file of a database and those beside it, from the moment when it was opened. The files themselves
    are never opened here: to close one would undo SQLite's own locks.
    """

    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection]) -> None:
        self.path = path
        self._connect = connect
        self._opened: dict[Path, Identity] = {}
        self._checked_at = -CHECK_EVERY
        self._checking = Lock()
        self._trouble: str | None = None  # that does not end while the process lives

    def opened(self) -> None:
        """A connection was opened: from now on these are the files."""
        self._opened = {each: _identity(each) for each in self._names() if each.exists()}

    def note(self, error: BaseException) -> None:
        """Remember that SQLite has found damage: it does not heal."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in DAMAGED and self._trouble is None:
            self._trouble = f"the database {self.path} is damaged: {error}"

    def check(self) -> None:
        """Refuse to go on if the files are not those that were opened."""
        if self._trouble is not None:
            raise Unavailable(self._trouble, hint=RESTORE)
        self._compare(Unavailable)

    def check_stored(self) -> None:
        """The same after a commit, which is in the files that were opened, and in no others."""
        self._compare(OutcomeUnknown)

    def examine(self) -> None:
        """Refuse to go on if something is wrong that a commit does not show: damage, a full disk. It takes
        milliseconds: not for an event loop.
        """
        self.check()
        disk = os.statvfs(self.path.parent)
        free = disk.f_bavail * disk.f_frsize
        if free < LEAST_FREE:
            raise Unavailable(
                f"the disk of the database {self.path} is full: {free // 1024} KB are left",
                hint="make room on the disk",
            )
        with self._checking:
            if monotonic() - self._checked_at >= CHECK_EVERY:
                self._look_for_damage()
                self._checked_at = monotonic()
        self.check()

    def _look_for_damage(self) -> None:
        """With a new connection, which has nothing in its cache."""
        connection = None
        try:
            connection = self._connect(self.path)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if self.path.stat().st_size <= CHECKED_UP_TO:
                found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok":
                    self._trouble = f"the database {self.path} is damaged: {' '.join(found.split())}"
        except sqlite3.Error as error:
            self.note(error)
            raise
        finally:
            if connection is not None:
                connection.close()

    def _compare(self, kind: type[Unavailable]) -> None:
        for path, identity in self._opened.items():
            try:
                found = _identity(path)
            except FileNotFoundError:
                found = None
            if found != identity:
                self._trouble = f"{path} was {'deleted' if found is None else 'replaced'} while it was in use"
                raise kind(
                    f"{self._trouble}; nothing can be stored any more",
                    hint=RESTORE,
                )

    def _names(self) -> list[Path]:
        return [self.path, *(self.path.with_name(self.path.name + end) for end in BESIDE)]


def _identity(path: Path) -> Identity:
    found = path.stat()
    return Identity(found.st_dev, found.st_ino)


def make_private(path: Path) -> None:
    """Make the file if it is missing, for its owner alone; SQLite gives those beside it the same rights. What
    is there is closed to others.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), OWN_ONLY))
    except FileExistsError:
        for end in ("", *BESIDE, "-lock"):
            tighten(path.with_name(path.name + end))
