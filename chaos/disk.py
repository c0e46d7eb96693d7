"""A small disk that can be filled and emptied: a file system in memory, which only root may mount."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MIB: Final = 1024 * 1024
BLOCK: Final = bytes(MIB)
BALLAST: Final = "ballast"


class NoDisk(Exception):
    """There is none to be had, and why."""


class Disk:
    """A folder that is a disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / BALLAST

    def fill(self) -> None:
        """Until not one byte more goes onto it."""
        with self._ballast.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                size = min(len(BLOCK), max(1, shutil.disk_usage(self.folder).free))
                file.write(BLOCK[:size])

    def free(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def mounted(mebibytes: int) -> Iterator[Disk]:
    """Everything that is made in temporary folders meanwhile is made on it."""
    folder = Path(tempfile.mkdtemp(prefix="stretto-disk-"))
    if os.getuid():
        folder.rmdir()
        raise NoDisk("only root may mount a small disk to be filled up")
    before = tempfile.tempdir
    _run("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=1777", "tmpfs", str(folder))
    try:
        tempfile.tempdir = str(folder)
        yield Disk(folder)
    finally:
        tempfile.tempdir = before
        _run("umount", "--lazy", str(folder))
        folder.rmdir()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603 - of our own making
    if done.returncode:
        raise NoDisk(f"{' '.join(command)}: {done.stderr.strip()}")
