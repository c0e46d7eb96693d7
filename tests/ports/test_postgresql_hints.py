"""Hints by NOTIFY: between handles, between processes, and after trouble."""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Collection
from multiprocessing.connection import Connection
from typing import Any

import pytest
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer
from tests.waiting import PATIENCE, until

from stretto.engine.records import RunKey
from stretto.ports.hints import Hints
from stretto.ports.places import GROUPS
from stretto.store.postgresql import PostgresHints, hints

EVERYWHERE = frozenset(range(GROUPS))
LISTENING = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN%'"


class Ear:
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.heard: list[frozenset[int]] = []
        self.runs: list[RunKey] = []
        self._news = asyncio.Event()

    def __call__(self, groups: frozenset[int], admitted: Collection[RunKey]) -> None:
        self.heard.append(groups)
        self.runs += admitted
        self._news.set()

    async def until(self, groups: set[int]) -> None:
        """Wait until all these were heard."""
        async with asyncio.timeout(PATIENCE):
            while not groups <= frozenset().union(*self.heard):
                self._news.clear()
                await self._news.wait()


async def hinted_until_heard(speaker: PostgresHints, ear: Ear, group: int) -> None:
    """A hint may be lost while a connection is made: say it again."""

    def is_heard() -> bool:
        speaker.hint([group])
        return any(group in groups for groups in ear.heard)

    await until(is_heard)


def with_hints(url: str, use: Callable[[PostgresHints, PostgresHints], Awaitable[None]]) -> None:
    async def run() -> None:
        one, other = PostgresHints(url), PostgresHints(url)
        try:
            await use(one, other)
        finally:
            for each in (one, other, one):
                await each.close()

    asyncio.run(run())


def test_hints_reach_other_handles_once(own_postgresql: PostgresServer) -> None:
    async def use(one: PostgresHints, other: PostgresHints) -> None:
        port: Hints = one
        here, there = Ear(), Ear()
        stop = port.listen(here)
        other.listen(there)
        await hinted_until_heard(one, there, 0)
        here.heard.clear()
        one.hint([1, 2, 1], [RunKey("wf", 1, 1)])
        assert here.heard == [{1, 2}]  # at once
        assert here.runs == [RunKey("wf", 1, 1)]
        one.hint([])
        await there.until({1, 2})
        assert there.runs == []  # the server is told of groups only
        other.hint([4])
        await here.until({4})
        assert here.heard == [{1, 2}, {4}]  # and not again by way of the server, which tells in order
        late = Ear()
        port.listen(late)
        stop()
        stop()
        other.hint([3])
        await late.until({3})
        assert here.heard == [{1, 2}, {4}]

    with_hints(own_postgresql.url(), use)


def test_many_hints_are_few_notices(own_postgresql: PostgresServer) -> None:
    async def use(one: PostgresHints, other: PostgresHints) -> None:
        there = Ear()
        other.listen(there)
        await hinted_until_heard(one, there, 0)
        there.heard.clear()
        for number in range(500):
            one.hint([number % GROUPS])
            await asyncio.sleep(0)
        await there.until({*EVERYWHERE})
        assert len(there.heard) < 100

    with_hints(own_postgresql.url(), use)


def test_connections_are_made_anew(own_postgresql: PostgresServer) -> None:
    """Who listened must look everywhere: nobody knows what it missed."""
    url = own_postgresql.url(application_name="anew")

    async def use(one: PostgresHints, other: PostgresHints) -> None:
        there = Ear()
        other.listen(there)
        await hinted_until_heard(one, there, 0)
        async with connection_to(own_postgresql.url()) as connection:
            assert len(await connection.fetch(LISTENING, "anew")) == 1
            there.heard.clear()
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", "anew"
            )
        await there.until({*EVERYWHERE})
        there.heard.clear()
        await hinted_until_heard(one, there, 5)

    with_hints(url, use)


def test_an_idle_connection_is_tried(own_postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "ALIVE_EVERY", 0.05)
    url = own_postgresql.url(application_name="tried")
    tried = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tried' AND query = 'SELECT 1'"

    async def use(one: PostgresHints, other: PostgresHints) -> None:
        there = Ear()
        one.listen(there)
        async with connection_to(own_postgresql.url()) as connection:
            await until(lambda: connection.fetchval(tried))
        await hinted_until_heard(other, there, 9)

    with_hints(url, use)


def test_a_notice_of_somebody_else_is_harmless(own_postgresql: PostgresServer) -> None:
    async def use(one: PostgresHints, other: PostgresHints) -> None:
        there = Ear()
        other.listen(there)
        await hinted_until_heard(one, there, 0)
        there.heard.clear()
        async with connection_to(own_postgresql.url()) as connection:
            await connection.execute("SELECT pg_notify('stretto', 'hello,7,4711')")
        await there.until({7})
        assert frozenset().union(*there.heard) <= {0, 7}  # what was hinted before may come late

    with_hints(own_postgresql.url(), use)


def test_without_a_server_nothing_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "PAUSES", (0.01, 0.02))
    tries: list[Any] = []
    connected = hints.connected  # type: ignore[attr-defined]

    def trying(address: Any) -> Any:
        tries.append(address)
        return connected(address)

    monkeypatch.setattr(hints, "connected", trying)

    async def use(one: PostgresHints, _other: PostgresHints) -> None:
        here = Ear()
        one.listen(here)
        one.hint([1])
        await until(lambda: len(tries) >= 6)  # three of each connection
        assert here.heard == [{1}]

    with_hints("postgresql://me@127.0.0.1:1/nowhere", use)


def test_after_it_is_closed_nothing_happens(own_postgresql: PostgresServer) -> None:
    async def run() -> None:
        closed, here = PostgresHints(own_postgresql.url()), Ear()
        await closed.close()
        closed.listen(here)
        closed.hint([1])
        assert here.heard == []

    asyncio.run(run())


# ---------------------------------------------------------------------------------------------- two processes
def test_hints_reach_another_process(own_postgresql: PostgresServer) -> None:
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_listen, args=(own_postgresql.url(), there))
    process.start()

    async def run() -> None:
        speaker = PostgresHints(own_postgresql.url())

        def is_heard() -> bool:
            speaker.hint([11])
            return here.poll()

        await until(is_heard)
        await speaker.close()

    asyncio.run(run())
    assert here.recv() == [11]
    process.join(30)
    assert process.exitcode == 0


def _listen(url: str, pipe: Connection) -> None:
    async def run() -> None:
        listener, ear = PostgresHints(url), Ear()
        listener.listen(ear)
        await ear.until({11})
        pipe.send(sorted(ear.heard[0]))
        await listener.close()

    asyncio.run(run())
