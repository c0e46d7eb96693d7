"""What functions print in worker processes, and where it goes."""

import sys
from typing import Final, Literal, Protocol

from stretto.ports.runtime import Launch

Stream = Literal["stdout", "stderr"]
STDOUT: Final = "stdout"


class OutputSink(Protocol):
    """Takes what comes from the standard streams of a step, while it runs, in the order of each stream."""

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        """Called in the event loop: it must be quick. What it raises is logged, and alters nothing."""
        ...


class Terminal:
    """Prints it where this process prints, as functions do that run in threads."""

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:  # noqa: ARG002 - all the same
        out = sys.stdout if stream == STDOUT else sys.stderr
        out.write(data.decode(errors="replace"))
        out.flush()
