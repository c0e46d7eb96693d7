"""The memory store keeps the contract of the store ports."""

import pytest

pytest.register_assert_rewrite("stretto.testing.store_suite")

from stretto.ports.store import Store  # noqa: E402 - after the suite's assertions are made readable
from stretto.store.memory import Database, MemoryStore  # noqa: E402
from stretto.testing.clock import VirtualClock  # noqa: E402
from stretto.testing.store_suite import CHECKS, Check  # noqa: E402


class MemoryBench:
    """A database in memory, with a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.database = Database(self.clock)

    async def open(self) -> Store:
        return MemoryStore(self.database)

    async def advance(self, milliseconds: int) -> None:
        await self.clock.advance(milliseconds)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_memory_store(check: Check) -> None:
    check.run(MemoryBench())
