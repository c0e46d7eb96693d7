"""What becomes of a transaction on MariaDB when something gets in its way."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

import pytest
from tests.ports.mariadb_bench import Database, query, run
from tests.ports.mariadb_proxy import Proxy
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_server import Missing, missing, with_query
from tests.waiting import PATIENCE, at_least, until

from stretto.model.errors import Conflict, PreconditionFailed, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.ports.messages import Letter, Log
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.store import Store
from stretto.store.mariadb import database as database_module
from stretto.store.mariadb import open_mariadb
from stretto.store.mariadb import pool as pool_module
from stretto.store.mariadb.address import address_of
from stretto.store.mariadb.connecting import Connection, connected
from stretto.store.mariadb.database import MariadbDatabase
from stretto.store.mariadb.pool import Pool
from stretto.store.sql.database import Transaction
from stretto.store.sql.rows.messages import OUTBOX, letter_row
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts
from stretto.testing.store_suite.world import World, attempt_record, line

T = TypeVar("T")

PUT = Bulk(
    way=Way.PUT,
    table="counter",
    key=1,
    fields=(*texts("name"), *ints("next_value")),
    changes=frozenset({"next_value"}),
)
INSERT = Bulk(way=Way.INSERT, table="counter", key=1, fields=PUT.fields)
LOCK = Statement(lambda d: f"SELECT next_value FROM counter WHERE name = :name {d.exclusive}")  # noqa: S608
LOOK = Statement("SELECT next_value FROM counter WHERE name = :name")
WHO = Statement("SELECT CONNECTION_ID()")
SLEEP = Statement("SELECT SLEEP(:seconds)")


@pytest.fixture(scope="module")
def shared(mariadb_url: str) -> Iterator[Database]:
    made = Database(mariadb_url)
    yield made
    made.drop()


@pytest.fixture
def database(shared: Database) -> Database:
    shared.empty()
    return shared


def on(url: str, body: Callable[[MariadbDatabase], Awaitable[T]], **query_: str) -> T:
    """Do something with a database, in an event loop of its own."""

    async def doing() -> T:
        address = address_of(with_query(url, **query_) if query_ else url)
        connection = await connected(address)
        await connection.close()
        database = MariadbDatabase(address, connection.server)
        try:
            return await body(database)
        finally:
            await database.close()

    return asyncio.run(doing())


async def put(database: MariadbDatabase, name: str, value: int) -> None:
    async def work(tx: Transaction) -> None:
        await tx.bulk(PUT, [(name, value)])

    await database.write(work)


async def value_of(database: MariadbDatabase, name: str) -> int | None:
    async def work(tx: Transaction) -> int | None:
        row = await tx.one(LOOK, name=name)
        return None if row is None else row[0]

    return await database.look(work)


# ----------------------------------------------------------------------------------------- other transactions
def test_a_deadlock_is_repeated(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)
        await put(db, "b", 1)
        calls = 0
        both = asyncio.Barrier(2)

        def crossing(first: str, second: str) -> Callable[[Transaction], Awaitable[None]]:
            async def work(tx: Transaction) -> None:
                nonlocal calls
                calls += 1
                await tx.one(LOCK, name=first)
                if calls <= 2:
                    await both.wait()
                await tx.one(LOCK, name=second)
                await tx.bulk(PUT, [(first, 2)])

            return work

        await asyncio.gather(db.write(crossing("a", "b")), db.write(crossing("b", "a")))
        assert calls == 3
        assert (await value_of(db, "a"), await value_of(db, "b")) == (2, 2)

    on(database.url, body)


async def holding(url: str, name: str) -> Connection:
    """Somebody who has locked a row, and does nothing."""
    connection = await connected(address_of(url))
    await connection.say(f"START TRANSACTION; SELECT 1 FROM counter WHERE name = '{name}' FOR UPDATE")  # noqa: S608
    return connection


def test_who_waits_for_a_lock_tries_again(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)
        holder = await holding(database.url, "a")
        tries: list[str] = []

        async def work(tx: Transaction) -> None:
            tries.append("again")
            await tx.bulk(PUT, [("a", 2)])

        waiting = asyncio.create_task(db.write(work))
        await until(lambda: len(tries) >= 2)  # longer than a lock is waited for
        assert not waiting.done()
        await holder.close()
        await waiting
        assert await value_of(db, "a") == 2

    on(database.url, body, lock_within="1000")


def test_who_waits_too_long_is_told(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "PAUSES", (0.01,))

    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)
        holder = await holding(database.url, "a")
        with pytest.raises(Unavailable, match="Lock wait timeout") as refusal:
            await put(db, "a", 2)
        assert "innodb_trx" in (refusal.value.hint or "")
        await holder.close()
        await put(db, "a", 3)

    on(database.url, body, lock_within="1000")


def test_a_client_that_froze_lets_go(
    database: Database, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)
        with at_least(0.5), at_most(5):
            holder = await holding(with_query(database.url, idle_in_transaction="1000"), "a")
            await put(db, "a", 2)
        with pytest.raises(Exception, match=r"Lost connection|gone away|killed"):
            await holder.say("COMMIT")

    on(database.url, body)


def test_a_read_sees_one_moment_and_a_write_the_newest(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)

        async def twice(tx: Transaction) -> list[Any]:
            first = await tx.one(LOOK, name="a")
            await put(db, "a", (await value_of(db, "a") or 0) + 1)
            return [first, await tx.one(LOOK, name="a")]

        assert await db.read(twice) == [(1,), (1,)]
        assert await db.write(twice) == [(2,), (3,)]

    on(database.url, body)


def test_a_row_that_is_there_is_a_conflict(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        async def work(tx: Transaction) -> None:
            await tx.bulk(INSERT, [("b", 1)])

        await db.write(work)
        with pytest.raises(Conflict, match="is there already"):
            await db.write(work)

    on(database.url, body)


def test_what_a_work_raises_is_raised_and_undoes_it(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        async def work(tx: Transaction) -> None:
            await tx.bulk(PUT, [("a", 1)])
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            await db.write(work)
        assert await value_of(db, "a") is None

    on(database.url, body, connections="1")


def test_who_is_cancelled_lets_go(
    database: Database, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def body(db: MariadbDatabase) -> None:
        await put(db, "a", 1)
        locked = asyncio.Event()

        async def work(tx: Transaction) -> None:
            await tx.one(LOCK, name="a")
            locked.set()
            await tx.one(SLEEP, seconds=1_000)

        task = asyncio.create_task(db.write(work))
        await locked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with at_most(15):
            await put(db, "a", 2)

    on(database.url, body, connections="1")


# ------------------------------------------------------------------------------------------- lost connections
def test_a_connection_that_was_killed_is_replaced(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        killed: list[int] = []

        async def work(tx: Transaction) -> None:
            ((number,),) = await tx.all(WHO)
            await tx.bulk(PUT, [("a", 1)])
            if not killed:
                killed.append(number)
                await asyncio.to_thread(run, database.url, f"KILL {number}")
            await tx.bulk(PUT, [("b", 1)])

        await db.write(work)
        assert killed
        assert (await value_of(db, "a"), await value_of(db, "b")) == (1, 1)

    on(database.url, body)


async def noticed(tx: Any) -> None:
    """Until it is known here that the connection is gone."""
    await until(tx._connection._transport.is_closing)


def test_a_commit_that_was_not_sent_is_repeated(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        calls: list[int] = []

        async def work(tx: Transaction) -> None:
            ((number,),) = await tx.all(WHO)
            await tx.bulk(PUT, [("a", len(calls))])
            calls.append(number)
            if len(calls) == 1:
                await asyncio.to_thread(run, database.url, f"KILL {number}")
                await noticed(tx)

        await db.write(work)
        assert await value_of(db, "a") == 1

    on(database.url, body)


def test_what_a_work_raises_on_a_lost_connection_is_raised(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        async def work(tx: Transaction) -> None:
            ((number,),) = await tx.all(WHO)
            await asyncio.to_thread(run, database.url, f"KILL {number}")
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            await db.write(work)
        await put(db, "a", 1)

    on(database.url, body, connections="1")


@pytest.mark.parametrize("swallow", [False, True])
def test_nobody_knows_what_became_of_a_commit(swallow: bool, database: Database) -> None:
    """It was stored, and the answer was lost; or it never arrived. From here, that looks the same."""

    async def trying() -> None:
        async with Proxy(database.url) as proxy:
            store = await open_mariadb(proxy.url)
            proxy.word, proxy.swallow = b"\x03COMMIT", swallow
            with pytest.raises(OutcomeUnknown):
                await store.join(NodeId("n"))
            assert proxy.cuts == 1
            nodes = [row.node for row in await store.nodes()]
            assert nodes == ([] if swallow else ["n"])
            await store.close()

    asyncio.run(trying())


def test_a_wire_that_is_cut_before_the_commit_does_no_harm(database: Database) -> None:
    async def trying() -> None:
        async with Proxy(database.url) as proxy:
            store = await open_mariadb(proxy.url)
            await store.join(NodeId("first"))
            proxy.word = b"second"
            await store.join(NodeId("second"))
            assert proxy.cuts == 1
            assert [row.node for row in await store.nodes()] == ["first", "second"]
            await store.close()

    asyncio.run(trying())


# ------------------------------------------------------------------------------------------------- the server
@pytest.fixture(scope="module")
def moody() -> Iterator[MariadbServer]:
    """A server that is stopped, frozen and set to odd values."""
    try:
        server = MariadbServer("--log-bin=binlog", "--max-allowed-packet=1M")
    except Missing as error:
        missing(error)
    else:
        yield server
        server.close()


@pytest.fixture(scope="module")
def moody_database(moody: MariadbServer) -> Database:
    return Database(moody.url("mysql"))


async def soon(attempt: Callable[[], Awaitable[T]]) -> T:
    """Until it works."""

    async def works() -> list[T] | None:
        try:
            return [await attempt()]
        except Unavailable:
            return None

    (found,) = await until(works, "the database")
    return found


def test_the_server_is_stopped_and_started(moody: MariadbServer, moody_database: Database) -> None:
    moody_database.empty()

    async def trying() -> None:
        store = await open_mariadb(moody_database.url)
        await asyncio.gather(*(store.join(NodeId(f"n{number}")) for number in range(8)))
        await asyncio.to_thread(moody.stop)
        for attempt in (store.nodes, lambda: store.join(NodeId("late")), lambda: store.beat(NodeId("n1"))):
            with pytest.raises(Unavailable, match="can not be used") as refusal:
                await attempt()
            assert "everything goes on by itself" in (refusal.value.hint or "")
        await asyncio.to_thread(moody.start)
        assert len(await soon(store.nodes)) == 8
        assert await store.beat(NodeId("n1")) is not None
        await store.join(NodeId("late"))
        await store.close()

    asyncio.run(trying())


def test_the_server_is_stopped_in_the_middle_of_writing(
    moody: MariadbServer, moody_database: Database
) -> None:
    moody_database.empty()

    async def writing(store: Store, number: int, stored: set[str]) -> None:
        for place in range(1_000_000):
            name = f"n{number}-{place}"
            try:
                await store.join(NodeId(name))
            except Unavailable:  # or OutcomeUnknown: it may be there
                return
            stored.add(name)

    async def trying() -> None:
        stored: set[str] = set()
        store = await open_mariadb(moody_database.url)
        writers = [asyncio.create_task(writing(store, number, stored)) for number in range(4)]
        await until(lambda: len(stored) >= 20)
        await asyncio.to_thread(moody.stop)
        await asyncio.gather(*writers)
        await asyncio.to_thread(moody.start)
        there = {row.node for row in await soon(store.nodes)}
        assert stored
        assert stored <= there
        assert len(there - stored) <= 4
        await store.close()

    asyncio.run(trying())


def test_a_server_that_froze_costs_a_beat_little_time(
    moody: MariadbServer, moody_database: Database, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    moody_database.empty()

    async def trying() -> None:
        store = await open_mariadb(with_query(moody_database.url, lock_within="1000"))
        await store.join(NodeId("n"))
        await store.beat(NodeId("n"))
        with moody.frozen(), at_most(20), pytest.raises(Unavailable, match="did not answer in time"):
            await store.beat(NodeId("n"))  # others wait for more than thirty seconds
        assert await soon(lambda: store.beat(NodeId("n"))) is not None
        await store.close()

    asyncio.run(trying())


def test_who_is_cancelled_while_it_rolls_back_lets_go(moody: MariadbServer, moody_database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        with ExitStack() as frozen:
            stopped = asyncio.Event()

            async def work(tx: Transaction) -> None:
                await tx.bulk(PUT, [("a", 1)])
                frozen.enter_context(moody.frozen())
                stopped.set()
                raise LookupError("mine")

            task = asyncio.create_task(db.write(work))
            await stopped.wait()  # by then it waits for the answer to its rollback
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await put(db, "a", 2)

    on(moody_database.url, body, connections="1")


def test_a_read_only_server_is_named(moody: MariadbServer, moody_database: Database) -> None:
    moody.run(f"CREATE USER plain IDENTIFIED BY 'p'; GRANT ALL ON {moody_database.name}.* TO plain")

    async def trying() -> None:
        store = await open_mariadb(moody.url(moody_database.name, "plain", "p"))
        moody.run("SET GLOBAL read_only = ON")
        try:
            with pytest.raises(Unavailable, match="read-only") as refusal:
                await store.join(NodeId("x"))
            assert "name the primary" in (refusal.value.hint or "")
        finally:
            moody.run("SET GLOBAL read_only = OFF")
        await store.join(NodeId("x"))
        await store.close()

    asyncio.run(trying())


def test_a_server_that_forgets_is_refused(moody: MariadbServer, moody_database: Database) -> None:
    url = moody_database.url.replace("synchronous=relaxed", "synchronous=durable")

    def refusal(setting: str) -> StrettoError | None:
        moody.run(f"SET GLOBAL {setting}")

        async def opening() -> None:
            await (await open_mariadb(url)).close()

        try:
            asyncio.run(opening())
        except PreconditionFailed as error:
            return error
        return None

    try:
        _check_refusals(refusal)
    finally:
        for setting in ("innodb_flush_log_at_trx_commit = 0", "sync_binlog = 0", "binlog_format = MIXED"):
            moody.run(f"SET GLOBAL {setting}")


def _check_refusals(refusal: Callable[[str], StrettoError | None]) -> None:
    error = refusal("innodb_flush_log_at_trx_commit = 2")
    assert error is not None
    assert "innodb_flush_log_at_trx_commit is 2" in str(error)
    assert "synchronous=relaxed" in (error.hint or "")
    error = refusal("innodb_flush_log_at_trx_commit = 1")
    assert error is not None
    assert "sync_binlog is 0" in str(error)
    assert refusal("sync_binlog = 1") is None
    error = refusal("binlog_format = STATEMENT")
    assert error is not None
    assert "ROW or MIXED" in (error.hint or "")
    assert refusal("binlog_format = MIXED") is None


# ----------------------------------------------------------------------------------------------------- values
def test_what_can_not_be_stored_is_poison(database: Database) -> None:
    async def body(db: MariadbDatabase) -> None:
        for row in (("x" * 300, 1), ("a", 2**63), ("a", 2**64), ("\ud800", 1), ("a", None)):

            async def work(tx: Transaction, row: Any = row) -> None:
                await tx.bulk(PUT, [row])

            with pytest.raises(Poison, match="refuses a value"):
                await db.write(work)
        await put(db, "a", 2**63 - 1)
        assert await value_of(db, "a") == 2**63 - 1

    on(database.url, body)


def test_packets_are_not_larger_than_the_server_likes(moody_database: Database) -> None:
    """One MB here. What is too large together goes in parts; what is too large alone is refused."""
    moody_database.empty()

    async def trying() -> None:
        store = await open_mariadb(moody_database.url)
        world = World(store, lambda: open_mariadb(moody_database.url), _stand_still)
        await world.publish()
        owner = await world.owner()
        run_ = await world.live(owner)
        texts_ = [f"{number}" + "é" * 100_000 for number in range(8)]
        records = [attempt_record(run_, text[0], timeline=(line(text),)) for text in texts_]
        await owner.decide(run_, records=tuple(records))
        rows = await store.attempts(NewestAttempts((run_,)))
        assert all(row.record == record for row, record in zip(rows, records, strict=True))
        huge = attempt_record(run_, "huge", timeline=(line("x" * 1_200_000),))
        with pytest.raises(Poison, match="bytes can not be stored at once") as refusal:
            await owner.decide(run_, records=(huge,))
        assert "max_allowed_packet" in (refusal.value.hint or "")
        with pytest.raises(Poison, match="bytes can not be stored at once"):
            await store.workflow_rows(["x" * 1_200_000])
        assert len(await store.attempts(NewestAttempts((run_,)))) == 8
        await store.close()

    asyncio.run(trying())


async def _stand_still(_milliseconds: int) -> None:
    """Time passes by itself."""


def test_ids_may_come_in_steps(moody: MariadbServer, moody_database: Database) -> None:
    """A cluster of servers gives each its own numbers."""
    moody.run("SET GLOBAL auto_increment_increment = 3")

    async def body(db: MariadbDatabase) -> list[int]:
        letters = [Letter(ref=f"r{number}", to_group=1, body=Log(at=1)) for number in range(5)]

        async def work(tx: Transaction) -> list[int]:
            return await tx.post([letter_row(letter, 1) for letter in letters])

        return await db.write(work)

    try:
        ids = on(moody_database.url, body)
    finally:
        moody.run("SET GLOBAL auto_increment_increment = 1")
    rows = query(moody_database.url, "SELECT id, ref FROM outbox ORDER BY id")
    assert [row[0] for row in rows] == ids
    assert [row[1] for row in rows] == [f"r{number}" for number in range(5)]
    assert len(OUTBOX) == len(letter_row(Letter(ref="r", to_group=1, body=Log(at=1)), 1))


def test_statements_that_can_not_be_prepared_are_said_as_they_are(
    moody: MariadbServer, moody_database: Database
) -> None:
    moody.run("SET GLOBAL max_prepared_stmt_count = 0")

    async def body(db: MariadbDatabase) -> int | None:
        await put(db, 'it\'s 100 % \\ "plain"', 7)
        return await value_of(db, 'it\'s 100 % \\ "plain"')

    try:
        assert on(moody_database.url, body) == 7
    finally:
        moody.run("SET GLOBAL max_prepared_stmt_count = 16382")


# ------------------------------------------------------------------------------------------------------- pool
def test_connections_are_few_and_grow_old(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pool_module, "monotonic", lambda: now)

    async def trying() -> None:
        nonlocal now
        address = address_of(database.url)
        made: list[Connection] = []

        async def connect() -> Connection:
            made.append(await connected(address))
            return made[-1]

        pool = Pool(connect, 2, idle=0.2, lifetime=0.5)
        first, second = await pool.take(), await pool.take()
        third = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        assert not third.done()
        pool.put(first)
        assert await third is first  # nobody makes a third
        pool.put(second)
        now += 0.3
        pool.put(first)  # the second was idle for too long
        assert (first.is_closed(), second.is_closed()) == (False, True)
        now += 0.3
        assert await pool.take() is first
        pool.put(first)  # it is too old
        assert first.is_closed()
        fourth, fifth = await pool.take(), await pool.take()
        pool.put(fourth)
        fifth.lost = True
        fifth.terminate()
        pool.put(fifth)  # it was lost, and so, perhaps, are the others
        assert fourth.is_closed()
        sixth, seventh = await pool.take(), await pool.take()
        pool.put(sixth)
        await pool.close()
        assert sixth.is_closed()
        pool.put(seventh)
        assert seventh.is_closed()
        assert len(made) == 6

    asyncio.run(trying())


def test_a_place_is_not_lost_with_a_connection_that_was_not_made() -> None:
    async def trying() -> None:
        async def connect() -> Connection:
            raise ConnectionError

        pool = Pool(connect, 1, idle=1, lifetime=1)
        for _ in range(3):
            with pytest.raises(ConnectionError):
                await asyncio.wait_for(pool.take(), PATIENCE)

    asyncio.run(trying())


def test_a_server_that_froze_is_left_without_a_goodbye(
    moody: MariadbServer, moody_database: Database, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def trying() -> None:
        connection = await connected(address_of(moody_database.url))
        with moody.frozen():
            connection.driver._transport.write(bytes(50_000_000))  # more than is under way at any time
            with at_most(20):
                await connection.close()
            assert connection.is_closed()

    asyncio.run(trying())
