"""What the work of steps prints: where it is kept, and how it is read while it comes and afterwards."""

from collections.abc import AsyncIterator
from typing import Final, Literal, NamedTuple, Protocol

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.runtime import Launch

__all__ = [
    "LOG",
    "NOWHERE",
    "STDERR",
    "STDOUT",
    "LogLine",
    "LogReader",
    "LogReading",
    "LogSink",
    "Nowhere",
    "RunLogReading",
    "Stream",
]

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


class LogReading(Protocol):
    """Where a reader of an attempt is. Its methods wait for the disk, and are not called at the same time."""

    def more(self) -> list[LogLine]:
        """Some lines, over all launches, in the order in which they came; none: there are no more now."""
        ...

    def rest(self) -> list[LogLine]:
        """Lines without an end, once nothing more comes."""
        ...


class RunLogReading(Protocol):
    """Readings of several attempts of a run, which share the work of finding what was printed."""

    def look(self) -> None:
        """Find what was printed since the last look. It waits for the disk."""
        ...

    def reading(self, attempt: AttemptKey, at_once: int) -> LogReading:
        """An attempt, from its first line on, up to where the last look has found something; `at_once`: bytes
        that are held of it.
        """
        ...


class LogReader(Protocol):
    """Reads what is kept here of attempts."""

    def run_reading(self, run: RunKey) -> RunLogReading:
        """The attempts of a run. Nothing for those that have printed nothing, or elsewhere."""
        ...

    def read(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        """Everything that there is now of an attempt."""
        ...

    def follow(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        """Everything that there is, and whatever comes, until the reader is closed."""
        ...
