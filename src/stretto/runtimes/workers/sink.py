"""Where goes what functions print in worker processes, beside files."""

import sys
from contextlib import suppress

from stretto.ports.logs import LOG, STDOUT, LogSink, Stream
from stretto.ports.runtime import Launch


class Terminal:
    """Prints it where this process prints, as functions do that run in threads. What they tell their logger
    is the affair of the program's own handlers.
    """

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:  # noqa: ARG002 - all the same
        if stream == LOG:
            return
        out = sys.stdout if stream == STDOUT else sys.stderr
        with suppress(OSError, ValueError, AttributeError):  # nobody reads it, it is closed, there is none
            out.write(data.decode(errors="replace"))
            out.flush()

    def end(self, launch: Launch) -> None:
        """There is nothing to do."""


class Both:
    """Hands it to several."""

    def __init__(self, *sinks: LogSink) -> None:
        self._sinks = sinks

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        for each in self._sinks:
            each.write(launch, stream, data)

    def end(self, launch: Launch) -> None:
        for each in self._sinks:
            each.end(launch)
