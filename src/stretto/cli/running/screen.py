"""A run on a terminal, drawn again and again in place."""

import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Final

from stretto.cli import style
from stretto.cli.address import run_text
from stretto.cli.database import Place
from stretto.cli.running.ending import ending_lines, headline
from stretto.cli.running.progress import AT_WORK, Loop, Progress, Step
from stretto.cli.running.views import Ending
from stretto.model.status import StepStatus

BAR: Final = 20  # cells
WHEEL: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
HIDE, SHOWN = "\x1b[?25l", "\x1b[?25h"  # the cursor


class Screen:
    """See `views.View`."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._wheel = cycle(WHEEL)
        self._drawn = 0  # lines that are drawn again
        self._progress: Progress
        self._write(HIDE)

    def begin(self, progress: Progress, place: Place) -> None:
        self._progress = progress
        where = "in memory: nothing is kept" if place.in_memory else place.shown
        text = f"{run_text(progress.key)} · version {progress.version} · {where}"
        self._above([style.paint(text, style.CALM)])
        self._draw()

    def show(self, moved: Sequence[Step]) -> None:
        self._draw()

    def note(self, text: str) -> None:
        self._above([style.paint(text, style.HELD)])
        self._draw()

    def end(self, ending: Ending) -> None:
        self._draw()
        self._write("".join(f"{line}\n" for line in ending_lines(ending)) + SHOWN)

    def close(self) -> None:
        """Whatever happened, the terminal is as it was, if it is still there."""
        with suppress(OSError):
            self._write(SHOWN)

    # ---------------------------------------------------------------------------------------------- drawing
    def _above(self, lines: Sequence[str]) -> None:
        """Lines that stay."""
        self._write(self._back() + "\n".join(lines) + "\n")

    def _draw(self) -> None:
        if not hasattr(self, "_progress"):
            return
        columns, rows = shutil.get_terminal_size()
        lines = self._lines(columns - 1, rows - 2)
        back = self._back()
        self._drawn = len(lines)
        self._write(back + "\n".join(lines) + "\n")

    def _back(self) -> str:
        """To where the last drawing began, with everything below it gone."""
        back = f"\x1b[{self._drawn}A\r\x1b[J" if self._drawn else ""
        self._drawn = 0
        return back

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    # ------------------------------------------------------------------------------------------------ lines
    def _lines(self, width: int, rows: int) -> list[str]:
        progress, turn = self._progress, next(self._wheel)
        steps, hidden = _chosen(list(progress.steps.values()), max(3, rows - 2))
        longest = min(40, max((len(step.id) for step in steps), default=0))
        lines = [headline(progress, self._now(), width)]
        lines += [self._line(step, longest, width, turn) for step in steps]
        if hidden:
            lines.append(style.paint(style.cut(f"  {hidden}", width), style.CALM))
        return lines

    def _line(self, step: Step, longest: int, width: int, turn: str) -> str:
        sign, colour = style.mark(step.status)
        if step.status in AT_WORK:
            sign = turn if style.plain("✓") == "✓" else sign
        name = style.cut(step.id, longest)
        took = "" if step.began is None else style.duration((step.ended or self._now()) - step.began)
        left = f"{name:{longest}}  {took:>6}"
        room = width - 4 - style.width_of(left) - 2
        detail, tone = _detail(step)
        shown = f"  {style.paint(sign, colour)} {left}"
        return f"{shown}  {style.paint(style.cut(detail, room), tone)}" if detail and room > 3 else shown


def _detail(step: Step) -> tuple[str, str | None]:
    """What is worth knowing of a step, and its colour."""
    parts = [] if step.loop is None else [bar(step.loop) if step.is_busy else loop_text(step.loop)]
    if step.attempt > 1:
        parts.append(f"attempt {step.attempt}")
    if step.reason:
        parts.append(style.one_line(step.reason))
    elif step.status.is_complete and step.status is not StepStatus.SUCCEEDED:
        parts.append(words(step.status))
    bad = step.status.is_terminal and not step.status.is_complete and not step.status.is_retryable
    if step.reason:
        return ", ".join(parts), style.BAD if bad else style.HELD
    return ", ".join(parts), None if step.loop is not None else style.CALM


def bar(loop: Loop) -> str:
    """`████████░░░░ 3 of 8`."""
    text = loop_text(loop)
    if not loop.total:
        return text
    full = BAR * loop.ended // loop.total
    return f"{style.plain('█') * full}{style.plain('░') * (BAR - full)} {text}"


def loop_text(loop: Loop) -> str:
    of = "" if loop.total is None else f" of {loop.total}"
    return f"{loop.ended}{of}" + (f", {loop.failed} failed" if loop.failed else "")


def words(status: StepStatus) -> str:
    return status.value.lower().replace("_", " ")


def _chosen(steps: list[Step], most: int) -> tuple[list[Step], str]:
    """The steps that fit, in their order: what goes on or went wrong first, then the last that ended."""
    if len(steps) <= most:
        return steps, ""

    kept = set(sorted(range(len(steps)), key=lambda place: _rank(steps[place]))[:most])
    rest = [step for place, step in enumerate(steps) if place not in kept]
    done = sum(step.status.is_complete for step in rest)
    waiting = sum(step.waits for step in rest)
    to_come = sum(step.status is StepStatus.NOT_CREATED for step in rest)
    others = len(rest) - done - waiting - to_come
    counts = ((done, "done"), (others, "under way"), (waiting, "waiting"), (to_come, "to come"))
    hidden = ", ".join(f"{number} {what}" for number, what in counts if number)
    return [steps[place] for place in sorted(kept)], f"{style.plain('…')} and {hidden}"


def _rank(step: Step) -> tuple[int, int]:
    """What is worth a line most comes first: failures, work, what waits, what ended last."""
    status = step.status
    if status.is_restartable:
        return 0, 0
    if step.is_busy:
        return (2 if step.waits else 1), 0
    return (3, -(step.ended or 0)) if status.is_terminal else (4, 0)
