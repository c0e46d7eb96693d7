"""Lines of output for people and for programs."""

from collections import deque
from collections.abc import Iterable
from typing import TextIO

import click
import msgspec

from stretto.cli import style
from stretto.cli.output.merging import Item
from stretto.engine.records import AttemptKey
from stretto.model.wire import to_json
from stretto.ports.logs import LOG, STDERR, LogLine, Stream
from stretto.runtimes.logs.records import moment


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be shown of the lines, and how."""

    streams: frozenset[Stream] = frozenset()  # none: all
    tail: int | None = None  # only so many of those that are there in the beginning
    timestamps: bool = False
    as_json: bool = False
    width: int | None = None  # of the name of its step before each line; None: it has none


class Printer:
    """Prints lines. `heard`: whose output there was, also of streams that are not shown."""

    def __init__(self, out: TextIO, wish: Wish) -> None:
        self._out = out
        self._wish = wish
        self._tail = wish.tail
        self._is_terminal = out.isatty()
        self._encoding = out.encoding or "utf-8"  # what it can not show is replaced
        self.heard: set[AttemptKey] = set()
        self.is_silent = wish.tail != 0  # nothing was said, though something was wanted

    def print(self, items: Iterable[Item]) -> None:
        wanted: Iterable[Item] = filter(self._is_wanted, items)
        if self._tail is not None:
            wanted, self._tail = deque(wanted, self._tail), None
        for item in wanted:
            self._out.write(f"{self._text(item)}\n".encode(self._encoding, "replace").decode(self._encoding))
            self.is_silent = False
        self._out.flush()

    def _is_wanted(self, item: Item) -> bool:
        self.heard.add(item.attempt)
        return not self._wish.streams or item.line.stream in self._wish.streams

    def _text(self, item: Item) -> str:
        attempt, line = item
        if self._wish.as_json:
            return _as_json(attempt, line)
        text = self._shown(line)
        if self._wish.width is not None:
            text = f"{_name(attempt):{self._wish.width}} | {text}"
        return f"{moment(line.at)} {text}" if self._wish.timestamps else text

    def _shown(self, line: LogLine) -> str:
        """A terminal does not see what would move its cursor; whoever reads a pipe has it as it was."""
        if not self._is_terminal:
            return line.text
        text = style.printable(click.unstyle(line.text))
        colour = {STDERR: style.BAD, LOG: style.CALM}.get(line.stream)
        return text if colour is None else style.paint(text, colour)


def _name(attempt: AttemptKey) -> str:
    return attempt.step_id if attempt.number == 1 else f"{attempt.step_id}/{attempt.number}"


def _as_json(attempt: AttemptKey, line: LogLine) -> str:
    made = {
        "at": line.at,
        "time": moment(line.at),
        "run": "/".join(map(str, attempt.run)),
        "step": attempt.step_id,
        "attempt": attempt.number,
        "stream": line.stream,
        "text": line.text,
    }
    return to_json(made).decode()
