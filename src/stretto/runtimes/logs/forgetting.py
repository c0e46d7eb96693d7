"""Files of output that are old are removed, a few at a time, and so are folders that have become empty."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from stretto.runtimes.logs.names import part_of

AT_ONCE: Final = 10_000  # entries that a call looks at
DEPTH: Final = 4  # folders: workflow, instance, run, step


class Forgetting:
    """Remembers how far it came. Its calls wait for the disk, and do not overlap."""

    def __init__(self, folder: Path, at_once: int = AT_ONCE) -> None:
        self._folder = folder
        self._at_once = at_once
        self._before = 0
        self._busy: Collection[Path] = ()
        self._looking: Iterator[bool] = iter(())

    def some(self, before: int, busy: Collection[Path] = ()) -> int:
        """Look at some files; those that were last written before a moment go, but in folders where somebody
        is at work. Returns how many went.
        """
        self._before, self._busy = before, busy
        seen = list(islice(self._looking, self._at_once))
        if len(seen) < self._at_once:  # that was the last: from the start, the next time
            self._looking = self._look(self._folder, 0)
            seen += islice(self._looking, self._at_once - len(seen))
        return sum(seen)

    def _look(self, folder: Path, depth: int) -> Iterator[bool]:
        """Whether a file is gone, for each entry."""
        is_old = False
        with suppress(OSError), os.scandir(folder) as entries:  # one after the other: there may be a million
            is_old = self._is_old(folder.stat())
            for entry in entries:
                if depth < DEPTH and entry.is_dir(follow_symlinks=False):
                    yield False
                    yield from self._look(Path(entry.path), depth + 1)
                elif depth == DEPTH:
                    yield self._removed(folder, entry)
        if depth and is_old:  # a new one may wait for its first file
            with suppress(OSError):  # something is in it
                folder.rmdir()

    def _removed(self, folder: Path, entry: "os.DirEntry[str]") -> bool:
        if part_of(entry.name) is None or folder in self._busy:
            return False
        try:
            if not self._is_old(entry.stat(follow_symlinks=False)):
                return False
            Path(entry.path).unlink()
        except OSError:  # somebody was faster, or it is not ours to remove
            return False
        return True

    def _is_old(self, found: os.stat_result) -> bool:
        return found.st_mtime_ns // 1_000_000 < self._before
