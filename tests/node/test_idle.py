"""What an idle server says to its database, counted in virtual time: at most two statements a second.

The node is driven by a clock that the test moves, so the count is the same however busy the machine is.
"""

import asyncio
from collections.abc import Iterator

import pytest
from tests.node.tank import Clock
from tests.ports.mariadb_server import own_mariadb
from tests.ports.postgresql_server import own_postgresql
from tests.ports.statement_counts import Counted, counted

from stretto.actions.bulk import carry_out_next
from stretto.api.bulk_worker import LOOK_EVERY
from stretto.node.machine import Node
from stretto.node.perform.values import InProcess
from stretto.node.performer import Performer
from stretto.node.settings import NodeSettings
from stretto.ports.hints import SILENT
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.ports.store import Store
from stretto.store.opening import open_store

__all__ = ["own_mariadb", "own_postgresql"]

BUDGET = 2  # statements a second
MINUTES = 5


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def database(request: pytest.FixtureRequest) -> Iterator[Counted]:
    with counted(request.param, request) as made:
        yield made


class Server:
    """A node, and beside it what a server looks for now and then."""

    def __init__(self, store: Store) -> None:
        self.clock = Clock()
        self._store = store
        settings = NodeSettings()
        self._performer = Performer(store, SILENT, {}, InProcess(), settings=settings)
        self.node = Node(settings, self.clock.steady, lambda: NodeId("idle"), self._performer.outside)
        self.node.begin()
        self._looked = 0.0

    async def live(self, seconds: int) -> None:
        """As a driver does, but for the time, which passes at once."""
        end = self.clock.steady() + seconds
        while self.clock.steady() < end:
            await self._settle()
            if self.clock.steady() >= self._looked + LOOK_EVERY:
                self._looked = self.clock.steady()
                await carry_out_next(self._store)
            wake = min(self.node.next_wake, self._looked + LOOK_EVERY, end)
            self.clock.millis = max(self.clock.millis + 1, int(wake * 1_000) + 1)

    async def _settle(self) -> None:
        self.node.wake()
        while asks := self.node.take():
            for ask in asks:
                self.node.answered(ask, await self._performer.answer(ask))
            self.node.wake()


def test_an_idle_server_says_two_statements_a_second(database: Counted) -> None:
    async def work() -> int:
        store = await open_store(database.url)
        try:
            server = Server(store)
            await server.live(30)
            assert len(server.node.groups) == GROUPS
            before = await asyncio.to_thread(database.statements)
            await server.live(MINUTES * 60)
            return await asyncio.to_thread(database.statements) - before
        finally:
            await store.close()

    assert MINUTES * 60 * BUDGET / 2 < asyncio.run(work()) <= MINUTES * 60 * BUDGET
