"""Opening, upgrading and looking after a MariaDB database; each mistake is named, with the way out."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest
from tests.ports.mariadb_bench import Database, query, run
from tests.ports.mariadb_proxy import Proxy
from tests.ports.mariadb_server import MariadbServer, at_database
from tests.ports.postgresql_server import with_query

from stretto.model.errors import PreconditionFailed, StrettoError, Unavailable
from stretto.ports.rows import NodeId
from stretto.store.mariadb import open_mariadb
from stretto.store.mariadb.upkeep import check, upgrade, vacuum
from stretto.store.opening import open_store
from stretto.store.sql.version import HEAD, Standing

ROOT = "root"  # who may do everything there


@pytest.fixture
def database(mariadb_url: str) -> Iterator[Database]:
    made = Database(mariadb_url, empty=True)
    yield made
    made.drop()


def refusal(url: str) -> StrettoError:
    """Why a store can not be opened."""

    async def opening() -> None:
        await (await open_mariadb(url)).close()

    with pytest.raises(StrettoError) as caught:
        asyncio.run(opening())
    return caught.value


# ------------------------------------------------------------------------------------------------ the schema
def test_a_database_is_made_and_used(database: Database) -> None:
    assert check(database.url) == (Standing.EMPTY, None)
    with ThreadPoolExecutor() as pool:  # of two upgrades, the second waits
        for done in [pool.submit(upgrade, database.url) for _ in range(2)]:
            done.result()
    assert check(database.url) == (Standing.CURRENT, HEAD)
    assert query(database.url, "SELECT COUNT(*) FROM flow_group") == ((128,),)
    run(database.url, "CREATE VIEW mine AS SELECT node_id FROM node")
    vacuum(database.url)

    async def using() -> None:
        store = await open_store(database.url)
        assert len(await store.groups()) == 128
        await store.close()
        await store.close()
        with pytest.raises(Unavailable, match="is closed"):
            await store.groups()

    asyncio.run(using())
    run(database.url, "ALTER TABLE sink DISCARD TABLESPACE")
    with pytest.raises(PreconditionFailed, match=r"the table sink of .* can not be made smaller"):
        vacuum(database.url)


def test_a_first_upgrade_that_was_cut_short_is_begun_again(database: Database) -> None:
    run(database.url, "CREATE TABLE stretto_version (version_num VARCHAR(32)); CREATE TABLE node (id INT)")
    assert check(database.url) == (Standing.EMPTY, None)
    assert "stretto db upgrade" in (refusal(database.url).hint or "")
    upgrade(database.url)
    assert check(database.url) == (Standing.CURRENT, HEAD)
    assert query(database.url, "SELECT COUNT(*) FROM flow_group") == ((128,),)
    assert query(database.url, "SELECT COUNT(joined_at) FROM node") == ((0,),)


def test_a_database_without_tables_is_refused(database: Database) -> None:
    error = refusal(database.url)
    assert "has schema none" in str(error)
    assert HEAD in str(error)
    assert "stretto db upgrade" in (error.hint or "")


def test_older_and_newer_ones_are_refused(database: Database) -> None:
    run(database.url, "CREATE TABLE stretto_version (version_num VARCHAR(32))")
    run(database.url, "INSERT INTO stretto_version VALUES ('0000')")
    assert check(database.url) == (Standing.TOO_OLD, "0000")
    assert "stretto db upgrade" in (refusal(database.url).hint or "")
    run(database.url, "UPDATE stretto_version SET version_num = '9999'")
    assert check(database.url) == (Standing.TOO_NEW, "9999")
    assert "has schema 9999" in str(refusal(database.url))
    for job in (upgrade, vacuum):
        with pytest.raises(PreconditionFailed, match="has schema 9999"):
            job(database.url)


@pytest.mark.parametrize(("floor", "standing"), [(1, Standing.NEWER), (9999, Standing.TOO_NEW)])
def test_newer_tables_may_still_serve_this_code(floor: int, standing: Standing, database: Database) -> None:
    upgrade(database.url)
    run(database.url, "UPDATE stretto_version SET version_num = '9999'")
    insert = "INSERT INTO counter VALUES ('oldest_schema', "
    run(database.url, f"{insert}{floor})")
    assert check(database.url) == (standing, "9999")
    if standing is Standing.NEWER:
        upgrade(database.url)
        vacuum(database.url)

        async def opening() -> None:
            await (await open_mariadb(database.url)).close()

        asyncio.run(opening())
    else:
        assert "has schema 9999" in str(refusal(database.url))


def test_somebody_elses_is_refused(database: Database) -> None:
    run(database.url, "CREATE TABLE accounts (id INT)")
    assert "not those of Stretto" in str(refusal(database.url))
    with pytest.raises(PreconditionFailed, match="not those of Stretto"):
        upgrade(database.url)


# ----------------------------------------------------------------------------------------------- the address
def test_there_is_no_such_database(mariadb_url: str) -> None:
    error = refusal(at_database(mariadb_url, "stretto_nowhere"))
    assert isinstance(error, PreconditionFailed)
    assert "Unknown database" in str(error)
    assert "CREATE DATABASE" in (error.hint or "")


def test_the_password_is_wrong(own_mariadb: MariadbServer) -> None:
    error = refusal(own_mariadb.url("mysql", password="no"))
    assert isinstance(error, PreconditionFailed)
    assert "Access denied" in str(error)
    assert "no@" not in str(error)
    assert "look at the user and the password" in (error.hint or "")


@pytest.fixture
def reader(own_mariadb: MariadbServer) -> Iterator[tuple[Database, str]]:
    """A user who may look, and nothing else."""
    made = Database(own_mariadb.url("mysql"))
    own_mariadb.run(f"CREATE USER reader IDENTIFIED BY 'r'; GRANT SELECT ON {made.name}.* TO reader")
    yield made, own_mariadb.url(made.name, "reader", "r")
    own_mariadb.run("DROP USER reader")
    made.drop()


def test_a_user_without_rights_is_refused(reader: tuple[Database, str]) -> None:
    _database, url = reader
    error = refusal(url)
    assert isinstance(error, PreconditionFailed)
    assert "INSERT command denied" in str(error)
    assert "GRANT SELECT, INSERT, UPDATE, DELETE" in (error.hint or "")
    with pytest.raises(PreconditionFailed, match="denied"):
        vacuum(url)


def test_an_upgrade_needs_more_rights(own_mariadb: MariadbServer) -> None:
    made = Database(own_mariadb.url("mysql"), empty=True)
    own_mariadb.run(f"CREATE USER maker IDENTIFIED BY 'm'; GRANT SELECT ON {made.name}.* TO maker")
    with pytest.raises(PreconditionFailed, match="CREATE command denied"):
        upgrade(own_mariadb.url(made.name, "maker", "m"))
    own_mariadb.run("DROP USER maker")
    made.drop()


def test_too_many_connections_are_told(own_mariadb: MariadbServer) -> None:
    made = Database(own_mariadb.url("mysql"))
    own_mariadb.run(
        "CREATE USER greedy IDENTIFIED BY 'g' WITH MAX_USER_CONNECTIONS 2; "
        f"GRANT ALL ON {made.name}.* TO greedy"
    )

    async def crowding() -> StrettoError:
        store = await open_mariadb(own_mariadb.url(made.name, "greedy", "g"))
        answers = await asyncio.gather(
            *(store.join(NodeId(f"n{i}")) for i in range(6)), return_exceptions=True
        )
        await store.close()
        return next(each for each in answers if isinstance(each, StrettoError))

    error = asyncio.run(crowding())
    assert isinstance(error, Unavailable)
    assert "max_connections" in (error.hint or "")
    own_mariadb.run("DROP USER greedy")
    made.drop()


def test_a_socket_leads_there_too(own_mariadb: MariadbServer) -> None:
    url = f"mariadb://{ROOT}@localhost/mysql?unix_socket={own_mariadb.socket}"
    assert check(url)[0] is Standing.FOREIGN


def test_nobody_is_at_home() -> None:
    with socket.socket() as deaf:  # the port is ours meanwhile: nobody else can listen there
        deaf.bind(("127.0.0.1", 0))
        url = f"mariadb://me@127.0.0.1:{deaf.getsockname()[1]}/name"
        error = refusal(url)
        assert isinstance(error, Unavailable)
        assert "whether the server runs" in (error.hint or "")
        with pytest.raises(Unavailable, match="can not be opened"):
            check(url)


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x01\x00\x00\x00\x0a", b"", None], ids=repr
)
def test_something_else_answers(greeting: bytes | None) -> None:
    """None: it says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as client:
                if greeting is not None:
                    client.sendall(greeting)
                else:
                    client.recv(1)

        thread = Thread(target=answer)
        thread.start()
        error = refusal(f"mariadb://me@127.0.0.1:{server.getsockname()[1]}/name?connect_within=300")
        thread.join()
    assert isinstance(error, Unavailable)
    assert "can not be opened" in str(error)


def test_a_server_that_is_too_old_is_refused(mariadb_url: str) -> None:
    async def opening() -> None:
        async with Proxy(mariadb_url) as proxy:
            proxy.instead = (version.encode(), b"9.99.9-MariaDB")
            with pytest.raises(PreconditionFailed, match=r"is MariaDB 9\.99\.9: MariaDB 10\.6"):
                await open_mariadb(proxy.url)

    ((version,),) = query(mariadb_url, "SELECT VERSION()")
    asyncio.run(opening())


# ------------------------------------------------------------------------------------------------ encryption
def test_the_connection_can_be_encrypted(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    request = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(  # noqa: S603 - as the test says
        [*request, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    server = MariadbServer(f"--ssl-key={key}", f"--ssl-cert={certificate}", "--require-secure-transport=ON")
    try:
        url = server.url("mysql")
        assert "ssl=true" in (refusal(url).hint or "")
        assert "ssl_ca" in (refusal(with_query(url, ssl="verify")).hint or "")
        for query_ in ({"ssl": "true"}, {"ssl_ca": str(certificate)}):
            encrypted = query(with_query(url, **query_), "SHOW STATUS LIKE 'Ssl_version'")
            assert encrypted[0][1].startswith("TLS")
    finally:
        server.close()
