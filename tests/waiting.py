"""Waiting in tests: for a condition, never for a while.

This module is the only one of the tests that polls and reads a clock. A busy machine makes a wait longer and
fails none: `PATIENCE` ends only what would never end.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar, overload

T = TypeVar("T")

PATIENCE: Final = 120.0  # seconds
PAUSE: Final = 0.01  # seconds between two looks


def longest(patience: float | None) -> float:
    """Seconds after which a wait gives up: `PATIENCE`, or more for what takes long."""
    assert patience is None or patience >= PATIENCE, "a busy machine needs more time"
    return PATIENCE if patience is None else patience


def wait_until(
    holds: Callable[[], T | None],
    what: str | Callable[[], str] = "the condition",
    patience: float | None = None,
) -> T:
    """The first true result of a function that is called again and again; blocks the thread."""
    patience = longest(patience)
    end = time.monotonic() + patience
    while not (found := holds()):
        said = what if isinstance(what, str) else what()
        assert time.monotonic() < end, f"{said} has not come to hold within {patience:g} s"
        time.sleep(PAUSE)
    return found


@overload
async def until(
    holds: Callable[[], Awaitable[T | None]], what: str = ..., patience: float | None = ...
) -> T: ...


@overload
async def until(holds: Callable[[], T | None], what: str = ..., patience: float | None = ...) -> T: ...


async def until(holds: Callable[[], Any], what: str = "the condition", patience: float | None = None) -> Any:
    """The same in an event loop; the function may be a coroutine function."""
    patience = longest(patience)
    end = time.monotonic() + patience
    while True:
        found = holds()
        value = await found if inspect.isawaitable(found) else found
        if value:
            return value
        assert time.monotonic() < end, f"{what} has not come to hold within {patience:g} s"
        await asyncio.sleep(PAUSE)


@contextmanager
def at_least(seconds: float) -> Iterator[None]:
    """The block takes so long or longer: a busy machine can not break this bound."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun >= seconds


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """The block takes no longer. Tests use it by the fixture `at_most`, which judges in `make prove` only."""
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    assert took <= seconds, f"{took:.1f} s instead of at most {seconds:g} s"
