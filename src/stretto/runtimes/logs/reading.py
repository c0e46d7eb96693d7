"""What an attempt has printed, over all its launches, from the first line to whatever comes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import LOG, LogLine, Stream
from stretto.runtimes.logs.names import folder_of_step, packs_of, parts_in, writer_of_pack
from stretto.runtimes.logs.records import Record, record_of
from stretto.runtimes.logs.sections import READ_AT_ONCE, PackIndex, prefix_of, title_of

__all__ = ["READ_AT_ONCE", "Reading", "RunReading"]

LONGEST_LINE: Final = 1024 * 1024  # bytes; a longer one comes as several
LEFT_OUT: Final = "({:,} bytes were left out here)"


class Source(NamedTuple):
    """A file with output of a launch. Sources of one attempt sort as they were written: by launch, then by
    the process that wrote (one that took over began later), then by what the launch had printed before.
    """

    generation: int
    take: int
    at: int
    writer: str
    begin: int
    path: Path
    is_pack: bool

    @property
    def output(self) -> tuple[int, int, str]:
        """What is counted from 0: the output of a launch in one process."""
        return self.generation, self.take, self.writer


class PacksOfRun:
    """The packs that have output of a run. Readings of several attempts share one, so that each pack is read
    once for all of them.
    """

    def __init__(self, folder: Path, run: RunKey, prefix: bytes) -> None:
        self._place = packs_of(folder, run)
        self._prefix = prefix
        self._packs: dict[Path, PackIndex] = {}

    def look(self) -> None:
        """Find what was written since the last look."""
        for path in self._place.files():
            self._packs.setdefault(path, PackIndex(path, self._prefix)).look()

    def sources(self, title: bytes) -> Iterator[Source]:
        """The packs that have something of an attempt."""
        for path, index in self._packs.items():
            writer = writer_of_pack(path.name) or ""
            for sections in index.launches.get(title, {}).values():
                generation, take, begin, at = sections.stretch
                yield Source(generation, take, at, writer, begin, path, is_pack=True)

    def read(self, source: Source, title: bytes, most: int) -> bytes:
        """What comes next of an attempt in one of them."""
        sections = self._packs[source.path].launches[title][source.generation, source.take]
        return sections.read(source.path, most)

    def torn(self, source: Source, title: bytes) -> bytes:
        """See `PackIndex.torn`."""
        return self._packs[source.path].torn(title)


class RunReading:
    """Makes readings of the attempts of one run. They see what was there when it looked."""

    def __init__(self, folder: Path, run: RunKey) -> None:
        self._folder = folder
        self._packs = PacksOfRun(folder, run, prefix_of(run))

    def look(self) -> None:
        """Find what was written since the last look. It waits for the disk."""
        self._packs.look()

    def reading(self, attempt: AttemptKey, at_once: int = READ_AT_ONCE) -> "Reading":
        return Reading(self._folder, attempt, at_once, self._packs)


class Reading:
    """Where a reader is. Its methods wait for the disk, and are not called at the same time."""

    def __init__(
        self,
        folder: Path,
        attempt: AttemptKey,
        at_once: int = READ_AT_ONCE,
        packs: PacksOfRun | None = None,
    ) -> None:
        self._attempt = attempt
        self._title = title_of(attempt)
        self._folder = folder_of_step(folder, attempt)
        self._packs = packs or PacksOfRun(folder, attempt.run, self._title + b" ")
        self._looks = packs is None  # nobody else does
        self._at_once = at_once
        self._source: Source | None = None
        self._is_left = True  # nothing is written to it any more
        self._place = 0  # in its file
        self._seen = 0  # bytes that its launch had printed up to here
        self._torn = b""  # a record of which the end was not there yet
        self._last = 0  # when something was printed
        self._lines: dict[Stream, Record] = {}  # that have not ended

    def more(self) -> list[LogLine]:
        """Some lines; none: there are no more now."""
        lines: list[LogLine] = []
        while not lines:
            data = self._data()
            if data:
                *whole, self._torn = (self._torn + data).split(b"\n")
                for each in whole:
                    self._take(each, lines)
                self._bound(lines)
            elif not self._go_on(lines):
                break
        return lines

    def rest(self) -> list[LogLine]:
        """Lines that have not ended, if nothing more comes."""
        if self._source is not None and self._source.is_pack:
            self._torn = self._torn or self._packs.torn(self._source, self._title)
        return self._unended()

    def _unended(self) -> list[LogLine]:
        lines: list[LogLine] = []
        torn, self._torn = self._torn, b""
        if torn:
            self._take(torn, lines)
        for stream in list(self._lines):
            self._end(stream, lines)
        return lines

    # -------------------------------------------------------------------------------------------------- files
    def _data(self) -> bytes:
        source = self._source
        if source is None:
            return b""
        try:
            if source.is_pack:
                if self._looks:
                    self._packs.look()
                return self._packs.read(source, self._title, self._at_once)
            with source.path.open("rb") as file:
                file.seek(self._place)
                data = file.read(self._at_once)
        except OSError:  # it made room for others, or may not be read
            return b""
        self._place += len(data)
        return data

    def _go_on(self, lines: list[LogLine]) -> bool:
        """To the next file. False: there is none."""
        later = self._later()
        if later and later[0].writer and not later[0].is_pack:  # the pack before it is complete by now
            self._packs.look()
            later = self._later()
        if not later:
            return False
        if not self._is_left:  # its last lines may have come after we have looked for some
            self._is_left = True
            return True
        before = self._source
        if before is not None and before.output != later[0].output:
            lines += self.rest()
            self._seen = 0
        self._source = later[0]
        self._is_left = False
        self._place = 0
        missing = self._source.begin - self._seen
        if missing > 0:
            self._torn = b""  # it went with the file that it was in
            lines += self._unended()
            lines.append(LogLine(self._last or self._source.at, LOG, LEFT_OUT.format(missing)))
        self._seen = self._source.begin
        return True

    def _later(self) -> list[Source]:
        return [each for each in self._sources() if self._source is None or each > self._source]

    def _sources(self) -> list[Source]:
        """The files that exist now, in order."""
        if self._looks:
            self._packs.look()
        found = list(self._packs.sources(self._title))
        since: dict[tuple[int, int, str], int] = {}
        for each in found:
            since[each.output] = min(each.at, since.get(each.output, each.at))
        for part in parts_in(self._folder, self._attempt.number):
            _attempt, generation, take, begin, writer = part
            path = self._folder / part.name
            found.append(Source(generation, take, 0, writer, begin, path, is_pack=False))
        return sorted(each._replace(at=since.get(each.output, 0)) for each in found)

    # -------------------------------------------------------------------------------------------------- lines
    def _take(self, line: bytes, lines: list[LogLine]) -> None:
        record = record_of(line)
        if record is None:  # nobody wrote this, or not to its end: it is shown as it is
            lines.append(LogLine(self._last, LOG, line.decode(errors="replace")))
            return
        self._seen += record.size
        self._last = record.at
        begun = self._lines.pop(record.stream, None)
        if begun is not None:
            record = Record(begun.at, record.stream, record.is_whole, begun.text + record.text)
        self._lines[record.stream] = record
        if record.is_whole or len(record.text) > LONGEST_LINE:
            self._end(record.stream, lines)

    def _end(self, stream: Stream, lines: list[LogLine]) -> None:
        record = self._lines.pop(stream)
        text = record.text.removesuffix(b"\r") if record.is_whole else record.text
        lines.append(LogLine(record.at, stream, text.decode(errors="replace")))

    def _bound(self, lines: list[LogLine]) -> None:
        """A file without lines is none of ours, and must not fill the memory either."""
        if len(self._torn) > LONGEST_LINE:
            lines += self._unended()
