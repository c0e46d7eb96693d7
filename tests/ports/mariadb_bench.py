"""A MariaDB database, emptied for each check."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from tests.ports.mariadb_server import at_database

from stretto.ports.store import Store
from stretto.store.mariadb import open_mariadb
from stretto.store.mariadb.address import address_of
from stretto.store.mariadb.connecting import connected
from stretto.store.mariadb.upkeep import upgrade


class Database:
    """A database of our own on a server that others use, too."""

    def __init__(self, url: str, *, empty: bool = False) -> None:
        self._root = url
        self.name = f"stretto_test_{uuid4().hex}"
        self.url = at_database(url, self.name)
        run(self._root, f"CREATE DATABASE {self.name}")
        if not empty:
            upgrade(self.url)
        tables = [row[0] for row in query(self.url, "SHOW TABLES")]
        self._empty = "; ".join(
            [
                f"DELETE FROM {table}"  # noqa: S608 - names that the server gave
                for table in tables
                if table not in {"stretto_version", "flow_group"}
            ]
            + ["UPDATE flow_group SET generation = 0, owner = NULL, falls = 0, suspect = NULL"]
        )

    def empty(self) -> None:
        run(self.url, self._empty)

    def drop(self) -> None:
        run(self._root, f"DROP DATABASE {self.name}")


def run(url: str, script: str) -> None:
    """Statements, separated by semicolons."""

    async def running() -> None:
        connection = await connected(address_of(url))
        await connection.say(script)
        await connection.close()

    asyncio.run(running())


def query(url: str, text: str, *values: Any) -> Sequence[Any]:
    """The rows that one statement finds."""

    async def asking() -> Sequence[Any]:
        connection = await connected(address_of(url))
        try:
            return (await connection.execute(text, values)).rows
        finally:
            await connection.close()

    return asyncio.run(asking())


class MariadbBench:
    """Handles to one database, whose clock is the server's and a step ahead."""

    def __init__(self, database: Database) -> None:
        self.url = database.url
        self.ahead = 0

    async def open(self) -> Store:
        return await open_mariadb(self.url, ahead=lambda: self.ahead)

    async def advance(self, milliseconds: int) -> None:
        self.ahead += milliseconds
