"""Small writes: done where they are asked for, unless somebody else writes, or it would take long."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import current_thread

import pytest
from tests.ports.sqlite_bench import SqliteBench
from tests.ports.test_sqlite_writer import add, held, names, queued, with_database
from tests.waiting import until

from stretto.model.errors import Unavailable, WrongState
from stretto.store.sql.database import Transaction
from stretto.store.sqlite import writer
from stretto.store.sqlite.database import SqliteDatabase


def where(name: str) -> Callable[[Transaction], Awaitable[str]]:
    """Writes, and says in which thread."""

    async def work(tx: Transaction) -> str:
        await add(name)(tx)
        return "writer" if current_thread().name.startswith("stretto-writer") else "here"

    return work


async def next_turn(database: SqliteDatabase) -> None:
    """Until the thread has opened its connection, which is used here, too, and the event loop has turned."""
    await until(lambda: database._writer._connection is not None and not database._wrote)


def test_the_first_of_a_turn_is_written_here_and_the_others_share_a_flush(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        await next_turn(database)
        many = (database.write_few(where(name)) for name in "abc")
        assert await asyncio.gather(*many) == ["here", "writer", "writer"]
        await next_turn(database)
        assert await database.write_few(where("d")) == "here"
        assert sorted(await database.look(names)) == ["a", "b", "c", "d"]

    with_database(tmp_path, body)


def test_what_it_raises_undoes_it(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        async def bad(tx: Transaction) -> None:
            await add("bad")(tx)
            raise WrongState("no")

        await next_turn(database)
        with pytest.raises(WrongState):
            await database.write_few(bad)
        await next_turn(database)
        assert await database.write_few(where("good")) == "here"
        assert await database.look(names) == ["good"]

    with_database(tmp_path, body)


def test_whoever_finds_another_process_writing_waits_in_the_thread(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        await next_turn(database)
        with held(bench):
            waiting = asyncio.ensure_future(database.write_few(where("a")))
            await queued(database, 1)
            assert not waiting.done()
        assert await waiting == "writer"

    with_database(tmp_path, body)


def test_also_for_one_that_does_not_know_of_the_lock(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        await next_turn(database)
        other = sqlite3.connect(bench.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(database.write_few(where("a")))
        await queued(database, 1)
        assert not waiting.done()
        other.execute("COMMIT")
        other.close()
        assert await waiting == "writer"

    with_database(tmp_path, body)


def test_who_finds_the_thread_at_work_waits_for_his_turn(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        await next_turn(database)
        with database._writer._using:
            waiting = asyncio.ensure_future(database.write_few(where("a")))
            await queued(database, 1)
            assert not waiting.done()
        assert await waiting == "writer"

    with_database(tmp_path, body)


def test_now_and_then_one_goes_to_the_thread_which_tidies_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "HERE_IN_A_ROW", 2)

    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        await database.write(add("first"))
        found = []
        for name in "abcd":
            await next_turn(database)
            found.append(await database.write_few(where(name)))
        assert found == ["here", "here", "writer", "here"]

    with_database(tmp_path, body)


def test_a_lock_that_can_not_be_had_is_told_by_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        def broken() -> bool:
            raise OSError("no locks")

        await next_turn(database)
        monkeypatch.setattr(database._writer._lock, "attempt", broken)
        assert await database.write_few(where("a")) == "writer"

    with_database(tmp_path, body)


def test_while_the_disk_is_slow_nobody_waits_for_it_here(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        await next_turn(database)
        database._slow_until = float("inf")
        assert await database.write_few(where("a")) == "writer"

    with_database(tmp_path, body)


def test_a_store_that_is_closed_says_so(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        await database.close()
        assert database._writer.write_here(where("a")) is None
        with pytest.raises(Unavailable, match="is closed"):
            await database.write_few(where("a"))

    with_database(tmp_path, body)
