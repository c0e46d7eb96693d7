"""The packs that this process appends to: one for each run, a new one when it is full."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from itertools import count
from os import SEEK_END
from pathlib import Path
from typing import Final

from stretto.engine.records import RunKey
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.names import PackPlace, packs_of
from stretto.runtimes.logs.sections import header_of, index_of, title_of

FULL: Final = 8 * 1024 * 1024  # bytes of a pack; then the next one is begun
MOST_KNOWN: Final = 10_000  # runs whose packs are gone on with; of others a new one is begun


class Pack:
    """Appends sections. Raises OSError; what comes then goes into a new file, so that a record which was cut
    off is always the last one of its file. It may be closed at any time.
    """

    __slots__ = ("_file", "_last", "_new", "_open", "_ranges", "_size", "path")

    def __init__(self, new: Callable[[], Path], open_file: Callable[[Path], FileIO]) -> None:
        self._new = new
        self._open = open_file
        self.path: Path | None = None
        self._file: FileIO | None = None
        self._begin_file()

    def _begin_file(self) -> None:
        self.close()
        self.path = None
        self._size = 0
        self._last: Launch | None = None
        self._ranges: dict[bytes, list[int]] = {}  # title of an attempt -> where its sections begin and end

    def append(self, launch: Launch, begin: int, at: int, made: bytes) -> None:
        """Some records of a launch that had printed so many bytes before them."""
        if self._size >= FULL:
            self._finish()
        self._reopen()
        header = b"" if launch == self._last else header_of(launch, begin, at)
        self._write(header + made)
        title = title_of(launch.attempt)
        if header:
            self._ranges.setdefault(title, [self._size, 0])
        self._size += len(header) + len(made)
        self._ranges[title][1] = self._size
        self._last = launch

    def close(self) -> None:
        """Idempotent; whoever appends opens it again."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # a disk elsewhere tells only now that it is full
                file.close()

    def _finish(self) -> None:
        """The pack is full: append its index, and begin the next one."""
        with suppress(OSError):  # it is found without one, too
            self._write(index_of(self._ranges, self._size))
        self._begin_file()

    def _reopen(self) -> None:
        """Go on in the file, if it is still as it was left."""
        if self.path is None or self._file is not None:
            return
        self._file = self._open(self.path)
        if self._file.seek(0, SEEK_END) != self._size:
            self._begin_file()

    def _write(self, made: bytes) -> None:
        if self.path is None:
            self.path = self._new()
        try:
            if self._file is None:
                self._file = self._open(self.path)
            left = memoryview(made)
            while left:
                left = left[self._file.write(left) :]
        except OSError:
            self._begin_file()
            raise


class Packs:
    """The packs of all runs that this process writes for. `writer`: a name that no other process has."""

    def __init__(
        self,
        folder: Path,
        writer: str,
        open_file: Callable[[Path], FileIO],
        most_known: int = MOST_KNOWN,
    ) -> None:
        self._folder = folder
        self.writer = writer
        self._open_file = open_file
        self._most_known = most_known
        self._known: OrderedDict[PackPlace, Pack] = OrderedDict()
        self._numbers = count(1)

    def of(self, run: RunKey) -> Pack:
        """The pack for the output of a run."""
        place = packs_of(self._folder, run)
        pack = self._known.get(place)
        if pack is None:
            pack = Pack(lambda: place.file(self.writer, next(self._numbers)), self._open_file)
            self._known[place] = pack
            if len(self._known) > self._most_known:
                self._known.popitem(last=False)
        self._known.move_to_end(place)
        return pack

    def drop(self, place: PackPlace) -> None:
        """What comes for these runs goes into a new pack."""
        pack = self._known.pop(place, None)
        if pack is not None:
            pack.close()

    def drop_under(self, folder: Path) -> None:
        """The same for all packs below a folder."""
        for place in [each for each in self._known if each.folder.parent == folder]:
            self.drop(place)
