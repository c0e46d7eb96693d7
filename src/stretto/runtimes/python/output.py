"""What functions print in threads and in the event loop of this process, for the logs of their steps.

with routed_output(): ...       sys.stdout and sys.stderr keep a copy for the step that prints
output = StepOutput(...)        of one launch; `output.around()` says which code prints for it

A context variable says whose function prints. It reaches threads that are given a copy of their caller's
context, as `asyncio.to_thread` does, and tasks; not a `threading.Thread` that the function starts itself.
"""

import asyncio
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import groupby
from typing import Any, Final, TextIO

from stretto.ports.logs import STDERR, STDOUT, LogSink, Stream
from stretto.ports.runtime import Launch

MOST_WAITING: Final = 256 * 1024  # bytes that wait for the event loop; who prints more in a thread waits, too
PATIENCE: Final = 5.0  # seconds that a thread waits for an event loop that does not come to it
LOOK_EVERY: Final = 0.005
LEFT_OUT: Final = "({:,} bytes were left out here)\n"  # as logs say it

_printing: Final[ContextVar["StepOutput | None"]] = ContextVar("stretto_step_output", default=None)
_lock: Final = threading.Lock()
_open = 0  # how often the output is routed now


class StepOutput:
    """What one launch prints. Made and closed in the event loop; anybody may write. It takes nothing, and
    starts nothing, for a function that prints nothing.
    """

    __slots__ = ("_home", "_is_closed", "_launch", "_lock", "_loop", "_lost", "_pieces", "_sink", "_waiting")

    def __init__(self, launch: Launch, sink: LogSink) -> None:
        self._launch = launch
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._home = threading.get_ident()
        self._lock = threading.RLock()  # a finaliser may print in mid-sentence
        self._pieces: list[tuple[Stream, bytes]] = []
        self._waiting = 0
        self._lost = 0
        self._is_closed = False

    @contextmanager
    def around(self) -> Iterator[None]:
        """The code of the step."""
        token = _printing.set(self)
        try:
            yield
        finally:
            _printing.reset(token)

    def write(self, stream: Stream, data: bytes) -> None:
        """Some output. A thread that prints faster than it can be stored is slowed down."""
        is_at_home = threading.get_ident() == self._home
        if not is_at_home and self._waiting >= MOST_WAITING:
            self._wait()
        with self._lock:
            if self._is_closed or not data:
                return
            if self._waiting >= MOST_WAITING and not is_at_home:
                self._lost += len(data)
                return
            is_first = not self._pieces
            self._pieces.append((stream, data))
            self._waiting += len(data)
        if is_at_home and self._waiting >= MOST_WAITING:
            self._store()
        elif is_first:
            with suppress(RuntimeError):  # the loop has ended: nobody stores anything
                self._loop.call_soon_threadsafe(self._store)

    def close(self) -> None:
        """Store what was printed. What a thread prints that was left behind is not kept. Idempotent."""
        self._store()
        with self._lock:
            self._is_closed = True

    def catch_up(self) -> None:
        """Store what was printed before something that is kept in another way. A thread needs no help: its
        calls into the event loop stay in order.
        """
        if threading.get_ident() == self._home:
            self._store()

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while self._waiting >= MOST_WAITING and not self._is_closed and time.monotonic() < until:
            time.sleep(LOOK_EVERY)

    def _store(self) -> None:
        with self._lock:
            pieces, self._pieces = self._pieces, []
            lost, self._lost = self._lost, 0
            self._waiting = 0
        with unrouted():  # what a sink logs is not the output of the step
            for stream, together in groupby(pieces, lambda piece: piece[0]):
                self._sink.write(self._launch, stream, b"".join(data for _, data in together))
            if lost:
                self._sink.write(self._launch, STDERR, LEFT_OUT.format(lost).encode())


def catch_up() -> None:
    """As `StepOutput.catch_up`, for the step whose code this is, if its output is routed."""
    output = _printing.get()
    if output is not None:
        output.catch_up()


@contextmanager
def unrouted() -> Iterator[None]:
    """What is printed here is kept in another way, or is not the step's."""
    token = _printing.set(None)
    try:
        yield
    finally:
        _printing.reset(token)


# ---------------------------------------------------------------------------------------------- the streams
class RoutedStream:
    """Stands for a stream of the program, which gets everything, too, and answers all other questions."""

    def __init__(self, name: Stream, program: TextIO) -> None:
        self.stream = name
        self.program = program

    def write(self, text: str) -> int:
        output = _printing.get()
        if output is not None and isinstance(text, str):
            output.write(self.stream, text.encode(errors="backslashreplace"))
        return self.program.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> "RoutedBuffer":
        """The bytes below the text."""
        return RoutedBuffer(self.stream, self.program.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.program, name)


class RoutedBuffer:
    """The same for bytes."""

    def __init__(self, name: Stream, program: Any) -> None:
        self._stream = name
        self._program = program

    def write(self, data: Any) -> Any:
        output = _printing.get()
        if output is not None:
            output.write(self._stream, bytes(data))
        return self._program.write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)


@contextmanager
def routed_output() -> Iterator[None]:
    """While this is open, what functions print is kept for their steps. It may be open several times; the
    streams of the program are put back with the last one, unless somebody has replaced ours.
    """
    global _open  # noqa: PLW0603 - there is one `sys.stdout`, too
    with _lock:
        _open += 1
        sys.stdout, sys.stderr = _routed(STDOUT, sys.stdout), _routed(STDERR, sys.stderr)
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if not _open:
                sys.stdout, sys.stderr = _program(sys.stdout), _program(sys.stderr)


def _routed(name: Stream, stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, RoutedStream) else RoutedStream(name, stream)


def _program(stream: Any) -> Any:
    return stream.program if isinstance(stream, RoutedStream) else stream
