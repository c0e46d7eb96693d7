"""The memory store keeps the contract of the store ports: alone, among other tasks, and between threads."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.register_assert_rewrite("stretto.testing.store_suite")

from stretto.ports.places import GROUPS  # noqa: E402 - after the suite's assertions are made readable
from stretto.ports.rows import Lease, NodeId  # noqa: E402
from stretto.ports.store import Store  # noqa: E402
from stretto.store.memory import Database, MemoryStore  # noqa: E402
from stretto.testing.clock import VirtualClock  # noqa: E402
from stretto.testing.faults import Moment, interfered  # noqa: E402
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


class RestlessBench(MemoryBench):
    """The same, but other tasks run before and after each call: a different mix for each seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.turns = seed

    async def open(self) -> Store:
        async def let_others_run(_call: str, _moment: Moment) -> None:
            self.turns = self.turns * 1_103_515_245 + 12_345 & 0x7FFFFFFF
            for _ in range(self.turns >> 16 & 3):
                await asyncio.sleep(0)

        return interfered(await super().open(), let_others_run)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_contract(check: Check) -> None:
    check.run(MemoryBench())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("check", [each for each in CHECKS if str(each).startswith("concurrency")], ids=str)
def test_the_contract_among_other_tasks(check: Check, seed: int) -> None:
    check.run(RestlessBench(seed))


def test_threads_share_a_database() -> None:
    """A node beats on a thread of its own."""
    database = Database(VirtualClock())

    def claim_and_beat(number: int) -> list[Lease]:
        async def run() -> list[Lease]:
            store, node = MemoryStore(database), NodeId(f"node-{number}")
            await store.join(node)
            leases: list[Lease] = []
            for _ in range(20):
                leases += await store.claim(node, 2)
                assert await store.beat(node) is not None
            return leases

        return asyncio.run(run())

    with ThreadPoolExecutor(4) as pool:
        claims = [lease.group for leases in pool.map(claim_and_beat, range(4)) for lease in leases]
    assert Counter(claims) == Counter(range(GROUPS))
