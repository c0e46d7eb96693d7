"""A database that can not be used: each command says so in a few words, with the way out, and ends with 2."""

import asyncio
import os
import socket
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.processes import Running, until
from tests.acceptance.test_run_on_servers import mariadb, postgresql, stretto
from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_bench import connection_to
from tests.ports.postgresql_server import Missing, PostgresServer, missing

__all__ = ["mariadb", "postgresql"]  # fixtures

LONG = """
workflow:
  id: long
  jobs:
    - job:
        id: s
        type: Shell
        command: echo x >> begun.txt; while ! test -e go.txt; do sleep 0.1; done
        transition: [t]
    - job: {id: t, type: NoOp}
"""
FLOW = "workflow: {id: w, jobs: [{job: {id: s, type: NoOp}}]}"
COMMANDS = [("run", "flow.yaml"), ("runs",)]
NEWER = (
    "UPDATE stretto_version SET version_num = '9999'",
    "INSERT INTO counter VALUES ('oldest_schema', 9999)",
)

OLDER = "UPDATE stretto_version SET version_num = '0000'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    return tmp_path


def refused(folder: Path, url: str, *words: str, commands: Sequence[tuple[str, ...]] = COMMANDS) -> str:
    """What each command says: something short, the same for all, without a secret."""
    told = ""
    for command in commands:
        code, out, err = stretto(folder, *command, "--db", url)
        assert (code, out) == (2, ""), (command, err)
        assert all(word in err for word in words), (command, err)
        assert len(err.splitlines()) <= 4, err
        assert "s3cr" not in err
        told = err
    return told


def on_postgresql(url: str, *statements: str) -> None:
    async def say() -> None:
        async with connection_to(url) as connection:
            for statement in statements:
                await connection.execute(statement)

    asyncio.run(say())


def on_sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


# ------------------------------------------------------------------------------------------------ any of them
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("oracle://x", "the kind of database is none of"),
        ("postgres://me@host/name", "did you mean"),
        ("postgresql://host", "names no database"),
        ("mariadb:///name", "names no host"),
        ("sqlite://host/file.db", "three slashes"),
    ],
)
def test_a_wrong_address(url: str, said: str, folder: Path) -> None:
    refused(folder, url, said)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_nobody_listens(kind: str, folder: Path) -> None:
    commands = [
        *COMMANDS,
        ("show", "w/1"),
        ("why", "w/1"),
        ("db", "check"),
        ("db", "upgrade"),
        ("db", "vacuum"),
    ]
    with socket.socket() as deaf:  # the port is ours meanwhile: nobody else can listen there
        deaf.bind(("127.0.0.1", 0))
        url = f"{kind}://me:s3cret@127.0.0.1:{deaf.getsockname()[1]}/name"
        refused(folder, url, "127.0.0.1", "hint:", commands=commands)


# ----------------------------------------------------------------------------------------------------- SQLite
def test_sqlite_of_a_newer_version(folder: Path) -> None:
    url = f"sqlite:///{folder}/s.db"
    assert stretto(folder, "run", "flow.yaml", "--db", url)[0] == 0
    on_sqlite(folder / "s.db", *NEWER)
    refused(folder, url, "has schema 9999", "install the version")


def test_sqlite_of_something_else(folder: Path) -> None:
    on_sqlite(folder / "s.db", "CREATE TABLE accounts (id INTEGER)")
    refused(folder, f"sqlite:///{folder}/s.db", "not those of Stretto")
    (folder / "t.db").write_bytes(b"something else " * 100)
    refused(folder, f"sqlite:///{folder}/t.db", "not a database")


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_sqlite_that_may_only_be_read(folder: Path) -> None:
    url = f"sqlite:///{folder}/s.db"
    assert stretto(folder, "run", "flow.yaml", "--db", url)[0] == 0
    (folder / "s.db").chmod(0o444)
    refused(folder, url, "readonly", "hint:")


def test_sqlite_on_a_full_disk(folder: Path) -> None:
    """As good as: its files may not grow."""
    url = f"sqlite:///{folder}/s.db"
    assert stretto(folder, "run", "flow.yaml", "--db", url)[0] == 0
    with Running("run", "flow.yaml", "--db", url, folder=folder, most_bytes=40_000) as command:
        code, _, err = command.ended()
    assert code == 2, err
    assert "full" in err or "disk" in err
    assert stretto(folder, "runs", "--db", url)[0] == 0


# ---------------------------------------------------------------------------------------------------- servers
def test_postgresql(postgresql: str, own_postgresql: PostgresServer, folder: Path) -> None:
    assert stretto(folder, "db", "upgrade", "--db", postgresql)[0] == 0
    on_postgresql(postgresql, "CREATE ROLE nobody_much LOGIN")
    try:
        name = postgresql.partition("@/")[2].partition("?")[0]
        poor = own_postgresql.url(name, user="nobody_much")
        refused(folder, poor, "permission denied", "hint: give the user SELECT")
        refused(folder, own_postgresql.url("no_such_database"), "no_such_database")
        refused(folder, own_postgresql.url(name, user="no_such_role"), "no_such_role")
        on_postgresql(postgresql, *NEWER)
        refused(folder, postgresql, "has schema 9999", "install the version")
        on_postgresql(postgresql, OLDER)
        refused(folder, postgresql, "has schema 0000", "stretto db upgrade")
    finally:
        on_postgresql(postgresql, "DROP ROLE nobody_much")


def test_mariadb(mariadb: str, own_mariadb: MariadbServer, folder: Path) -> None:
    assert stretto(folder, "db", "upgrade", "--db", mariadb)[0] == 0
    name = mariadb.rpartition("/")[2].partition("?")[0]
    own_mariadb.run("CREATE USER 'poor'@'%' IDENTIFIED BY 's3cr:t'")
    own_mariadb.run(f"GRANT SELECT ON {name}.* TO 'poor'@'%'")
    try:
        refused(folder, own_mariadb.url(name, user="poor", password="s3cr:t"), "hint:")
        refused(folder, own_mariadb.url(name, password="s3cr-wrong"), "hint:")
        refused(folder, own_mariadb.url("no_such_database"), "no_such_database")
        own_mariadb.run(f"USE {name}; {'; '.join(NEWER)}")
        refused(folder, mariadb, "has schema 9999", "install the version")
        own_mariadb.run(f"USE {name}; {OLDER}")
        refused(folder, mariadb, "has schema 0000", "stretto db upgrade")
    finally:
        own_mariadb.run("DROP USER 'poor'@'%'")


@pytest.mark.parametrize("kind", [PostgresServer, MariadbServer])
def test_a_server_that_goes_away_and_comes_back(
    kind: type[PostgresServer | MariadbServer], folder: Path
) -> None:
    """The run waits for it; nothing fails."""
    try:
        server = kind()
    except Missing as error:
        missing(error)
        return
    try:
        if isinstance(server, MariadbServer):
            server.run("CREATE DATABASE gone")
            url = server.url("gone")
        else:
            url = server.url()
        assert stretto(folder, "db", "upgrade", "--db", url)[0] == 0
        (folder / "long.yaml").write_text(LONG)
        with Running("run", "long.yaml", "--db", url, "--plain", folder=folder) as command:
            until((folder / "begun.txt").exists)
            server.stop()
            (folder / "go.txt").touch()  # the step ends while nobody can store that
            command.until_it_says("waiting for it")
            assert command.process.poll() is None
            server.start()
            code, out, err = command.ended()
        assert code == 0, out + err
        assert "SUCCEEDED" in out
        assert (folder / "begun.txt").read_text() == "x\n"  # once
    finally:
        server.close()
