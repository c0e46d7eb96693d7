"""Asking until the database has answered."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from stretto.model.errors import Unavailable

T = TypeVar("T")

PAUSE: Final = 0.1  # seconds, after the database did not answer


async def insist(attempt: Callable[[], Awaitable[T]]) -> T:
    """Until the database has answered."""
    while True:
        try:
            return await attempt()
        except Unavailable:
            await asyncio.sleep(PAUSE)
