"""What a check is, and what it needs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from stretto.ports.store import Store
from stretto.testing.store_suite.world import World


class Bench(Protocol):
    """One database for one check. It is empty when the check begins."""

    async def open(self) -> Store:
        """A new handle to the database, called in the event loop that uses it."""
        ...

    async def advance(self, milliseconds: int) -> None:
        """Let the database's clock go on by so much."""
        ...


Body = Callable[[World], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """One sentence of the contract, tried."""

    name: str
    body: Body

    def __str__(self) -> str:
        return self.name

    def run(self, bench: Bench) -> None:
        """Raises AssertionError if the store does not do what the contract says."""
        asyncio.run(self._run(bench))

    async def _run(self, bench: Bench) -> None:
        handles: list[Store] = []

        async def another() -> Store:
            handles.append(await bench.open())
            return handles[-1]

        try:
            await self.body(World(await another(), another, bench.advance))
        finally:
            for handle in handles:
                await handle.close()


class Suite:
    """The checks of one concern, in the order in which they are written down."""

    def __init__(self, concern: str) -> None:
        self._concern = concern
        self.checks: list[Check] = []

    def check(self, body: Body) -> Body:
        """Decorates a function: the sentence is its name."""
        name = getattr(body, "__name__").replace("_", " ")  # noqa: B009 - a callable need not have one
        self.checks.append(Check(f"{self._concern}: {name}", body))
        return body
