"""A lock between processes: whoever writes holds it. It is let go by the system if its process dies."""

import os
import sys
from pathlib import Path
from types import TracebackType

if sys.platform == "win32":  # pragma: no cover - not tried here
    import msvcrt

    def _acquire(file: int) -> None:
        while True:
            try:
                msvcrt.locking(file, msvcrt.LK_LOCK, 1)
            except OSError:  # it gives up after ten seconds
                continue
            return

    def _attempt(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _attempt(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class FileLock:
    """Beside the database, and never the file of the database itself: to close that would undo SQLite's own
    locks. It waits without asking again and again, and each handle has its own, also in one process.
    """

    def __init__(self, path: Path, mode: int = 0o600) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), mode)

    def __enter__(self) -> None:
        _acquire(self._file)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _release(self._file)

    def attempt(self) -> bool:
        """Have it if nobody else does; whoever got it must let go of it."""
        return _attempt(self._file)

    def release(self) -> None:
        _release(self._file)

    def close(self) -> None:
        os.close(self._file)
