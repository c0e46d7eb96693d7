"""A store whose calls go wrong when they are told to: the crash points of everything that uses one.

    async def interfere(call: str, moment: Moment) -> None:
        if (call, moment) == ("commit", Moment.AFTER):
            raise OutcomeUnknown("the answer was lost")

    store = interfered(store, interfere)

An error raised BEFORE means that nothing was done, one raised AFTER that it was, and nobody knows. A function
that waits lets others run in between.
"""

from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any, cast

from stretto.ports.store import Store

__all__ = ["Interfere", "Moment", "interfered"]


class Moment(Enum):
    """Where a call can be disturbed. Inside there is no such place: a transaction is whole or not at all."""

    BEFORE = auto()
    AFTER = auto()


Interfere = Callable[[str, Moment], Awaitable[None]]


class _Interfered:
    """Stands before a store and has all its methods."""

    def __init__(self, store: Store, interfere: Interfere) -> None:
        self._store = store
        self._interfere = interfere

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            await self._interfere(name, Moment.BEFORE)
            answer = await method(*arguments, **named)
            await self._interfere(name, Moment.AFTER)
            return answer

        return call


def interfered(store: Store, interfere: Interfere) -> Store:
    """The same store, disturbed."""
    return cast("Store", _Interfered(store, interfere))
