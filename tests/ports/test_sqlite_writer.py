"""The thread that writes: order, failures that harm nobody else, and errors with a way out."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest
from tests.ports.sqlite_bench import SqliteBench
from tests.waiting import until

from stretto.engine.records import RunKey
from stretto.model.errors import Conflict, Internal, Unavailable, WrongState
from stretto.ports.commit import Decided
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.store.sql.database import Taken, Transaction
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts
from stretto.store.sql.store import SqlStore
from stretto.store.sqlite import database as sqlite_database
from stretto.store.sqlite.database import SqliteDatabase
from stretto.store.sqlite.errors import translated, unknown
from stretto.store.sqlite.lock import FileLock
from stretto.store.sqlite.transaction import sizes
from stretto.store.sqlite.writer import LONGEST
from stretto.testing.store_suite.world import World, attempt_record

ADD = Statement("INSERT INTO counter (name, next_value) VALUES (:name, :value)")
NAMES = Statement("SELECT name FROM counter ORDER BY next_value")
PUT = Bulk(way=Way.INSERT, table="counter", key=1, fields=(*texts("name"), *ints("next_value")))


def add(name: str, value: int = 0) -> Callable[[Transaction], Awaitable[int]]:
    async def work(tx: Transaction) -> int:
        return await tx.run(ADD, name=name, value=value)

    return work


async def names(tx: Transaction) -> list[str]:
    return [row[0] for row in await tx.all(NAMES)]


@contextmanager
def held(bench: SqliteBench) -> Iterator[None]:
    """Somebody else writes: everything waits."""
    lock = FileLock(bench.path.with_name("stretto.db-lock"))
    with lock:
        yield
    lock.close()


async def queued(database: SqliteDatabase, count: int) -> None:
    """Until so many works wait for the thread that writes."""
    writer = database._writer
    await until(lambda: len(writer._urgent) + len(writer._waiting) == count, f"a queue of {count}")


def with_database(folder: Path, body: Callable[[SqliteBench, SqliteDatabase], Awaitable[None]]) -> None:
    async def run() -> None:
        bench = SqliteBench(folder)
        store = await bench.open()
        assert isinstance(store, SqlStore)
        database = store._db
        assert isinstance(database, SqliteDatabase)
        try:
            await body(bench, database)
        finally:
            await store.close()

    asyncio.run(run())


# ------------------------------------------------------------------------------------------------- together
def test_what_fails_in_a_transaction_of_many_is_undone_alone(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        async def bad(tx: Transaction) -> int:
            await tx.run(ADD, name="bad", value=9)
            raise WrongState("no")

        for works in ([bad, add("a"), add("b")], [add("c"), bad, add("d")]):
            with held(bench):
                waiting = [asyncio.ensure_future(database.write(work)) for work in works]
                await queued(database, 3)
            done = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(each) for each in done].count(WrongState) == 1
            assert [each for each in done if each == 1] == [1, 1]
        assert sorted(await database.look(names)) == ["a", "b", "c", "d"]

    with_database(tmp_path, body)


def test_beats_come_first(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        order: list[str] = []

        def note(name: str) -> Callable[[Transaction], Awaitable[None]]:
            async def work(_tx: Transaction) -> None:
                order.append(name)

            return work

        with held(bench):
            first = asyncio.ensure_future(database.write(note("first")))
            second = asyncio.ensure_future(database.write(note("second")))
            beat = asyncio.ensure_future(database.apart(note("beat")))
            await queued(database, 3)
        await asyncio.gather(first, second, beat)
        assert order == ["beat", "first", "second"]

    with_database(tmp_path, body)


def test_a_long_transaction_is_not_made_longer(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        async def slow(tx: Transaction) -> Transaction:
            before = await tx.now()
            while await tx.now() < before + LONGEST * 1_000 + 5:
                pass
            return tx

        async def quick(tx: Transaction) -> Transaction:
            return tx

        with held(bench):
            waiting = [asyncio.ensure_future(database.write(work)) for work in (slow, quick)]
            await queued(database, 2)
        first, second = await asyncio.gather(*waiting)
        assert first is not second  # which has a transaction of its own

    with_database(tmp_path, body)


def test_who_does_not_wait_any_more_writes_nothing(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        with held(bench):
            late = asyncio.ensure_future(database.write(add("late")))
            kept = asyncio.ensure_future(database.write(add("kept")))
            await queued(database, 2)
            late.cancel()
            await asyncio.sleep(0)
        await kept
        assert await database.look(names) == ["kept"]

    with_database(tmp_path, body)


def test_who_is_cancelled_while_it_is_written_is_not_told(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        loop = asyncio.get_running_loop()
        waiting: list[asyncio.Future[Any]] = []

        async def cancels_itself(tx: Transaction) -> None:
            loop.call_soon_threadsafe(waiting[0].cancel)
            await tx.run(ADD, name="done", value=1)

        waiting.append(asyncio.ensure_future(database.write(cancels_itself)))
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        await database.write(add("after", 2))
        assert await database.look(names) == ["done", "after"]

    with_database(tmp_path, body)


def test_an_event_loop_may_end_while_it_is_written(tmp_path: Path) -> None:
    bench = SqliteBench(tmp_path)
    loop = asyncio.new_event_loop()
    store: Any = loop.run_until_complete(bench.open())

    async def leave() -> None:
        store._db._writer.submit(add("orphan", 1))

    async def go_on() -> list[str]:
        await store._db.write(add("next", 2))
        found: list[str] = await store._db.look(names)
        await store.close()
        return found

    with held(bench):
        loop.run_until_complete(leave())
        loop.close()
    assert asyncio.run(go_on()) == ["orphan", "next"]


def test_a_work_awaits_nothing_but_its_transaction(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        async def sleeps(_tx: Transaction) -> None:
            await asyncio.sleep(0)

        for way in (database.write, database.read, database.look):
            with pytest.raises(Internal):
                await way(sleeps)

    with_database(tmp_path, body)


# ------------------------------------------------------------------------------------------------ the end
def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        with held(bench):
            last = asyncio.ensure_future(database.write(add("last")))
            await queued(database, 1)
            closing = asyncio.ensure_future(database.close())
            await until(lambda: database._writer._closed)
        assert await last == 1  # what was asked for before is written
        await closing
        with pytest.raises(Unavailable, match="closed"):
            await database.write(add("late"))
        with pytest.raises(Unavailable, match="closed"):
            await database.look(names)

    with_database(tmp_path, body)


# ------------------------------------------------------------------------------------------------- trouble
def test_a_full_disk_is_told_and_goes_by(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        async def limit(tx: Transaction, pages: int) -> None:
            await tx.all(Statement(f"PRAGMA max_page_count = {pages}"))

        async def fill(tx: Transaction) -> None:
            rows = [(f"{number}-{'x' * 200}", number) for number in range(2_000)]
            await tx.bulk(PUT, rows)

        await database.write(lambda tx: limit(tx, 90))
        with held(bench):
            good = asyncio.ensure_future(database.write(add("good")))
            full = asyncio.ensure_future(database.write(fill))
            await queued(database, 2)
        done = await asyncio.gather(good, full, return_exceptions=True)
        assert isinstance(done[1], Unavailable)
        assert "full" in done[1].message
        assert done[1].hint is not None
        assert "make room" in done[1].hint
        await database.write(lambda tx: limit(tx, 1_000_000))
        await database.write(fill)
        assert len(await database.look(names)) in {2_000, 2_001}

    with_database(tmp_path, body)


def test_a_transaction_that_is_gone_is_told_to_all_of_it(tmp_path: Path) -> None:
    """SQLite takes back a whole transaction by itself when it can not go on."""

    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        async def takes_all_back(tx: Transaction) -> int:
            return await tx.run(Statement("ROLLBACK"))

        async def bad(_tx: Transaction) -> int:
            raise WrongState("no")

        with held(bench):
            works = (add("a"), bad, takes_all_back)
            waiting = [asyncio.ensure_future(database.write(work)) for work in works]
            await queued(database, 3)
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(each) for each in done] == [Unavailable, WrongState, Unavailable]
        assert await database.look(names) == []
        assert await database.write(add("a")) == 1

    with_database(tmp_path, body)


def test_another_program_that_holds_the_file_is_named(tmp_path: Path) -> None:
    async def body(bench: SqliteBench, database: SqliteDatabase) -> None:
        await database.write(lambda tx: tx.all(Statement("PRAGMA busy_timeout = 50")))  # else half a minute
        stranger = sqlite3.connect(bench.path, isolation_level=None)
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable) as caught:
            await database.write(add("a"))
        assert caught.value.hint is not None
        assert "another program" in caught.value.hint
        stranger.execute("ROLLBACK")
        stranger.close()
        assert await database.write(add("a")) == 1

    with_database(tmp_path, body)


def test_a_lock_that_is_lost_is_told(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        file, database._lock._file = database._lock._file, 999_999
        with pytest.raises(Unavailable, match="lock"):
            await database.write(add("a"))
        database._lock._file = file
        assert await database.write(add("a")) == 1

    with_database(tmp_path, body)


def test_a_value_that_sqlite_can_not_hold_is_poison(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        for value in (2**70, object(), "\ud800"):
            with pytest.raises(Poison):
                await database.write(add("a", value))  # type: ignore[arg-type]
        with pytest.raises(Unavailable):
            await database.read(lambda tx: tx.all(Statement("SELECT nothing FROM nowhere")))
        with pytest.raises(Unavailable):  # a reader can not write
            await database.look(lambda tx: tx.run(ADD, name="x", value=1))

    with_database(tmp_path, body)


def test_small_answers_are_given_at_once_while_they_are_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        async def where(tx: Transaction) -> str:
            await tx.all(NAMES)
            return current_thread().name

        here = current_thread().name
        monkeypatch.setattr(sqlite_database, "SLOW", 60.0)  # on a busy machine, too
        assert await database.brief(where, together=False) == here
        monkeypatch.setattr(sqlite_database, "SLOW", -1.0)  # now nothing is quick
        for _ in range(sqlite_database.SLOW_IN_A_ROW):
            assert await database.brief(where, together=True) == here
        assert await database.brief(where, together=True) != here
        monkeypatch.setattr(sqlite_database, "SLOW", 60.0)
        database._slow_until = 0.0
        assert await database.brief(where, together=True) == here
        with pytest.raises(Unavailable):
            await database.brief(lambda tx: tx.all(Statement("SELECT no FROM nowhere")), together=True)
        await database.close()
        with pytest.raises(Unavailable, match="closed"):
            await database.brief(where, together=False)

    with_database(tmp_path, body)


def test_a_row_that_is_there_is_a_conflict(tmp_path: Path) -> None:
    async def body(_bench: SqliteBench, database: SqliteDatabase) -> None:
        async def twice(tx: Transaction) -> None:
            await tx.bulk(PUT, [("same", 1)])
            await tx.bulk(PUT, [("same", 2)])

        async def nothing(tx: Transaction) -> None:
            await tx.bulk(PUT, [(None, 1)])

        with pytest.raises(Conflict):
            await database.write(twice)
        with pytest.raises(Unavailable):  # no other constraint can fail, unless we are wrong
            await database.write(nothing)

    with_database(tmp_path, body)


def test_poison_in_a_commit_harms_nobody(tmp_path: Path) -> None:
    async def run() -> None:
        bench = SqliteBench(tmp_path)
        store = await bench.open()
        world = World(store, bench.open, bench.advance)
        await world.publish()
        owner = await world.owner()
        live = await world.live(owner)
        for bad in (
            attempt_record(live, "s", create_time=2**70),
            attempt_record(live, "s" * 192),
            attempt_record(live, "s\0"),
            attempt_record(RunKey("w" * 192, 1, 1), "s"),
        ):
            with pytest.raises(Poison):
                await owner.decide(live, records=(attempt_record(live, "good"), bad))
        await owner.decide(live, records=(attempt_record(live, "good"),))
        assert [each.key.step_id for each in await store.attempts(NewestAttempts((live,)))] == ["good"]
        with pytest.raises(Poison):
            await store.join(NodeId("n" * 300))
        await owner.commit(0, Decided())
        await store.close()

    asyncio.run(run())


# -------------------------------------------------------------------------------------------------- errors
def error_of(kind: type[sqlite3.Error], code: int, text: str) -> sqlite3.Error:
    error = kind(text)
    error.sqlite_errorcode = code
    return error


def test_a_disk_that_fails_while_it_commits_leaves_it_open() -> None:
    path = Path("stretto.db")
    failed = error_of(sqlite3.OperationalError, sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error")
    assert isinstance(unknown(failed, path), OutcomeUnknown)
    full = error_of(sqlite3.OperationalError, sqlite3.SQLITE_FULL, "database or disk is full")
    found = unknown(full, path)
    assert isinstance(found, Unavailable)
    assert not isinstance(found, OutcomeUnknown)


def test_a_file_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ro.db"
    sqlite3.connect(path).close()
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("CREATE TABLE x (y)")
    connection.close()
    error = translated(caught.value, path)
    assert isinstance(error, Unavailable)
    assert error.hint is not None
    assert "right to write" in error.hint


def test_errors_that_are_not_sqlites_stay_as_they_are() -> None:
    error = WrongState("x")
    assert translated(error, Path("x")) is error
    assert isinstance(translated(Taken("x"), Path("x")), Conflict)


# --------------------------------------------------------------------------------------------------- sizes
@pytest.mark.parametrize(("rows", "width"), [(0, 3), (1, 3), (7, 3), (2_000, 18), (5_000, 40), (3, 30_000)])
def test_rows_are_written_in_few_statements(rows: int, width: int) -> None:
    found = list(sizes(rows, width))
    assert sum(found) == rows
    assert all(size * width <= 32_766 and size & (size - 1) == 0 for size in found)
    assert len(found) <= 20
