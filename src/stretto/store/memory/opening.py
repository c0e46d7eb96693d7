"""A store in memory by its address."""

import asyncio
from time import monotonic, time_ns

from stretto.model.errors import InvalidRequest
from stretto.ports.store import Store
from stretto.store.memory.database import Database
from stretto.store.memory.store import MemoryStore
from stretto.store.settings import DatabaseSettings


class HostClock:
    """See `ports.clock`: the host's."""

    def now(self) -> int:
        return time_ns() // 1_000_000

    def steady(self) -> float:
        return monotonic()

    async def sleep_until(self, due: int) -> None:
        await asyncio.sleep(max(0, due - self.now()) / 1000)


async def open_url(url: str, _settings: DatabaseSettings, *, create: bool = False) -> Store:  # noqa: ARG001
    """A new database in memory: nobody else has it, and it is gone with the store."""
    if url not in {"memory:", "memory://"}:
        raise InvalidRequest(f"a database in memory has no name: {url}", hint="write memory://")
    return MemoryStore(Database(HostClock()))
