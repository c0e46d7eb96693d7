"""What an attempt has printed, over all its launches, from the first line to whatever comes."""

from pathlib import Path
from typing import Final

from stretto.engine.records import AttemptKey
from stretto.ports.logs import LOG, LogLine, Stream
from stretto.runtimes.logs.names import Part, folder_of_step, parts_in
from stretto.runtimes.logs.records import Record, record_of

READ_AT_ONCE: Final = 256 * 1024
LONGEST_LINE: Final = 1024 * 1024  # bytes; a longer one comes as several
LEFT_OUT: Final = "({:,} bytes were left out here)"


class Reading:
    """Where a reader is. Its methods wait for the disk, and are not called at the same time."""

    def __init__(self, folder: Path, attempt: AttemptKey, at_once: int = READ_AT_ONCE) -> None:
        self._folder = folder_of_step(folder, attempt)
        self._attempt = attempt.number
        self._at_once = at_once
        self._part: Part | None = None
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
        lines: list[LogLine] = []
        torn, self._torn = self._torn, b""
        if torn:
            self._take(torn, lines)
        for stream in list(self._lines):
            self._end(stream, lines)
        return lines

    # -------------------------------------------------------------------------------------------------- files
    def _data(self) -> bytes:
        if self._part is None:
            return b""
        try:
            with (self._folder / self._part.name).open("rb") as file:
                file.seek(self._place)
                data = file.read(self._at_once)
        except OSError:  # it made room for others, or may not be read
            return b""
        self._place += len(data)
        return data

    def _go_on(self, lines: list[LogLine]) -> bool:
        """To the next file. False: there is none."""
        parts = parts_in(self._folder, self._attempt)
        later = [part for part in parts if self._part is None or part > self._part]
        if not later:
            return False
        if not self._is_left:  # its last lines may have come after we have looked for some
            self._is_left = True
            return True
        before, self._part = self._part, later[0]
        self._is_left = False
        self._place = 0
        if before is None or before[:3] != self._part[:3]:
            lines += self.rest()
            self._seen = 0
        missing = self._part.begin - self._seen
        if missing > 0:
            self._torn = b""  # it went with the file that it was in
            lines += self.rest()
            lines.append(LogLine(self._last, LOG, LEFT_OUT.format(missing)))
        self._seen = self._part.begin
        return True

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
            lines += self.rest()
