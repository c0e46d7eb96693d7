"""The output of one launch: its beginning in the pack of its run; of much output the rest in files of its
own, one for the beginning and a few for the end, of which the oldest go.
"""

import os
from collections import deque
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final

from stretto.ports.logs import Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.names import Part, folder_of_step
from stretto.runtimes.logs.packs import Pack
from stretto.runtimes.logs.records import LONGEST, records

PARTS: Final = 4  # files for the end: at least three quarters of its half are there
PACKED: Final = 64 * 1024  # bytes of a launch in the pack: a launch that has files of its own fills them
AT_ONCE: Final = 64 * 1024  # bytes that are written together, or about as many: larger pieces take longer
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
TRY_EVERY: Final = 1_000  # milliseconds between two tries, while nothing can be written
TRIES: Final = 3  # to make a folder that is deleted again, since it is empty
LEAST: Final = 16 * 1024  # bytes of a launch, so that a record fits into each file


class Writer:
    """Raises OSError; then what comes is lost for a while, and counted. It may be closed at any time."""

    __slots__ = (
        "_again_at",
        "_end",
        "_file",
        "_first",
        "_folder",
        "_half",
        "_head",
        "_launch",
        "_own",
        "_pack",
        "_packed",
        "_printed",
        "_room",
        "is_told",
    )

    def __init__(self, folder: Path, launch: Launch, most_bytes: int, pack: Pack, writer: str) -> None:
        self.is_told = False  # that something is lost
        self._folder = folder_of_step(folder, launch.attempt)
        self._launch = launch
        self._first = Part(launch.attempt.number, launch.generation, launch.take, writer=writer)
        self._half = max(LEAST, most_bytes) // 2
        self._pack = pack
        self._packed = min(PACKED, self._half // 2)  # bytes that the pack still takes
        self._head = self._half - self._packed  # bytes of the beginning that do not fit there
        self._own: Part | None = None  # the file that is written to; None: the pack is
        self._end: deque[Part] = deque()
        self._file: FileIO | None = None
        self._room = 0  # in the open file
        self._printed = 0  # bytes of output so far
        self._again_at: int | None = None  # when to try again, after a failure

    @property
    def folder(self) -> Path:
        """Where its own files are."""
        return self._folder

    @property
    def target(self) -> "Pack | Writer":
        """What is open while it writes."""
        return self._pack if self._own is None else self

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
                    self._write(at, records(at, stream, data[done:end]))
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
        """Idempotent; whoever writes opens it again. The pack is left to the others who write to it."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # a disk elsewhere tells only now that it is full
                file.close()

    # -------------------------------------------------------------------------------------------------- files
    def _write(self, at: int, made: bytes) -> None:
        if self._own is None and len(made) <= self._packed:
            self._pack.append(self._launch, self._printed, at, made)
            self._packed -= len(made)
            return
        if self._own is None or len(made) > self._room:
            self._turn()
        assert self._file is not None  # noqa: S101 - it was made ready
        self._room -= len(made)
        left = memoryview(made)
        while left:
            left = left[self._file.write(left) :]

    def _get_ready(self) -> None:
        if self._again_at is not None:  # a new file: what is missing before it will be seen
            if self._own is not None:
                self._turn()
            self._again_at = None
        elif self._own is not None and self._file is None:
            self._open(self._own)

    def _open(self, part: Part) -> None:
        self._own = part
        self._file = opened(self._folder / part.name)
        size = self._file.seek(0, os.SEEK_END)
        self._room = (self._half // PARTS if self._end else self._head) - size

    def _turn(self) -> None:
        """The next file: the first takes what is left for the beginning, the others the end."""
        self.close()
        while len(self._end) >= PARTS:
            with suppress(OSError):  # it is gone; or, on Windows, somebody reads it
                (self._folder / self._end.popleft().name).unlink()
        part = self._first._replace(begin=self._printed)
        if self._own is not None:
            self._end.append(part)
        self._open(part)


def opened(path: Path) -> FileIO:
    """The file, to be appended to; it is made with the folders around it, all for nobody else."""
    for _ in range(TRIES):
        with suppress(FileNotFoundError):
            return FileIO(path, "ab", opener=_private)
        _make(path.parent)
    return FileIO(path, "ab", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)


def _make(folder: Path) -> None:
    """What steps print may be secret."""
    try:
        folder.mkdir(FOLDER_MODE, exist_ok=True)
    except FileNotFoundError:
        if folder.parent == folder:  # there is no such drive
            raise
        _make(folder.parent)
        folder.mkdir(FOLDER_MODE, exist_ok=True)
