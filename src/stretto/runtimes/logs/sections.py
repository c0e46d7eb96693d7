"""How output of several launches shares a pack: in sections, each with a header line, then records.

    # etl/12/1:load/1 5.0 0 1794800000123
    2026-11-16T06:20:55.123Z stdout F a line
    # etl/12/1:check/1 5.0 0 1794800000130
    2026-11-16T06:20:55.130Z stdout F a line of another step

A header has the address of the attempt, the generation and take of the launch, the bytes that the launch had
printed before, and the time. A record never begins with `# `. To a full pack its writer appends an index:

    # index
    etl/12/1:load/1 0 8123
    # end 8301

Promise: each line is appended by one call, and only by the process in the name of the pack. A process that is
killed leaves a pack without an index, and at most its last line is incomplete.
"""

import re
from io import BufferedReader
from os import SEEK_END
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.runtime import Launch

READ_AT_ONCE: Final = 256 * 1024
LONGEST_END: Final = 32  # bytes of the last line of an index
INDEX: Final = b"# index\n"
_HEADER: Final = re.compile(rb"# (\S+) ([0-9]{1,18})\.([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})")
_TITLE: Final = re.compile(rb"# ([^/:\s]*)/([0-9]{1,18})/([0-9]{1,18}):")
_END: Final = re.compile(rb"\n# end ([0-9]{1,18})\n\Z")


def title_of(attempt: AttemptKey) -> bytes:
    """The address of an attempt in headers and indexes. No character in it is a space or a line break."""
    return b"%b%b/%d" % (prefix_of(attempt.run), _quoted(attempt.step_id).encode(), attempt.number)


def prefix_of(run: RunKey) -> bytes:
    """How the titles of all attempts of a run begin."""
    return f"{_quoted(run.workflow_id)}/{run.instance_id}/{run.run_id}:".encode()


def header_of(launch: Launch, begin: int, at: int) -> bytes:
    """The line before the records of a launch."""
    title = title_of(launch.attempt)
    return b"# %b %d.%d %d %d\n" % (title, launch.generation, launch.take, begin, at)


def index_of(ranges: dict[bytes, list[int]], size: int) -> bytes:
    """What is appended to a full pack of a size."""
    lines = [b"%b %d %d\n" % (title, first, end) for title, (first, end) in ranges.items()]
    return b"%b%b# end %d\n" % (INDEX, b"".join(lines), size)


def run_in(path: Path) -> RunKey | None:
    """The run whose output is the first in a pack; None: it can not be told."""
    try:
        with path.open("rb") as file:
            found = _TITLE.match(file.read(READ_AT_ONCE))
    except OSError:
        return None
    if found is None:
        return None
    return RunKey(unquote(found[1].decode(), errors="surrogatepass"), int(found[2]), int(found[3]))


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


class Stretch(NamedTuple):
    """Which launch of the attempt a part of a pack is of, and since when."""

    generation: int
    take: int
    begin: int
    at: int


class Sections:
    """The sections of one launch in a pack: where they are, and up to where they were read."""

    __slots__ = ("_places", "stretch")

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch  # of the first section
        self._places: list[list[int]] = []  # [begin, end] of what is still to be read

    def open(self, begin: int) -> None:
        """Another section begins here."""
        self._places.append([begin, begin])

    def extend(self, end: int) -> None:
        """The newest section reaches up to here."""
        self._places[-1][1] = end

    def read(self, path: Path, most: int) -> bytes:
        """The next records, at most so many bytes; none: there are no more now."""
        data = b""
        with path.open("rb") as file:
            while len(data) < most and self._places:
                place = self._places[0]
                file.seek(place[0])
                found = file.read(min(most - len(data), place[1] - place[0]))
                data += found
                place[0] += len(found)
                if not found:
                    if len(self._places) == 1:  # it may grow
                        break
                    del self._places[0]
        return data


class PackIndex:
    """What a pack has of one run, or of one attempt. It is read once from its beginning to its end, and then
    what comes. `prefix`: how the titles begin that are looked for.
    """

    def __init__(self, path: Path, prefix: bytes) -> None:
        self.path = path
        self._prefix = b"# %b" % prefix
        self._place = 0  # up to where it was looked at
        self._is_full: bool | None = None  # None: nobody has looked
        self._title = b""  # of the current section
        self._current: Sections | None = None
        self.launches: dict[bytes, dict[tuple[int, int], Sections]] = {}  # by title, then generation and take

    def look(self) -> None:
        """Find the sections that came since the last look."""
        if self._is_full:
            return
        try:
            with self.path.open("rb") as file:
                if self._is_full is None:
                    self._is_full = self._read_index(file)
                if not self._is_full:
                    self._scan(file, None)
        except OSError:  # it is deleted, or may not be read
            return

    def torn(self, title: bytes) -> bytes:
        """An incomplete line at the end, if this attempt was the last that wrote; once."""
        if self._current is None or self._title != title or self._is_full:
            return b""
        try:
            with self.path.open("rb") as file:
                file.seek(self._place)
                rest = file.read(READ_AT_ONCE)
        except OSError:
            return b""
        if b"\n" in rest:
            return b""
        self._current = None
        return rest

    def _read_index(self, file: BufferedReader) -> bool:
        """Whether the pack is full. Then its index says which part of it must be looked at."""
        size = file.seek(0, SEEK_END)
        file.seek(max(0, size - LONGEST_END))
        found = _END.search(file.read())
        if found is None:
            return False
        file.seek(int(found[1]))
        titles = rb"^%b\S* ([0-9]{1,18}) ([0-9]{1,18})$" % re.escape(self._prefix[2:].rstrip())
        listed = re.findall(titles, file.read(), re.MULTILINE)
        if listed:
            self._place = min(int(first) for first, _ in listed)
            self._scan(file, max(int(end) for _, end in listed))
        return True

    def _scan(self, file: BufferedReader, end: int | None) -> None:
        """Whole lines only, from the place on."""
        file.seek(self._place)
        while end is None or self._place < end:
            most = READ_AT_ONCE if end is None else min(READ_AT_ONCE, end - self._place)
            block = file.read(most)
            whole = block.rfind(b"\n") + 1
            if not whole:
                return
            self._headers(block[:whole])
            self._place += whole
            file.seek(self._place)

    def _headers(self, lines: bytes) -> None:
        """Assign lines to sections, from header to header."""
        begin = 0 if lines.startswith(b"# ") else lines.find(b"\n# ") + 1 or len(lines)
        self._extend(begin)
        while begin < len(lines):
            first = lines.index(b"\n", begin) + 1
            following = lines.find(b"\n# ", first - 1) + 1 or len(lines)
            self._current = self._section(lines[begin : first - 1])
            if self._current is not None:
                self._current.open(self._place + first)
            self._extend(following)
            begin = following

    def _extend(self, end: int) -> None:
        if self._current is not None:
            self._current.extend(self._place + end)

    def _section(self, header: bytes) -> Sections | None:
        found = _HEADER.fullmatch(header) if header.startswith(self._prefix) else None
        if found is None:
            return None
        self._title = found[1]
        stretch = Stretch(*map(int, found.groups()[1:]))
        return self.launches.setdefault(self._title, {}).setdefault(stretch[:2], Sections(stretch))
