"""Forgetting old output: each node does it in its own folder, which nobody else may reach."""

import asyncio
from collections.abc import Callable
from typing import Final

from stretto.runtimes.logs.files import LogFiles

FIRST_LOOK: Final = 2.0  # seconds after the start: a program that ends soon should forget something, too


async def forget_old_output(
    logs: LogFiles, now: Callable[[], int], lasts: int | None, every: int, first: float = FIRST_LOOK
) -> None:
    """Until it is cancelled; as long as runs are kept, so is what they printed."""
    pause = first
    while lasts is not None:
        await asyncio.sleep(pause)
        pause = every / 1_000
        while await logs.forget(now() - lasts):
            pass
