"""What the work of steps prints: where it is kept, and how it is read while it comes and afterwards."""

from collections.abc import AsyncIterator
from typing import Final, Literal, NamedTuple, Protocol

from stretto.engine.records import AttemptKey
from stretto.ports.runtime import Launch

Stream = Literal["stdout", "stderr", "log"]
STDOUT: Final = "stdout"
STDERR: Final = "stderr"
LOG: Final = "log"  # what a function tells its logger, and what the runtime has to say


class LogSink(Protocol):
    """Takes what a launch prints, as it comes, in the order of each stream.

    Called in the event loop: it must be quick. It never raises: a full disk does not end a step.
    """

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        """Some bytes, which need not be whole lines."""
        ...

    def end(self, launch: Launch) -> None:
        """The launch has ended: nothing more comes. Idempotent; also for one that has printed nothing."""
        ...


class Nowhere(LogSink):
    """Keeps nothing."""

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        pass

    def end(self, launch: Launch) -> None:
        pass


NOWHERE: Final = Nowhere()


class LogLine(NamedTuple):
    """One line of what was printed."""

    at: int  # milliseconds since 1970
    stream: Stream
    text: str  # without its end


class LogReader(Protocol):
    """Reads what is kept of an attempt, over all its launches, in the order in which it came."""

    def read(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        """Everything that there is now. Nothing for an attempt that has printed nothing, or not here."""
        ...

    def follow(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        """Everything that there is, and whatever comes, until the reader is closed."""
        ...
