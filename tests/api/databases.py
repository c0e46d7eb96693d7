"""Databases of each kind, for a server of its own."""

import asyncio
from pathlib import Path

import pytest
from tests.acceptance.command import stretto
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer


def database_url(request: pytest.FixtureRequest, folder: Path) -> str:
    """A new database of the kind that the parameter of a fixture names, with its tables."""
    name = f"api_{abs(hash(str(folder)))}"
    if request.param == "memory":
        return "memory://"
    if request.param == "sqlite":
        return f"sqlite:///{folder}/work.db"
    if request.param == "postgresql":
        postgresql: PostgresServer = request.getfixturevalue("own_postgresql")
        asyncio.run(_create(postgresql.url(), name))
        url = postgresql.url(name)
    else:
        mariadb: MariadbServer = request.getfixturevalue("own_mariadb")
        mariadb.run(f"CREATE DATABASE {name}")
        url = mariadb.url(name)
    assert stretto("db", "upgrade", "--db", url).code == 0
    return url


async def _create(url: str, name: str) -> None:
    async with connection_to(url) as connection:
        await connection.execute(f"CREATE DATABASE {name}")
