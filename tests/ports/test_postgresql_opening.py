"""Opening a PostgreSQL database, and what an operator does with it."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import PostgresServer, with_query

from stretto.model.errors import InvalidRequest, PreconditionFailed, StrettoError, Unavailable
from stretto.store.opening import open_store
from stretto.store.postgresql.address import address_of
from stretto.store.postgresql.connecting import check_version
from stretto.store.postgresql.errors import refused
from stretto.store.postgresql.upkeep import check, upgrade, vacuum
from stretto.store.settings import DatabaseSettings, Synchronous
from stretto.store.sql.version import HEAD, Standing


def run(url: str, script: str) -> None:
    async def running() -> None:
        async with connection_to(url) as connection:
            await connection.execute(script)

    asyncio.run(running())


@pytest.fixture
def url(own_postgresql: PostgresServer) -> Iterator[str]:
    """A database that is empty."""
    root = own_postgresql.url()
    run(root, "CREATE DATABASE fresh")
    yield own_postgresql.url("fresh")
    run(root, "DROP DATABASE fresh WITH (FORCE)")


def open_and_close(url: str) -> None:
    async def opening() -> None:
        await (await open_store(url)).close()

    asyncio.run(opening())


def refusal(url: str) -> StrettoError:
    with pytest.raises(StrettoError) as caught:
        open_and_close(url)
    return caught.value


# ------------------------------------------------------------------------------------------------- addresses
def test_an_address_says_where_and_how() -> None:
    url = "postgresql+asyncpg://me:s%2Fcret@db:5433/prod?connections=3&synchronous=relaxed&sslmode=require"
    address = address_of(url, DatabaseSettings(connections=9, lock_within=7))
    assert address.dsn == ("postgresql://me:s%2Fcret@db:5433/prod?sslmode=require&application_name=stretto")
    assert address.place == "postgresql://db:5433/prod"
    settings = address.settings
    assert (settings.connections, settings.lock_within) == (3, 7)
    assert settings.synchronous is Synchronous.RELAXED


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://me@/prod?host=/run/pg&application_name=x", "postgresql:///run/pg/prod"),
        ("postgresql://a,b:5433/?dbname=prod", "postgresql://a,b:5433/prod"),
        ("postgresql:///?service=prod", "postgresql:///prod"),
    ],
)
def test_a_place_is_shown_without_secrets(url: str, place: str) -> None:
    assert address_of(url).place == place


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://db", "names no database"),
        ("postgresql://db/", "names no database"),
        ("postgresql://[::1/prod", "can not be read"),
        ("postgresql://db/prod?connections", "can not be read"),
        ("postgresql://db/prod?connections=none", "connections is 'none'"),
        ("postgresql://db:port/prod", "can not be used"),
        ("postgresql://db/prod?sslmode=maybe", "can not be used"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(url: str, said: str) -> None:
    error = refusal(url)
    assert type(error) is InvalidRequest
    assert said in error.message


# ------------------------------------------------------------------------------------------------ connecting
def test_a_server_that_is_not_there(own_postgresql: PostgresServer) -> None:
    for url in (
        "postgresql://me@127.0.0.1:1/prod",
        "postgresql://me@no.such.host.invalid/prod?connect_within=2000",
        f"postgresql://me@/prod?host={own_postgresql.folder}/nowhere",
    ):
        error = refusal(url)
        assert type(error) is Unavailable
        assert "can not be opened" in error.message
        assert error.hint is not None
        assert "look whether the server runs" in error.hint
        assert "by itself" not in error.hint  # whoever opens it gives up


@pytest.mark.parametrize(
    ("name", "user", "query", "kind", "said"),
    [
        ("nowhere", "postgres", {}, PreconditionFailed, "createdb"),
        ("postgres", "stranger", {}, PreconditionFailed, "pg_hba.conf"),
        ("postgres", "guarded", {"password": "wrong"}, PreconditionFailed, "the password"),
        ("postgres", "limited", {}, Unavailable, "max_connections"),
        ("postgres", "reader", {}, Unavailable, "name the primary"),
        ("postgres", "postgres", {"conections": "3"}, PreconditionFailed, "behind the `?`"),
        ("postgres", "postgres", {"lock_within": "9" * 12}, PreconditionFailed, "lock_timeout"),
        ("postgres", "postgres", {"search_path": "nowhere"}, PreconditionFailed, "stretto db upgrade"),
    ],
)
def test_a_server_that_says_no(
    name: str, user: str, query: dict[str, str], kind: type, said: str, own_postgresql: PostgresServer
) -> None:
    script = (
        "CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE limited LOGIN CONNECTION LIMIT 0; "
        "CREATE ROLE reader LOGIN; ALTER ROLE reader SET default_transaction_read_only = on"
    )
    run(own_postgresql.url(), script)
    try:
        error = refusal(own_postgresql.url(name, user, **query))
    finally:
        run(own_postgresql.url(), "DROP ROLE guarded, limited, reader")
    assert type(error) is kind
    assert said in f"{error.message} {error.hint}"
    assert "wrong" not in error.message


def test_an_old_server_is_refused() -> None:
    check_version((14, 0), "here")
    with pytest.raises(PreconditionFailed, match=r"PostgreSQL 13\.4: 14 or newer is needed"):
        check_version((13, 4), "here")


def test_an_error_without_words_is_named_by_its_kind() -> None:
    assert (
        refused(ConnectionError(), "here").message == "the database here can not be opened: ConnectionError"
    )


# ---------------------------------------------------------------------------------------------------- tables
def test_the_tables_are_made_by_the_operator(url: str) -> None:
    error = refusal(url)
    assert type(error) is PreconditionFailed
    assert error.hint == "bring it up to date: stretto db upgrade"
    assert check(url) == (Standing.EMPTY, None)
    upgrade(url)
    upgrade(url)
    assert check(url) == (Standing.CURRENT, HEAD)
    vacuum(url)
    open_and_close(url)


def test_of_two_upgrades_at_once_one_does_the_work(url: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(upgrade, [url] * 3))
    open_and_close(url)


NEWER = "UPDATE stretto_version SET version_num = '9999'"


def test_newer_tables_that_still_serve_this_code_are_used(url: str) -> None:
    upgrade(url)
    run(url, NEWER)
    open_and_close(url)
    upgrade(url)
    vacuum(url)
    assert check(url) == (Standing.NEWER, "9999")


@pytest.mark.parametrize(
    ("script", "standing", "said"),
    [
        (
            f"INSERT INTO counter VALUES ('oldest_schema', 9999); {NEWER}",  # noqa: S608 - our own
            Standing.TOO_NEW,
            "install the version",
        ),
        ("UPDATE stretto_version SET version_num = '0000'", Standing.TOO_OLD, "stretto db upgrade"),
        ("DROP TABLE stretto_version", Standing.FOREIGN, "a database of its own"),
    ],
)
def test_tables_that_are_not_ours_are_left_alone(
    script: str, standing: Standing, said: str, url: str
) -> None:
    upgrade(url)
    run(url, script)
    error = refusal(url)
    assert type(error) is PreconditionFailed
    assert said in (error.hint or "")
    assert check(url)[0] is standing
    with pytest.raises(PreconditionFailed):
        vacuum(url)
    if standing is not Standing.TOO_OLD:
        with pytest.raises(PreconditionFailed):
            upgrade(url)


ENTER = "GRANT USAGE ON SCHEMA ours TO clerk"
READ = f"{ENTER}; GRANT SELECT ON ALL TABLES IN SCHEMA ours TO clerk"
WRITE = f"{READ}; GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ours TO clerk"
EVERYTHING = f"{WRITE}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA ours TO clerk"


@pytest.mark.parametrize(
    ("grants", "said"),
    [
        ("SELECT 1", "stretto db upgrade"),
        (ENTER, "give the user"),
        (READ, "give the user"),
        (WRITE, "give the user"),
    ],
    ids=["nothing", "enter", "read", "write"],
)
def test_a_user_without_rights_is_told_so(
    grants: str, said: str, url: str, own_postgresql: PostgresServer
) -> None:
    run(url, "CREATE SCHEMA ours; CREATE ROLE clerk LOGIN")
    upgrade(with_query(url, search_path="ours"))
    clerk = own_postgresql.url("fresh", "clerk", search_path="ours")
    try:
        run(url, grants)
        error = refusal(clerk)
        assert type(error) is PreconditionFailed
        assert said in (error.hint or "")
        with pytest.raises(PreconditionFailed):
            upgrade(own_postgresql.url("fresh", "clerk", search_path="public"))
        run(url, EVERYTHING)
        open_and_close(clerk)
    finally:
        run(url, "DROP OWNED BY clerk; DROP ROLE clerk")


def test_upkeep_says_what_is_wrong(own_postgresql: PostgresServer) -> None:
    for job in (upgrade, check, vacuum):
        with pytest.raises(PreconditionFailed, match="nowhere"):
            job(own_postgresql.url("nowhere"))
        with pytest.raises(Unavailable):
            job("postgresql://me@127.0.0.1:1/prod")
        with pytest.raises(InvalidRequest):
            job("postgresql://db/prod?sslmode=maybe")
