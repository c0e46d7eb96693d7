"""Lines of output for people and for programs."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, TextIO

import click
import msgspec

from stretto.actions.reading.log_pages import LogEntry
from stretto.cli import style
from stretto.engine.records import RunKey
from stretto.model.wire import to_json
from stretto.ports.logs import LOG, STDERR

COLOURS: Final = {STDERR: style.BAD, LOG: style.CALM}


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How lines are shown."""

    timestamps: bool = False
    as_json: bool = False
    width: int | None = None  # of the name of its step before each line; None: it has none


class Printer:
    """Prints lines of the steps of a run. `is_silent`: there were none."""

    def __init__(self, out: TextIO, wish: Wish, run: RunKey) -> None:
        self._out = out
        self._wish = wish
        self._run = "/".join(map(str, run))
        self._is_terminal = out.isatty()
        self._encoding = out.encoding or "utf-8"  # what it can not show is replaced
        self.is_silent = True

    def print(self, lines: Iterable[LogEntry]) -> None:
        for line in lines:
            self._out.write(f"{self._text(line)}\n".encode(self._encoding, "replace").decode(self._encoding))
            self.is_silent = False
        self._out.flush()

    def _text(self, line: LogEntry) -> str:
        if self._wish.as_json:
            return self._as_json(line)
        text = self._shown(line)
        if self._wish.width is not None:
            text = f"{_name(line):{self._wish.width}} | {text}"
        return f"{_moment(line.at)} {text}" if self._wish.timestamps else text

    def _shown(self, line: LogEntry) -> str:
        """A terminal does not see what would move its cursor; whoever reads a pipe has it as it was."""
        if not self._is_terminal:
            return line.text
        text = style.printable(click.unstyle(line.text))
        colour = COLOURS.get(line.stream)
        return text if colour is None else style.paint(text, colour)

    def _as_json(self, line: LogEntry) -> str:
        made = {
            "at": line.at,
            "time": _moment(line.at),
            "run": self._run,
            "step": line.step_id,
            "attempt": line.step_attempt_id,
            "line": line.line,
            "stream": line.stream,
            "text": line.text,
        }
        return to_json(made).decode()


def _name(line: LogEntry) -> str:
    return line.step_id if line.step_attempt_id == 1 else f"{line.step_id}/{line.step_attempt_id}"


def _moment(at: int) -> str:
    """`2026-11-16T06:20:55.123Z`."""
    return datetime.fromtimestamp(at / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
