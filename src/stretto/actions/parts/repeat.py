"""Transactions that are made again."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from stretto.model.errors import Unavailable
from stretto.ports.failures import Stale

T = TypeVar("T")

MOST_TRIES: Final = 5


async def repeated(attempt: Callable[[], Awaitable[T]], most: int = MOST_TRIES) -> T:
    """The result of a transaction that is repeated while it loses races, or nobody knows how it ended.

    It must be idempotent: what is asked for has its request id before the first try. After the last try the
    error is the caller's.
    """
    for _ in range(most - 1):
        with suppress(Stale, Unavailable):
            return await attempt()
    return await attempt()
