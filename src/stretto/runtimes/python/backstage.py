"""What stands behind the context of a step: what its function has told, and what it is told."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from stretto.model.artifact import ArtifactKey, Artifacts, DynamicOutputArtifact
from stretto.model.param import Parameter
from stretto.model.timeline import TimelineEvent
from stretto.ports.logs import LOG, NOWHERE, LogSink
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python.substeps import SubSteps
from stretto.runtimes.python.telling import Telling


class Backstage:
    """Made in the event loop, one for each launch. The function's side may be in a thread."""

    def __init__(self, told: Told, now: Callable[[], int], sink: LogSink = NOWHERE) -> None:
        self.told = told
        self._sink = sink
        self.loop = asyncio.get_running_loop()
        self.home = threading.get_ident()
        self.telling = Telling(told, now, self.loop)
        self.substeps = SubSteps(told.launch.attempt.step_id)
        self.redirect: str | None = None
        self.fired: list[Parameter] = []
        self.beaten = self.loop.time()  # the last heartbeat
        self.cancelled = False
        self._event: threading.Event | None = None
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_at_home(self) -> bool:
        """Whether this is the thread of the event loop."""
        return threading.get_ident() == self.home

    def at_home(self, call: Callable[..., None], *args: Any) -> None:
        """Call something in the event loop, soon."""
        if self.is_at_home:
            call(*args)
        else:
            with suppress(RuntimeError):  # the loop has ended: nobody listens
                self.loop.call_soon_threadsafe(call, *args)

    def log(self, text: str) -> None:
        """A record of the step's logger, for its log."""
        self.at_home(self._sink.write, self.told.launch, LOG, f"{text}\n".encode(errors="replace"))

    def beat(self) -> None:
        self.beaten = self.loop.time()

    async def rest(self) -> tuple[Artifacts, tuple[TimelineEvent, ...]]:
        """What goes with the result of the function."""
        artifacts, lines = await self.telling.rest()
        if self.fired:
            artifacts = {
                **artifacts,
                ArtifactKey.DYNAMIC_OUTPUT.value: DynamicOutputArtifact(signal_outputs=self.fired),
            }
        return artifacts, lines

    # ----------------------------------------------------------------------------------------- cancellation
    def cancel(self) -> None:
        """Tell the function to end."""
        self.cancelled = True
        if self._event is not None:
            self._event.set()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def wait(self, seconds: float) -> None:
        """In a thread: so long, or until it is told to end."""
        event = self._event = self._event or threading.Event()
        if not self.cancelled:
            event.wait(seconds)

    async def wait_cancelled(self) -> None:
        if not self.cancelled:
            future = self.loop.create_future()
            self._waiting.append(future)
            await future
