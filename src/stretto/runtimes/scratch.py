"""Temporary folders that outlive nobody: those of processes that were killed are removed by the next one."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from time import time_ns
from typing import Final

if sys.platform == "win32":  # pragma: no cover - nothing can be told of other processes

    def _lock(file: int, *, wait: bool) -> None:  # noqa: ARG001
        if not wait:
            raise BlockingIOError

else:
    import fcntl

    def _lock(file: int, *, wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


PREFIX: Final = "stretto-"
LOCK: Final = "in-use"  # locked as long as the process lives that made the folder
YOUNG: Final = 60.0  # seconds for whoever makes a folder to lock it


class ScratchFolder:
    """A folder for this process alone, from now until `close`."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._file = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._file, wait=True)

    def close(self) -> None:
        """Remove it, with what is in it. Idempotent."""
        rmtree(self.path, ignore_errors=True)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def remove_abandoned() -> int:
    """Remove the folders whose process is gone: how many."""
    found = [each for each in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if _is_abandoned(each)]
    for each in found:
        rmtree(each, ignore_errors=True)
    return len(found)


def _is_abandoned(folder: Path) -> bool:
    """Whether nobody holds its lock. One without a lock is none of ours, or has just been made."""
    with suppress(OSError):
        if folder.is_symlink() or abs(time_ns() / 1e9 - folder.stat().st_mtime) < YOUNG:
            return False
        lock = os.open(folder / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            _lock(lock, wait=False)
        finally:
            os.close(lock)
        return True
    return False
