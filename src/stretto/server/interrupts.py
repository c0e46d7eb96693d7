"""Signals that ask a process to stop, counted: the first asks it to stop gracefully, the second at once."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts:
    """Signals, counted."""

    def __init__(self) -> None:
        self.code = 0  # of the exit, from the first on
        self.first = asyncio.Event()
        self.second = asyncio.Event()

    def come(self, code: int) -> None:
        if self.first.is_set():
            self.second.set()
        self.code = self.code or code
        self.first.set()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Signals come here, as far as the system lets us."""
        loop = asyncio.get_running_loop()
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        with suppress(NotImplementedError, RuntimeError, ValueError):  # Windows; not in the main thread
            for number in numbers:
                loop.add_signal_handler(number, self.come, 128 + number)
        try:
            yield
        finally:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                for number in numbers:
                    loop.remove_signal_handler(number)
