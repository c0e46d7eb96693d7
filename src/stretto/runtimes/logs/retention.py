"""Deleting output with its run: each node does it in its own folder, which nobody else may reach."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from stretto.model.errors import StrettoError
from stretto.ports.history import History
from stretto.runtimes.logs.files import LogFiles

FIRST_LOOK: Final = 2.0  # seconds after the start: a program that ends soon should forget something, too


async def forget_output(
    logs: LogFiles,
    store: History,
    now: Callable[[], int],
    lasts: int | None,
    every: int,
    first: float = FIRST_LOOK,
) -> None:
    """Until it is cancelled. `lasts`: how long runs are kept; None: for ever, unless they are deleted."""
    pause = first
    while True:
        await asyncio.sleep(pause)
        pause = every / 1_000
        with suppress(StrettoError):  # a database that is away: the next look tries again
            while await logs.forget(0 if lasts is None else now() - lasts, store):
                pass
