"""A run line by line, for files and pipes."""

from collections.abc import Callable, Sequence
from typing import Final

import click

from stretto.cli import style
from stretto.cli.address import run_text
from stretto.cli.database import Place
from stretto.cli.running.ending import ending_lines, outcome_line
from stretto.cli.running.progress import AT_WORK, Progress, Step
from stretto.cli.running.screen import loop_text
from stretto.cli.running.views import Ending
from stretto.model.status import StepStatus

TELL_AFTER: Final = 2_000  # milliseconds that something works or waits
TELL_EVERY: Final = 10_000  # milliseconds between two lines about the same loop


class Log:
    """See `views.View`."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._progress: Progress
        self._told: dict[str, str] = {}  # what was said of a step last
        self._told_at: dict[str, int] = {}
        self._queued: str | None = None

    def close(self) -> None:
        """A log is as it is."""

    def begin(self, progress: Progress, place: Place) -> None:
        self._progress = progress
        where = "in memory: nothing is kept" if place.in_memory else place.shown
        self._line(f"{run_text(progress.key)}, version {progress.version}, {where}")
        for step in progress.steps.values():
            if step.status is not StepStatus.NOT_CREATED:
                self._step(step)

    def show(self, moved: Sequence[Step]) -> None:
        for step in moved:
            self._step(step)
        for step in self._progress.steps.values():
            if step.is_busy:
                self._step(step)
            if step.is_loop and step.status is StepStatus.RUNNING:
                self._loop(step)
        queued = self._progress.queued
        if queued is not None and queued != self._queued:
            self._line(queued)
        self._queued = queued

    def note(self, text: str) -> None:
        self._line(text)

    def end(self, ending: Ending) -> None:
        if ending.progress.status.is_terminal:
            self._line(outcome_line(ending.progress))
        for line in ending_lines(ending):
            click.echo(line)

    def _step(self, step: Step) -> None:
        """Said once for each attempt and status. What has ended is told at once, anything else if it lasts:
        who gets what it waits for, or is done, in a moment need not be told of twice.
        """
        status = step.status
        lasts = self._has_passed(TELL_AFTER, step.since or 0)
        if not (status.is_terminal or (lasts and (status in AT_WORK or step.waits))):
            return
        said = f"{step.attempt} {StepStatus.RUNNING if status in AT_WORK else status} {step.reason}"
        if self._told.get(step.id) != said:
            self._told[step.id] = said
            self._line(step_text(step))

    def _loop(self, step: Step) -> None:
        last = self._told_at.setdefault(step.id, self._now())
        if step.loop is not None and self._has_passed(TELL_EVERY, last):
            self._told_at[step.id] = self._now()
            self._line(f"{step.id} {loop_text(step.loop)}")

    def _has_passed(self, millis: int, since: int) -> bool:
        """Whether so long a time is over; also if the clock was set back, and nobody knows."""
        return abs(self._now() - since) >= millis

    def _line(self, text: str) -> None:
        click.echo(f"{style.clock_time(self._now())} {text}")


def step_text(step: Step) -> str:
    """`load SUCCEEDED 0.2s`."""
    sign, colour = style.mark(step.status)
    status = StepStatus.RUNNING if step.status in AT_WORK else step.status
    parts = [style.paint(f"{sign} {step.id} {status}", colour)]
    if step.ended is not None and step.began is not None:
        parts.append(style.duration(step.ended - step.began))
    if step.loop is not None:
        parts.append(f"({loop_text(step.loop)})")
    if step.attempt > 1:
        parts.append(f"(attempt {step.attempt})")
    return " ".join(parts) + (f": {style.one_line(step.reason)}" if step.reason else "")
