"""How things look in a terminal: marks, colours, times."""

import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Mapping
from typing import Final

import click

from stretto.model.status import RunStatus, StepStatus

S, R = StepStatus, RunStatus

GOOD, BAD, BUSY, HELD, CALM = "green", "red", "cyan", "yellow", "bright_black"
NARROWEST: Final = 20  # cells: a terminal with fewer breaks lines by itself
_ASCII: Final = {
    "✓": "+",
    "✗": "x",
    "▶": ">",
    "◌": "~",
    "○": ".",
    "↻": "*",
    "█": "#",
    "░": ".",
    "…": "...",
}

_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    S.NOT_CREATED: ("○", CALM),
    S.PAUSED: ("◌", HELD),
    S.WAITING_FOR_SIGNALS: ("◌", HELD),
    S.WAITING_FOR_PERMITS: ("◌", HELD),
    S.DISABLED: ("-", CALM),
    S.UNSATISFIED: ("-", CALM),
    S.SKIPPED: ("-", CALM),
    S.SUCCEEDED: ("✓", GOOD),
    S.COMPLETED_WITH_ERROR: ("✓", HELD),
    S.USER_FAILED: ("↻", HELD),
    S.PLATFORM_FAILED: ("↻", HELD),
    S.TIMEOUT_FAILED: ("↻", HELD),
    S.FATALLY_FAILED: ("✗", BAD),
    S.INTERNALLY_FAILED: ("✗", BAD),
    S.STOPPED: ("✗", HELD),
    S.TIMED_OUT: ("✗", BAD),
    R.CREATED: ("○", CALM),
    R.FAILED: ("✗", BAD),
}


def mark(status: StepStatus | RunStatus) -> tuple[str, str]:
    """The sign of a status, and its colour."""
    sign, colour = _MARKS.get(status, ("▶", BUSY))
    return plain(sign), colour


def plain(text: str) -> str:
    """The text without signs that the terminal can not show."""
    if "utf" in (getattr(sys.stdout, "encoding", None) or "ascii").lower():
        return text
    return "".join(_ASCII.get(character, character) for character in text)


def paint(text: str, colour: str | None, *, bold: bool = False) -> str:
    """Coloured, unless the user wants none (https://no-color.org)."""
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=bold or None)


def duration(millis: int) -> str:
    """`0.4s`, `12s`, `3m05s`, `2h07m`, `3d04h`."""
    seconds = max(0, millis) / 1_000
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3_600}h{whole % 3_600 // 60:02}m"
    return f"{whole // 86_400}d{whole % 86_400 // 3_600:02}h"


def clock_time(millis: int) -> str:
    """`12:03:07`, as the user's clock shows it."""
    return time.strftime("%H:%M:%S", time.localtime(millis / 1_000))


def date_time(millis: int) -> str:
    """`2026-11-16 12:03:07`, as the user's clock shows it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(millis / 1_000))


def one_line(text: str) -> str:
    """A text of several lines as one, without what would move the cursor."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def printable(line: str) -> str:
    """A line as it is, without what would move the cursor or change colours."""
    return "".join(each if each.isprintable() else " " for each in line.expandtabs())


def width_of(text: str) -> int:
    """Cells that a text without colours takes."""
    return sum(_cells(character) for character in text)


def columns() -> int | None:
    """Cells of a line: COLUMNS, else those of the terminal; None for a file or a pipe, which have no end."""
    said = os.environ.get("COLUMNS", "")
    if not (said.isdecimal() and int(said)) and not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def padded(text: str, width: int) -> str:
    """A text that takes so many cells, or more."""
    return text + " " * (width - width_of(text))


def row(left: str, rest: str = "", colour: str | None = None) -> str:
    """A line of a table, coloured up to the rest of it: as much as the terminal has room for."""
    room = columns()
    if room is not None:
        room = max(NARROWEST, room)
        left = cut(left, room)
        rest = cut(rest, max(0, room - width_of(left))) if width_of(left) < room else ""
    return f"{paint(left, colour)}{rest}".rstrip() if colour is not None else f"{left}{rest}".rstrip()


def cut(text: str, width: int) -> str:
    """As much of a text as fits, with a mark where something is missing."""
    if width_of(text) <= width:
        return text
    room, kept = width - width_of(plain("…")), 0
    while room >= _cells(text[kept]):
        room -= _cells(text[kept])
        kept += 1
    return text[:kept] + plain("…")


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
