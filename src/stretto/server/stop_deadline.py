"""The moment when a process that was told to stop has ended, whatever keeps it."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

SHARE: Final = 0.75  # of the time for a graceful stop; the rest is for work that is ended by force
LATE: Final = (
    "the stop was not done within {:g} s (node.stop_within): the process ends now; other processes, or the "
    "next start, go on with what was under way"
)


class StopDeadline:
    """Counts from `begin` on. `hurry` is called when most of the time is gone. When all of it is gone the
    process ends, even if its event loop or a driver stands still: the guards of commands and the leases in
    the database make that as safe as a crash. Without an `end` it goes on.
    """

    def __init__(
        self, millis: int, hurry: Callable[[], None], end: Callable[[int], None] | None = os._exit
    ) -> None:
        self._seconds = millis / 1_000
        self._hurry = hurry
        self._end = end
        self.is_late = False
        self._timers: list[threading.Timer] = []

    def cancel(self) -> None:
        """The stop is done, and the process goes on."""
        for timer in self._timers:
            timer.cancel()

    def begin(self, code: int) -> None:
        """`code`: the exit code of a process that did not end by itself."""
        self._timers = [
            _after(self._seconds * SHARE, self._press),
            _after(self._seconds, lambda: self._force(code)),
        ]

    def _press(self) -> None:
        self.is_late = True
        self._hurry()

    def _force(self, code: int) -> None:
        if self._end is None:
            return
        with suppress(OSError):  # nobody reads it any more
            sys.stderr.write(LATE.format(self._seconds) + "\n")
            sys.stderr.flush()
        self._end(code)


def _after(seconds: float, call: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer
