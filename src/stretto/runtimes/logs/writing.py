"""The files of one launch: one for its beginning, and a few for its end, of which the oldest go."""

import os
from collections import deque
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final

from stretto.ports.logs import Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.names import Part, folder_of_step, parts_in
from stretto.runtimes.logs.records import LONGEST, record_of, records

PARTS: Final = 4  # files for the end: at least three quarters of its half are there
AT_ONCE: Final = 64 * 1024  # bytes that are written together, or about as many: larger pieces take longer
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
TRY_EVERY: Final = 1_000  # milliseconds between two tries, while nothing can be written
LEAST: Final = 16 * 1024  # bytes of a launch, so that a record fits into each file


class Writer:
    """Raises OSError; then what comes is lost for a while, and counted. It may be closed at any time."""

    __slots__ = ("_again_at", "_end", "_file", "_first", "_folder", "_half", "_printed", "_room", "is_told")

    def __init__(self, folder: Path, launch: Launch, most_bytes: int) -> None:
        self.is_told = False  # that something is lost
        self._folder = folder_of_step(folder, launch.attempt)
        self._first = Part(launch.attempt.number, launch.generation, launch.take)
        self._half = max(LEAST, most_bytes) // 2
        self._end: deque[Part] | None = None  # None: nobody has looked yet
        self._file: FileIO | None = None
        self._room = 0  # in the open file
        self._printed = 0  # bytes of output so far
        self._again_at: int | None = None  # when to try again, after a failure

    @property
    def folder(self) -> Path:
        return self._folder

    def write(self, at: int, stream: Stream, data: bytes) -> None:
        """Some output, in pieces of which each fits into a file."""
        done = 0
        try:
            if self._again_at is None or at >= self._again_at:
                self._get_ready()
                longest = self._longest(data)
                while done < len(data):
                    end = min(done + longest, len(data))
                    if end < len(data):  # between two lines, if there is such a place
                        end = data.rfind(b"\n", done, end) + 1 or end
                    self._write(records(at, stream, data[done:end]))
                    self._printed += end - done
                    done = end
        except OSError:
            self.close()
            self._again_at = at + TRY_EVERY
            raise
        finally:
            self._printed += len(data) - done

    def _longest(self, data: bytes) -> int:
        """How much output is written together: as much as fits into any file, if each byte is a line."""
        wanted = AT_ONCE * len(data) // (len(data) + LONGEST * data.count(b"\n"))
        return min(wanted, self._half // PARTS // (LONGEST + 1) - 1)

    def close(self) -> None:
        """Idempotent; whoever writes opens it again."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # a disk elsewhere tells only now that it is full
                file.close()

    # -------------------------------------------------------------------------------------------------- files
    def _write(self, made: bytes) -> None:
        if len(made) > self._room:
            self._turn()
        assert self._file is not None  # noqa: S101 - it was made ready
        self._room -= len(made)
        left = memoryview(made)
        while left:
            left = left[self._file.write(left) :]

    def _get_ready(self) -> None:
        if self._again_at is not None:  # a new file: what is missing before it will be seen
            self._turn()
            self._again_at = None
        elif self._file is None:
            known = self._known()
            self._open(known[-1] if known else self._first)

    def _open(self, part: Part) -> None:
        self._file = _opened(self._folder / part.name)
        size = self._file.seek(0, os.SEEK_END)
        self._room = (self._half // PARTS if part.begin else self._half) - size

    def _known(self) -> deque[Part]:
        """The files of the end. A launch goes on where it has stopped, here or in another process."""
        if self._end is None:
            found = parts_in(self._folder, self._first.attempt)
            parts = [part for part in found if part[:3] == self._first[:3]]
            if parts:
                self._printed += parts[-1].begin + _whole(self._folder / parts[-1].name)
            self._end = deque(part for part in parts if part.begin)
        return self._end

    def _turn(self) -> None:
        """The next file."""
        self.close()
        known = self._known()
        while len(known) >= PARTS:
            with suppress(OSError):  # it is gone; or, on Windows, somebody reads it
                (self._folder / known.popleft().name).unlink()
        part = self._first._replace(begin=self._printed)
        self._open(part)
        known.append(part)


def _whole(path: Path) -> int:
    """Bytes of output in a file that is there. If its last record is not complete, that ends there."""
    with path.open("r+b") as file:
        found = (record_of(line.removesuffix(b"\n")) for line in file)
        size = sum(record.size for record in found if record is not None)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")
    return size


def _opened(path: Path) -> FileIO:
    with suppress(FileNotFoundError):
        return FileIO(path, "ab", opener=_private)
    _make(path.parent)
    return FileIO(path, "ab", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)


def _make(folder: Path) -> None:
    """With those around it, all for nobody else: what steps print may be secret."""
    try:
        folder.mkdir(FOLDER_MODE, exist_ok=True)
    except FileNotFoundError:
        if folder.parent == folder:  # there is no such drive
            raise
        _make(folder.parent)
        folder.mkdir(FOLDER_MODE, exist_ok=True)
