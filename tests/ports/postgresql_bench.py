"""A schema in a PostgreSQL database, emptied for each check."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import asyncpg
from tests.ports.postgresql_server import with_query

from stretto.ports.store import Store
from stretto.store.postgresql import open_postgresql
from stretto.store.postgresql.upkeep import upgrade


@asynccontextmanager
async def connection_to(url: str) -> AsyncIterator[Any]:
    """A connection that is closed afterwards, whatever happens."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


class Schema:
    """Tables of our own in a database that others use, too."""

    def __init__(self, url: str) -> None:
        self._root = url
        self.name = f"test_{uuid4().hex}"
        self.url = with_query(url, search_path=self.name)
        asyncio.run(self.run(f"CREATE SCHEMA {self.name}"))
        upgrade(self.url)
        self._empty = asyncio.run(self._statements())

    async def _statements(self) -> str:
        async with connection_to(self.url) as connection:
            rows = await connection.fetch(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            )
        kept = {"stretto_version", "flow_group"}
        deletes = [f"DELETE FROM {row[0]};" for row in rows if row[0] not in kept]  # noqa: S608 - our tables
        reset = "UPDATE flow_group SET generation = 0, owner = NULL, falls = 0, suspect = NULL"
        return " ".join([*deletes, reset])

    async def run(self, script: str) -> None:
        async with connection_to(self.url) as connection:
            await connection.execute(script)

    def empty(self) -> None:
        asyncio.run(self.run(self._empty))

    def drop(self) -> None:
        asyncio.run(self.run(f"DROP SCHEMA {self.name} CASCADE"))


class PostgresBench:
    """Handles to one schema, whose clock is the server's and a step ahead."""

    def __init__(self, schema: Schema) -> None:
        self.url = schema.url
        self.ahead = 0

    async def open(self) -> Store:
        return await open_postgresql(self.url, ahead=lambda: self.ahead)

    async def advance(self, milliseconds: int) -> None:
        self.ahead += milliseconds
