"""Commits that go to a PostgreSQL server in one way there and back, and what it answered to them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.ports.postgresql_bench import Schema
from tests.ports.postgresql_server import PostgresServer

from stretto.engine.records import RunKey
from stretto.ports.commit import Decided, GroupPart
from stretto.ports.rows import Lease
from stretto.ports.store import Store
from stretto.store.postgresql import open_postgresql
from stretto.store.postgresql.database import PostgresDatabase
from stretto.store.sql.at_once import Answer, AtOnce
from stretto.store.sql.params import KnownParams
from stretto.store.sql.plan import Plan
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, attempt_record

RUN = RunKey("wf", 1, 1)


@pytest.fixture(scope="module")
def kept_schema(own_postgresql: PostgresServer) -> Iterator[Schema]:
    made = Schema(own_postgresql.url())
    yield made
    made.drop()


@pytest.fixture
def one_way(kept_schema: Schema) -> Schema:
    """An empty one."""
    kept_schema.empty()
    return kept_schema


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer | None]:
    """What was answered to commits in one way."""
    made: list[Answer | None] = []
    real = PostgresDatabase.at_once

    async def at_once(database: PostgresDatabase, leases: Any, rows: AtOnce) -> Answer | None:
        answer = await real(database, leases, rows)
        made.append(answer)
        return answer

    monkeypatch.setattr(PostgresDatabase, "at_once", at_once)
    return made


def plan_of(*decisions: Decided) -> Plan:
    return Plan(GroupPart(lease=Lease(3, 1), decisions=decisions, seq=7), KnownParams(), 1_000)


def going_on(**fields: Any) -> Decided:
    return Decided(**{"root": RUN, "records": (attempt_record(RUN, "s"),), **fields})


def world_of(store: Store) -> World:
    async def another() -> Store:
        raise AssertionError("one store is enough here")

    async def advance(_milliseconds: int) -> None:
        raise AssertionError("nobody waits here")

    return World(store, another, advance)


async def beginning(store: Store, answers: list[Answer | None] | None = None) -> tuple[World, Owner, RunKey]:
    """A live run, and a beat that was renewed just now."""
    world = world_of(store)
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    await owner.decide(run)
    if answers is not None:
        answers.clear()
    return world, owner, run


def on_store(url: str, use: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_postgresql(url)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(run())
