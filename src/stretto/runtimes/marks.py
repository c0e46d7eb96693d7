"""Lines by which a command speaks while it prints: `::output rows=42`, `::progress 0.4 loading`.

A mark stands at the very beginning of a line of standard output. Whatever else a command prints is none.
"""

import re
from collections.abc import Callable
from typing import Final

from stretto.runtimes.outputs import MARK, MOST_BYTES, BadOutput

OUTPUT: Final = f"{MARK} ".encode()
PROGRESS: Final = b"::progress "
BEGIN: Final = b"\n::"
_FRACTION: Final = re.compile(
    r"\s*(?P<fraction>0(?:\.\d{1,9})?|1(?:\.0{1,9})?)(?:\s+(?P<text>.*))?", re.ASCII
)

Progress = Callable[[float, str], None]


class Marks:
    """Finds them in what comes, in whatever pieces it comes. What is kept is bounded."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._held = b"\n"  # what may be the beginning of a mark, with the end of the line before
        self._outputs = bytearray()  # as they would stand in the output file
        self._too_much = False

    def take(self, data: bytes) -> None:
        """Some bytes, which need not be whole lines."""
        data = self._held + data
        begin = data.find(BEGIN)
        while begin >= 0:
            end = data.find(b"\n", begin + len(BEGIN))
            if end < 0:
                self._hold(data[begin:])
                return
            self._line(data[begin + 1 : end])
            begin = data.find(BEGIN, end)
        self._held = next((part for part in (b"\n:", b"\n") if data.endswith(part)), b"")

    def outputs(self) -> bytes:
        """At the end: the lines that set outputs. Raises BadOutput."""
        if self._held.startswith(BEGIN):  # the last line has no end
            self._line(self._held[1:])
        self._held = b""
        if self._too_much:
            kept = MOST_BYTES // 1024
            raise BadOutput(f"lines with {MARK} have more than {kept} KB; write large things elsewhere")
        return bytes(self._outputs)

    def _hold(self, line: bytes) -> None:
        """A line whose end has not come."""
        if len(line) <= MOST_BYTES:
            self._held = line
        else:
            self._too_much = self._too_much or line.startswith(b"\n" + OUTPUT)
            self._held = b""  # the rest of it is no beginning of a line

    def _line(self, line: bytes) -> None:
        if line.startswith(OUTPUT):
            said = line.removeprefix(OUTPUT)
            if len(self._outputs) + len(said) >= MOST_BYTES:
                self._too_much = True
            else:
                self._outputs += said + b"\n"
        elif line.startswith(PROGRESS):
            match = _FRACTION.fullmatch(line.removeprefix(PROGRESS).decode(errors="replace").rstrip())
            if match is not None:  # a line that only looks like one must not fail a step
                self._progress(float(match["fraction"]), match["text"] or "")
