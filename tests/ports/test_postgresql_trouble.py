"""What a store on PostgreSQL says, and does, when something goes wrong."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count
from typing import Any

import pytest
from tests.ports.postgresql_bench import Schema, connection_to
from tests.ports.postgresql_server import Missing, PostgresServer, missing, with_query
from tests.ports.postgresql_wire import Fault, Wire
from tests.waiting import until

from stretto.model.errors import Conflict, Internal, StrettoError, Unavailable
from stretto.ports.failures import OutcomeUnknown, Poison
from stretto.ports.messages import Letter, Log
from stretto.ports.rows import NodeId
from stretto.ports.store import Store
from stretto.store.postgresql import database, open_postgresql
from stretto.store.sql import pool as pool_module
from stretto.store.sql.database import Transaction
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts

NUMBERS = count()
LOCK = Statement("SELECT 1 FROM counter WHERE name = :name FOR UPDATE")
PUT = Statement("INSERT INTO counter (name, next_value) VALUES (:name, :value)")
PID = Statement("SELECT pg_backend_pid()")
NODE = NodeId("node")
COMMIT = b"COMMIT\0"  # and not READ COMMITTED


def raising(code: str) -> Statement:
    return Statement(f"DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = '{code}'; END $$")


@pytest.fixture(scope="module")
def schema(own_postgresql: PostgresServer) -> Iterator[Schema]:
    made = Schema(own_postgresql.url())
    yield made
    made.drop()


@pytest.fixture(autouse=True)
def empty(schema: Schema) -> None:
    schema.empty()


def on_store(url: str, use: Callable[[Any], Awaitable[Any]]) -> Any:
    """Use a store in an event loop of its own."""

    async def run() -> Any:
        store = await open_postgresql(url)
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(run())


def letter() -> Letter:
    return Letter(ref=f"letter-{next(NUMBERS)}", to_group=1, body=Log(at=1))


async def stored(store: Store) -> int:
    return len((await store.fetch(NODE, [1])).messages)


async def gone(connection: Any) -> None:
    """Until it is known here that the server has ended a connection."""
    await until(connection.is_closed)


async def refusal(attempt: Awaitable[Any]) -> StrettoError:
    with pytest.raises(StrettoError) as caught:
        await attempt
    return caught.value


# ---------------------------------------------------------------------------------------- lost connections
def over_a_wire(
    server: PostgresServer, schema: Schema, use: Callable[[Wire, Any], Awaitable[None]], **query: str
) -> None:
    async def run() -> None:
        async with Wire(server) as wire:
            store = await open_postgresql(wire.url(search_path=schema.name, **query))
            try:
                await use(wire, store)
            finally:
                await store.close()

    asyncio.run(run())


def test_lost_before_the_commit_nothing_is_written(own_postgresql: PostgresServer, schema: Schema) -> None:
    async def use(wire: Wire, store: Store) -> None:
        wire.fail(b"INSERT INTO outbox", Fault.BEFORE)
        error = await refusal(store.send(letter()))
        assert type(error) is Unavailable
        assert "can not be used" in error.message
        assert await stored(store) == 0
        await store.send(letter())
        assert await stored(store) == 1

    over_a_wire(own_postgresql, schema, use)


@pytest.mark.parametrize(("fault", "there"), [(Fault.BEFORE, 0), (Fault.AFTER, 1)])
def test_lost_at_the_commit_nobody_knows(
    fault: Fault, there: int, own_postgresql: PostgresServer, schema: Schema
) -> None:
    async def use(wire: Wire, store: Store) -> None:
        wire.fail(COMMIT, fault)
        error = await refusal(store.send(letter()))
        assert type(error) is OutcomeUnknown
        assert "while it stored a transaction" in error.message
        assert await stored(store) == there
        await store.send(letter())
        assert await stored(store) == there + 1

    over_a_wire(own_postgresql, schema, use)


@pytest.mark.parametrize(("word", "kind"), [(b"BEGIN", Unavailable), (COMMIT, OutcomeUnknown)])
def test_a_server_that_falls_silent_is_given_up(
    word: bytes,
    kind: type[StrettoError],
    own_postgresql: PostgresServer,
    schema: Schema,
    at_most: Callable[[float], AbstractContextManager[None]],
) -> None:
    async def use(wire: Wire, store: Store) -> None:
        await store.send(letter())
        wire.fail(word, Fault.SILENCE)
        with at_most(20):
            error = await refusal(store.send(letter()))
        assert type(error) is kind
        assert "did not answer in time" in error.message
        await store.send(letter())

    over_a_wire(own_postgresql, schema, use, statement_within="1500", connect_within="2000")


def test_a_beat_waits_less_than_others(
    own_postgresql: PostgresServer, schema: Schema, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    async def use(wire: Wire, store: Store) -> None:
        await store.join(NODE)
        assert await store.beat(NODE) is not None
        wire.fail(b"__asyncpg_stmt_", Fault.SILENCE)  # a statement that is prepared has no text
        with at_most(20):  # others wait for more than thirty seconds
            assert type(await refusal(store.beat(NODE))) is Unavailable
        assert await store.beat(NODE) is not None

    over_a_wire(own_postgresql, schema, use, lock_within="1000")


def test_a_connection_that_was_lost_while_idle_is_not_used(schema: Schema) -> None:
    async def use(store: Any) -> None:
        await store.send(letter())
        async with connection_to(schema.url) as connection:
            pid = (await store._db.look(lambda tx: tx.one(PID)))[0]
            await connection.execute("SELECT pg_terminate_backend($1)", pid)
        ((idle, _since),) = store._db._pool._idle
        await gone(idle)
        await store.send(letter())

    on_store(schema.url, use)


def test_who_is_cancelled_holds_nothing(schema: Schema) -> None:
    async def use(store: Any) -> None:
        await store._db.write(lambda tx: tx.run(PUT, name="a", value=1))
        locked = asyncio.Event()

        async def work(tx: Transaction) -> None:
            await tx.one(LOCK, name="a")
            locked.set()
            await tx.run(Statement("SELECT pg_sleep(60)"))

        task = asyncio.create_task(store._db.write(work))
        await locked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store._db.write(lambda tx: tx.one(LOCK, name="a"))

    on_store(schema.url, use)


def test_who_is_cancelled_while_it_rolls_back_holds_nothing(
    own_postgresql: PostgresServer, schema: Schema
) -> None:
    async def use(wire: Wire, store: Any) -> None:
        async def work(_tx: Transaction) -> None:
            wire.fail(b"ROLLBACK", Fault.SILENCE)
            raise Conflict("no")

        task = asyncio.create_task(store._db.write(work))
        await wire.failed.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.send(letter())

    over_a_wire(own_postgresql, schema, use)


def test_who_is_cancelled_does_not_wait_for_a_silent_server(
    own_postgresql: PostgresServer, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "END_WITHIN", 0.1)

    async def use(wire: Wire, store: Any) -> None:
        wire.fail(b"SELECT pg_backend_pid", Fault.SILENCE)
        task = asyncio.create_task(store._db.write(lambda tx: tx.one(PID)))
        await wire.failed.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.send(letter())

    over_a_wire(own_postgresql, schema, use)


def test_a_roll_back_that_is_not_answered_does_no_harm(
    own_postgresql: PostgresServer, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "END_WITHIN", 0.1)

    async def use(wire: Wire, store: Any) -> None:
        async def work(_tx: Transaction) -> None:
            wire.fail(b"ROLLBACK", Fault.SILENCE)
            raise Conflict("no")

        assert (await refusal(store._db.write(work))).message == "no"
        await store.send(letter())

    over_a_wire(own_postgresql, schema, use)


def test_a_client_that_stands_still_lets_go(schema: Schema) -> None:
    async def use(store: Any) -> None:
        await store._db.write(lambda tx: tx.run(PUT, name="a", value=1))

        async def work(tx: Any) -> None:
            await tx.one(LOCK, name="a")
            await gone(tx._connection)

        assert type(await refusal(store._db.write(work))) is Unavailable
        assert await store._db.write(lambda tx: tx.one(LOCK, name="a"))

        async def late(tx: Any) -> None:
            await work(tx)
            await tx.one(LOCK, name="a")

        assert type(await refusal(store._db.write(late))) is Unavailable

    on_store(with_query(schema.url, idle_in_transaction="1000"), use)


# ----------------------------------------------------------------------------------- a server that goes away
@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresServer]:
    """A server that may be stopped."""
    try:
        server = PostgresServer()
    except Missing as error:
        missing(error)
    else:
        yield server
        server.close()


@pytest.mark.parametrize("end", [PostgresServer.stop, PostgresServer.crash], ids=["stopped", "crashed"])
def test_everything_goes_on_after_the_server_was_gone(
    end: Callable[[PostgresServer], None], mortal: PostgresServer
) -> None:
    """Letters are sent all the time, each until it is known to be stored: in the end each is there once."""
    schema = Schema(mortal.url())
    errors: list[StrettoError] = []

    async def send(store: Store, sent: list[str], over: asyncio.Event) -> None:
        while not over.is_set():
            new = letter()

            async def is_stored() -> bool:
                try:
                    await store.send(new)  # noqa: B023 - it is called here
                except Unavailable as error:
                    errors.append(error)
                    return False
                return True

            await until(is_stored)
            sent.append(new.ref)

    async def use(store: Store) -> None:
        over, everybodys = asyncio.Event(), [list[str]() for _ in range(4)]
        senders = [asyncio.create_task(send(store, sent, over)) for sent in everybodys]
        await until(lambda: all(everybodys))
        await asyncio.to_thread(end, mortal)
        await until(lambda: len(errors) >= 4)
        before = [len(sent) for sent in everybodys]
        await asyncio.to_thread(mortal.start)
        await until(lambda: all(len(sent) > count for sent, count in zip(everybodys, before, strict=True)))
        over.set()
        await asyncio.gather(*senders)
        sent = [ref for each in everybodys for ref in each]
        there = [message.ref for message in (await store.fetch(NODE, [1], most=100_000)).messages]
        assert sorted(there) == sorted(sent)

    on_store(schema.url, use)
    assert errors
    assert {type(error) for error in errors} <= {Unavailable, OutcomeUnknown}
    schema.drop()


# ------------------------------------------------------------------------------------------ repeated, refused
def test_a_deadlock_is_resolved(schema: Schema) -> None:
    async def use(store: Any) -> None:
        for name in "ab":
            await store._db.write(lambda tx, name=name: tx.run(PUT, name=name, value=1))
        both = asyncio.Barrier(2)
        tries: list[str] = []

        async def crossing(first: str, then: str) -> None:
            async def work(tx: Transaction) -> None:
                tries.append(first)
                await tx.one(LOCK, name=first)
                if len(tries) <= 2:
                    await both.wait()
                await tx.one(LOCK, name=then)

            await store._db.write(work)

        await asyncio.gather(crossing("a", "b"), crossing("b", "a"))
        assert len(tries) == 3

    on_store(schema.url, use)


def test_a_lock_is_waited_for_again(schema: Schema) -> None:
    async def use(store: Any) -> None:
        await store._db.write(lambda tx: tx.run(PUT, name="a", value=1))
        async with connection_to(schema.url) as connection:
            await connection.execute("BEGIN; SELECT 1 FROM counter FOR UPDATE")
            tries: list[str] = []

            async def work(tx: Transaction) -> Any:
                tries.append("again")
                return await tx.one(LOCK, name="a")

            waiting = asyncio.create_task(store._db.write(work))
            await until(lambda: len(tries) >= 2)
            assert not waiting.done()
            await connection.execute("ROLLBACK")
            assert await waiting

    on_store(with_query(schema.url, lock_within="100"), use)


def test_a_lock_is_not_waited_for_for_ever(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PAUSES", (0.01, 0.01))

    async def use(store: Any) -> None:
        await store._db.write(lambda tx: tx.run(PUT, name="a", value=1))
        async with connection_to(schema.url) as connection:
            await connection.execute("BEGIN; SELECT 1 FROM counter FOR UPDATE")
            error = await refusal(store._db.write(lambda tx: tx.one(LOCK, name="a")))
        assert type(error) is Unavailable
        assert error.hint is not None
        assert "pg_stat_activity" in error.hint

    on_store(with_query(schema.url, lock_within="50"), use)


@pytest.mark.parametrize("code", ["40001", "40P01", "55P03"])
def test_what_was_undone_for_no_fault_of_its_own_is_repeated(code: str, schema: Schema) -> None:
    async def use(store: Any) -> None:
        tries = count()

        async def work(tx: Transaction) -> int:
            if next(tries) < 2:
                await tx.run(raising(code))
            return next(tries)

        for way in (store._db.look, store._db.read, store._db.write):
            tries = count()
            assert await way(work) == 3

    on_store(schema.url, use)


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("22021", Poison, "refuses a value"),
        ("23514", Poison, "refuses a value"),
        ("54000", Poison, "refuses a value"),
        ("23505", Conflict, "there already"),
        ("53100", Unavailable, "make room on the disk"),
        ("53300", Unavailable, "max_connections"),
        ("25006", Unavailable, "name the primary"),
        ("42501", Unavailable, "give the user"),
        ("57P02", Unavailable, "crashed"),
        ("57P03", Unavailable, "starting or stopping"),
        ("08006", Unavailable, "goes on by itself"),
        ("XX000", Unavailable, "can not be used"),
    ],
)
def test_errors_mean_something(code: str, kind: type[StrettoError], said: str, schema: Schema) -> None:
    error = on_store(schema.url, lambda store: refusal(store._db.write(lambda tx: tx.run(raising(code)))))
    assert type(error) is kind
    assert said in f"{error.message} {error.hint}"
    assert "on purpose" in error.message


def test_an_administrator_ends_a_connection(schema: Schema) -> None:
    end = Statement("SELECT pg_terminate_backend(pg_backend_pid())")
    error = on_store(schema.url, lambda store: refusal(store._db.write(lambda tx: tx.run(end))))
    assert type(error) is Unavailable
    assert "terminating connection due to administrator command" in error.message


def test_a_statement_may_take_so_long(schema: Schema) -> None:
    sleep = Statement("SELECT pg_sleep(10)")
    url = with_query(schema.url, statement_within="1000")
    error = on_store(url, lambda store: refusal(store._db.look(lambda tx: tx.all(sleep))))
    assert type(error) is Unavailable
    assert error.hint is not None
    assert "statement_within" in error.hint


def test_a_server_that_was_made_read_only_is_said_to_be_so(schema: Schema) -> None:
    url = with_query(schema.url, default_transaction_read_only="on", target_session_attrs="any")
    error = on_store(url, lambda store: refusal(store.send(letter())))
    assert type(error) is Unavailable
    assert "read-only" in error.message


# ------------------------------------------------------------------------------------------------- at COMMIT
AT_COMMIT = """
CREATE OR REPLACE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN {what}; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON counter DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION at_commit()
"""


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("PERFORM pg_terminate_backend(pg_backend_pid())", OutcomeUnknown),
        ("RAISE EXCEPTION 'no' USING ERRCODE = '23514'", Poison),
        ("RAISE EXCEPTION 'no' USING ERRCODE = '40001'", Unavailable),
    ],
)
def test_the_server_says_no_at_the_commit(
    what: str, kind: type[StrettoError], schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PAUSES", (0.01,))

    async def use(store: Any) -> None:
        async with connection_to(schema.url) as connection:
            await connection.execute(AT_COMMIT.format(what=what))
            error = await refusal(store._db.write(lambda tx: tx.run(PUT, name="a", value=1)))
            assert type(error) is kind
            await connection.execute("DROP TRIGGER at_commit ON counter")
        await store._db.write(lambda tx: tx.run(PUT, name="a", value=1))

    on_store(schema.url, use)


def test_a_work_that_goes_on_after_an_error_is_not_taken_for_done(schema: Schema) -> None:
    async def work(tx: Transaction) -> None:
        with pytest.raises(Exception, match="on purpose"):
            await tx.run(raising("22021"))

    error = on_store(schema.url, lambda store: refusal(store._db.write(work)))
    assert type(error) is Internal
    assert "went on after an error" in error.message


def test_what_is_put_off_is_there_when_it_is_looked_for(schema: Schema) -> None:
    bulk = Bulk(way=Way.MISSING, table="signal_listener", key=2, fields=texts("name", "trigger_id"))
    names = Statement("SELECT name FROM signal_listener ORDER BY name")
    putting = [(name, "t") for name in "abc"]
    insert = Bulk(way=Way.INSERT, table="signal_listener", key=2, fields=texts("name", "trigger_id"))
    other = Bulk(way=Way.MISSING, table="workflow_tag", key=2, fields=texts("tag", "workflow_id"))

    async def use(store: Any) -> None:
        async def work(tx: Transaction) -> list[str]:
            await tx.bulk(bulk, putting)
            await tx.bulk(bulk, [("d", "t")])
            await tx.bulk(other, [("x", "y")])
            await tx.bulk(bulk, [])
            return [row[0] for row in await tx.all(names)]

        assert await store._db.write(work) == ["a", "b", "c", "d"]

        async def again(tx: Transaction) -> None:
            await tx.bulk(other, [("x", "z")])
            await tx.bulk(insert, [("d", "t")])

        error = await refusal(store._db.write(again))
        assert type(error) is Conflict
        assert await store._db.look(lambda tx: tx.all(Statement("SELECT 1 FROM workflow_tag"))) == [(1,)]

    on_store(schema.url, use)


def test_of_bulks_that_go_together_only_the_last_can_be_taken(schema: Schema) -> None:
    """Two signals of one instance: not a row that the last one inserts."""
    fields = (*texts("name"), *ints("seq"), *texts("digest", "doc"), *ints("create_time"))
    put = Bulk(way=Way.PUT, table="signal_instance", key=2, fields=fields, changes=frozenset({"doc"}))
    insert = Bulk(way=Way.INSERT, table="signal_listener", key=2, fields=texts("name", "trigger_id"))

    async def work(tx: Transaction) -> None:
        await tx.bulk(put, [("a", 1, "same", "", 1), ("a", 2, "same", "", 1)])
        with pytest.raises(Exception, match="signal_instance_id"):
            await tx.bulk(insert, [("d", "t")])
        raise Conflict("as expected")

    error = on_store(schema.url, lambda store: refusal(store._db.write(work)))
    assert error.message == "as expected"


# ------------------------------------------------------------------------------------------------ connections
def test_there_are_never_more_connections_than_allowed(schema: Schema) -> None:
    url = with_query(schema.url, connections="2", application_name="counted")
    pause = Statement("SELECT pg_backend_pid(), pg_sleep(0.02)")

    async def use(store: Any) -> None:
        found = await asyncio.gather(*(store._db.look(lambda tx: tx.one(pause)) for _ in range(20)))
        assert len({row[0] for row in found}) == 2

    on_store(url, use)


@pytest.mark.parametrize(("setting", "kept"), [("connection_idle", 1), ("connection_lifetime", 0)])
def test_old_connections_are_closed(
    setting: str, kept: int, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = count()  # fifty milliseconds lie between two
    monkeypatch.setattr(pool_module, "monotonic", lambda: next(moments) / 20)
    pause = Statement("SELECT pg_backend_pid(), pg_sleep(0.05)")

    async def use(store: Any) -> None:
        await asyncio.gather(*(store._db.look(lambda tx: tx.one(pause)) for _ in range(3)))
        await store._db.look(lambda tx: tx.one(pause))
        assert len(store._db._pool._idle) == kept

    on_store(with_query(schema.url, **{setting: "40"}), use)


def test_a_closed_store_says_so(schema: Schema) -> None:
    async def use(store: Any) -> None:
        begun = asyncio.Event()

        async def look(tx: Transaction) -> None:
            begun.set()
            await tx.run(Statement("SELECT pg_sleep(0.1)"))

        going = asyncio.create_task(store._db.look(look))
        await begun.wait()
        await store.close()
        await store.close()
        await going
        error = await refusal(store.send(letter()))
        assert "is closed" in error.message

    on_store(schema.url, use)


@pytest.mark.parametrize(
    ("server", "wanted", "found"),
    [
        ("on", "durable", "on"),
        ("off", "durable", "on"),
        ("remote_apply", "durable", "remote_apply"),
        ("on", "relaxed", "off"),
    ],
)
def test_commits_are_as_durable_as_was_asked_for(
    server: str, wanted: str, found: str, schema: Schema
) -> None:
    show = Statement("SELECT current_setting('synchronous_commit'), current_setting('lock_timeout')")
    url = with_query(schema.url, synchronous_commit=server, synchronous=wanted, lock_within="1234")
    row = on_store(url, lambda store: store._db.look(lambda tx: tx.one(show)))
    assert tuple(row) == (found, "1234ms")


# ----------------------------------------------------------------------------------------------------- values
@pytest.mark.parametrize(
    "row",
    [("a\0b", "t"), ("\ud800", "t"), ("x" * 300, "t"), (7, "t")],
    ids=["NUL", "surrogate", "long", "a number"],
)
def test_values_that_can_not_be_stored_are_named(row: tuple[Any, ...], schema: Schema) -> None:
    bulk = Bulk(way=Way.MISSING, table="signal_listener", key=2, fields=texts("name", "trigger_id"))
    error = on_store(schema.url, lambda store: refusal(store._db.write(lambda tx: tx.bulk(bulk, [row]))))
    assert type(error) is Poison


@pytest.mark.parametrize("number", [2**63, 2**70, -(2**63) - 1])
def test_a_number_that_is_too_large_is_refused(number: int, schema: Schema) -> None:
    bulk = Bulk(way=Way.MISSING, table="counter", key=1, fields=(*texts("name"), *ints("next_value")))

    async def use(store: Any) -> None:
        write = store._db.write
        for work in (
            lambda tx: tx.run(PUT, name="a", value=number),
            lambda tx: tx.bulk(bulk, [("a", number)]),
        ):
            assert type(await refusal(write(work))) is Poison

    on_store(schema.url, use)
