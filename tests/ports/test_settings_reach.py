"""Settings from a file reach the database that a node works on."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ports.mariadb_bench import Database
from tests.ports.postgresql_bench import Schema
from tests.waiting import until

from stretto.app import App, running
from stretto.config import Config, load
from stretto.config.folders import Surroundings
from stretto.store.mariadb.opening import SAFETY
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql.statement import Statement

FILE = """
[database]
synchronous = "relaxed"
connections = 3
connect_within = "7s"
statement_within = "11s"
lock_within = "2s"
idle_in_transaction = "4s"
connection_idle = "50s"
connection_lifetime = "60s"
blob_from = "2KB"
[node]
expiry = "9s"
stop_within = "1s"
"""
WANTED = DatabaseSettings(
    synchronous=Synchronous.RELAXED,
    connections=3,
    connect_within=7_000,
    statement_within=11_000,
    lock_within=2_000,
    idle_in_transaction=4_000,
    connection_idle=50_000,
    connection_lifetime=60_000,
    blob_from=2_048,
    beat_lasts=9_000,
)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "stretto.toml"
    file.write_text(FILE)
    around = Surroundings(folder=tmp_path, home=tmp_path, environ={})
    return load(around, file=str(file)).config


@pytest.fixture
def postgresql(postgresql_url: str) -> Iterator[str]:
    schema = Schema(postgresql_url)
    yield schema.url
    schema.drop()


@pytest.fixture
def mariadb(mariadb_url: str) -> Iterator[str]:
    database = Database(mariadb_url)
    yield database.url
    database.drop()


async def said(app: App, text: str) -> Any:
    """What the database answers, on a connection of the store's own."""
    store: Any = app.store
    return (await store._db.look(lambda tx: tx.all(Statement(text))))[0]


def observed(config: Config, url: str, look: Callable[[App], Any]) -> Any:
    async def work() -> Any:
        async with running(config, url) as app, asyncio.timeout(60):
            store: Any = app.store
            assert DatabaseSettings(**{**_fields(store._settings), "url": None}) == DatabaseSettings(
                **{**_fields(WANTED), "url": None}
            )
            nodes = await app.watch(until(app.store.nodes))
            beats = nodes[0].beats - 1  # two seconds from one to the next, at least
            assert nodes[0].expires_at - nodes[0].joined_at >= 9_000 + 1_900 * beats
            assert beats or nodes[0].expires_at - nodes[0].joined_at == 9_000
            return await look(app)

    return asyncio.run(work())


def _fields(settings: DatabaseSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__struct_fields__}


def test_sqlite(config: Config, tmp_path: Path) -> None:
    async def look(app: App) -> Any:
        database: Any = app.store
        mode = await database._db.write(lambda tx: tx.one(Statement("PRAGMA synchronous")))
        return mode[0], database._db._pool._max_workers

    assert observed(config, f"sqlite:///{tmp_path}/s.db", look) == (1, 3)  # 1 is NORMAL


def test_postgresql(config: Config, postgresql: str) -> None:
    async def look(app: App) -> Any:
        store: Any = app.store
        names = (
            "synchronous_commit",
            "statement_timeout",
            "lock_timeout",
            "idle_in_transaction_session_timeout",
        )
        shown = [(await said(app, f"SHOW {name}"))[0] for name in names]
        pool = store._db._pool
        return shown, (pool._idle_for, pool._lifetime)

    assert observed(config, postgresql, look) == (["off", "11s", "2s", "4s"], (50.0, 60.0))


def test_mariadb(config: Config, mariadb: str) -> None:
    async def look(app: App) -> Any:
        store: Any = app.store
        names = "max_statement_time innodb_lock_wait_timeout idle_transaction_timeout wait_timeout"
        row = await said(app, f"SELECT {', '.join(f'@@{name}' for name in names.split())}")
        pool = store._db._pool
        return [float(value) for value in row], (pool._idle_for, pool._lifetime)

    assert SAFETY  # whose answer `relaxed` makes bearable
    assert observed(config, mariadb, look) == ([11.0, 2.0, 4.0, 50.0], (50.0, 60.0))


def test_no_password_is_shown() -> None:
    settings = DatabaseSettings(url="postgresql://me:s3cret@host/name", connections=5)
    shown = repr(Config(database=settings)) + str(settings)
    assert "s3cret" not in shown
    assert "url=postgresql, " in shown
    assert "connections=5" in shown
    assert "url=None" in repr(DatabaseSettings())
