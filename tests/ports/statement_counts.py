"""Databases that count what is said to them: every statement, from whatever connection."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest
from tests.ports.mariadb_bench import Database, query
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer

from stretto.store.postgresql.upkeep import upgrade
from stretto.store.sqlite import database as sqlite_database

CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA")


class Counted(Protocol):
    """A database."""

    @property
    def url(self) -> str: ...

    def statements(self) -> int:
        """How many there were so far."""
        ...


class CountedSqlite:
    """Statements that read or write rows. BEGIN and COMMIT are no queries here: they ask nobody."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.url = f"sqlite:///{path}"
        self._count = 0
        connect = sqlite_database.connected

        def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **options)
            connection.set_trace_callback(self._note)
            return connection

        patch.setattr(sqlite_database, "connected", counted)

    def _note(self, text: str) -> None:
        self._count += not text.startswith(CONTROL)

    def statements(self) -> int:
        return self._count


class CountedPostgres:
    """What the server's log says, BEGIN and COMMIT included."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._name = f"counted_{uuid4().hex}"
        self.url = server.url(self._name)
        asyncio.run(self._say(f"CREATE DATABASE {self._name}"))
        upgrade(self.url)
        asyncio.run(self._say(f"ALTER DATABASE {self._name} SET log_statement = 'all'"))
        self._before = self._said()

    def statements(self) -> int:
        return self._said() - self._before

    def _said(self) -> int:
        log = (self._server.folder / "log").read_bytes()
        return log.count(b"LOG:  statement: ") + log.count(b"LOG:  execute ")

    def close(self) -> None:
        asyncio.run(self._say(f"DROP DATABASE {self._name} WITH (FORCE)"))

    async def _say(self, text: str) -> None:
        async with connection_to(self._server.url()) as connection:
            await connection.execute(text)


class CountedMariadb:
    """What the server counts, START TRANSACTION and COMMIT included; but not that we ask for it."""

    def __init__(self, server: MariadbServer) -> None:
        self._database = Database(server.url("mysql"))
        self.url = self._database.url
        self._asked = 0
        first, second = self._questions(), self._questions()
        self._each = second - first
        self._before = second

    def statements(self) -> int:
        self._asked += 1
        return self._questions() - self._before - self._asked * self._each

    def _questions(self) -> int:
        ((_name, count),) = query(self.url, "SHOW GLOBAL STATUS LIKE 'Questions'")
        return int(count)

    def close(self) -> None:
        self._database.drop()


@contextmanager
def counted(kind: str, request: pytest.FixtureRequest) -> Iterator[Counted]:
    """A new database of a kind."""
    if kind == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        yield CountedSqlite(folder / "counted.db", request.getfixturevalue("monkeypatch"))
        return
    server = request.getfixturevalue(f"own_{kind}")
    made = CountedPostgres(server) if kind == "postgresql" else CountedMariadb(server)
    try:
        yield made
    finally:
        made.close()
