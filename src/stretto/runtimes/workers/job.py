"""One call, from the engine's side: what is asked, who hears of it, and what it printed."""

import asyncio
import logging
from typing import Protocol

from stretto.ports.clock import machine_steady
from stretto.ports.fence import OPEN, Fence
from stretto.ports.logs import LogSink, Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.workers.messages import Answer, Call, Told

log = logging.getLogger(__name__)


class Listener(Protocol):
    """Hears what a function tells while it runs."""

    def begun(self) -> None:
        """The function is called now. In the event loop."""
        ...

    def hear(self, said: Told) -> None:
        """Called in the event loop."""
        ...


class Job:
    """Made for each call."""

    __slots__ = ("_is_deaf", "_listener", "_sink", "answer", "call", "fence", "launch")

    def __init__(
        self, launch: Launch, call: Call, listener: Listener | None = None, fence: Fence = OPEN
    ) -> None:
        self.launch = launch
        self.call = call
        self.fence = fence
        self.answer: asyncio.Future[Answer]
        self._listener = listener
        self._sink: LogSink
        self._is_deaf = False

    def begin(self, sink: LogSink) -> None:
        """It has a worker."""
        self._sink = sink
        self.answer = asyncio.get_running_loop().create_future()

    @property
    def begin_before(self) -> float:
        """Until when the function may be called, on the clock that all processes share. The order matters: a
        process that stands still in between makes the time shorter, never longer.
        """
        now = machine_steady()
        return now + self.fence.seconds

    def begun(self) -> None:
        """The function is called."""
        if self._listener is not None:
            self._listener.begun()

    def hear(self, said: Told) -> None:
        if self._listener is not None:
            self._listener.hear(said)

    def settle(self, answer: Answer) -> None:
        """The first answer counts."""
        if not self.answer.done():
            self.answer.set_result(answer)

    def output(self, stream: Stream, data: bytes) -> None:
        if self._is_deaf:
            return
        try:
            self._sink.write(self.launch, stream, data)
        except Exception as error:  # noqa: BLE001 - one of a program may, and alters nothing
            self._is_deaf = True
            log.warning(
                "the output of %s is not kept: %s: %s",
                self.launch,
                type(error).__name__,
                error,
                extra={"action": "step.output_lost"},
            )
