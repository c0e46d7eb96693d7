"""What a function tells while it runs: progress and lines for the timeline, at most once a second."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from stretto.model.artifact import Artifacts, DefaultArtifact
from stretto.model.error_text import storable
from stretto.model.timeline import LogEvent, LogLevel, TimelineEvent
from stretto.ports.runtime import Continue, StepContext

PROGRESS: Final = "progress"  # the key of the artifact
EVERY: Final = 1.0  # seconds between two reports
AT_FIRST: Final = 0.05  # seconds before the first: who ends sooner tells all at once
MOST_LINES: Final = 1_000  # of one launch
MOST_TEXT: Final = 2_000  # characters of a line


class Telling:
    """Collects, and reports. Everything is called in the event loop; what is left goes with the result."""

    def __init__(self, told: StepContext, now: Callable[[], int], loop: asyncio.AbstractEventLoop) -> None:
        self._told = told
        self._now = now
        self._loop = loop
        self._next = loop.time() + AT_FIRST
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._over = False
        self._progress: dict[str, Any] | None = None
        self._lines: list[TimelineEvent] = []
        self._count = 0

    def progress(self, fraction: float, text: str) -> None:
        exact = Decimal(repr(fraction))  # as it is when it was stored
        self._progress = {"fraction": exact, "text": storable(text, MOST_TEXT), "at": self._now()}
        self._soon()

    def line(self, text: str, level: LogLevel = LogLevel.INFO) -> None:
        """A line of the timeline. One that writes without end is not heard for ever."""
        self._count += 1
        if self._count > MOST_LINES:
            return
        text = f"Only the first {MOST_LINES} lines are kept" if self._count == MOST_LINES else text
        self._lines.append(LogEvent(timestamp=self._now(), level=level, message=storable(text, MOST_TEXT)))
        self._soon()

    async def rest(self) -> tuple[Artifacts, tuple[TimelineEvent, ...]]:
        """The last word: what was not reported yet. Nothing is reported afterwards."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)  # what is being reported comes before the end
        return self._take()

    def _soon(self) -> None:
        if not self._over and self._timer is None:
            self._timer = self._loop.call_at(max(self._next, self._loop.time()), self._send)

    def _send(self) -> None:
        self._timer = None
        self._next = self._loop.time() + EVERY
        artifacts, lines = self._take()
        task = self._loop.create_task(self._report(Continue(artifacts=artifacts, timeline=lines)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _report(self, said: Continue) -> None:
        await self._told.report(said)

    def _take(self) -> tuple[Artifacts, tuple[TimelineEvent, ...]]:
        progress, self._progress = self._progress, None
        lines, self._lines = tuple(self._lines), []
        return {} if progress is None else {PROGRESS: DefaultArtifact(data=progress)}, lines
