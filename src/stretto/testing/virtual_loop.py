"""An event loop in virtual time: whoever sleeps wakes at once, and the clock says how long it was."""

import asyncio
import selectors
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Impatient(selectors.DefaultSelector):
    """Does not wait for time to pass, only for what comes from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(None if timeout is None else 0)
        if not found and timeout:
            self.passed += timeout
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` is in seconds since it was made."""

    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    def time(self) -> float:
        return self._impatient.passed


def run_virtually(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What a coroutine comes to, and how many seconds it would have taken."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(work)
    found: list[tuple[T, float]] = []  # in a loop that runs already there can be no other
    thread = threading.Thread(target=lambda: found.append(_run(work)), name="stretto-virtual-time")
    thread.start()
    thread.join()
    return found[0]


def _run(work: Coroutine[Any, Any, T]) -> tuple[T, float]:
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work), loop.time()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
