"""A MariaDB server for the tests: one that the environment names, or one of our own.

Our own is what is installed (Debian: mariadb-server). It keeps its files in a temporary folder, listens on a
socket in it and on a port of this machine, and ends with the process that started it, however that ends.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from tests.ports.postgresql_server import KEEPER, Missing, missing, with_query
from tests.waiting import wait_until

NAMED = os.environ.get("TEST_MARIADB_URL")
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
QUICK = [  # nothing here outlives the tests
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--innodb-log-file-size=32M",
    "--innodb-buffer-pool-size=256M",
]
USER, PASSWORD = "stretto", "s3cr:t/@ü"
SETUP = f"""
CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON *.* TO '{USER}'@'%' WITH GRANT OPTION;
"""


def program(*names: str) -> str:
    """Where the first of these programs is."""
    for name in names:
        found = shutil.which(name, path=PLACES)
        if found is not None:
            return found
    raise Missing(f"no MariaDB server ({names[0]}): install mariadb-server, or set TEST_MARIADB_URL")


class MariadbServer:
    """A server of our own. `environment`: what its process has there besides."""

    def __init__(self, *options: str, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self._server = program("mariadbd", "mysqld")
        self._install = program("mariadb-install-db", "mysql_install_db")
        self._client = program("mariadb", "mysql")
        self._options = options
        self.folder = Path(mkdtemp(prefix="stretto-mariadb-"))
        self.data = self.folder / "data"
        self.socket = self.folder / "socket"
        self.port = 0
        self._user = ["--user=root"] if os.getuid() == 0 else []  # otherwise it refuses root
        self._keeper: subprocess.Popen[bytes] | None = None
        try:
            self._make()
            self._start_somewhere()
            self.run(SETUP)
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            raise Missing(f"{self._server} does not start: {error}") from error

    def _make(self) -> None:
        subprocess.run(  # noqa: S603 - as the tests say
            [
                self._install,
                "--no-defaults",
                f"--datadir={self.data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
                *self._user,
                *QUICK,
            ],
            check=True,
            capture_output=True,
            cwd=self.folder,
        )

    def _start_somewhere(self) -> None:
        """A port that was free a moment ago may be taken."""
        for tries in range(5):
            self.port = free_port()
            try:
                return self.start()
            except OSError as error:
                if tries == 4 or "already in use" not in str(error):
                    raise
                self.stop("KILL")
        return None

    def start(self) -> None:
        """Until it answers, on the port that it had."""
        server = [
            self._server,
            "--no-defaults",
            f"--datadir={self.data}",
            f"--socket={self.socket}",
            f"--pid-file={self.folder / 'pid'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--max-connections=300",
            "--skip-name-resolve",
            "--skip-log-bin",
            *self._user,
            *QUICK,
            *self._options,
        ]
        with (self.folder / "log").open("ab") as log:
            begin = log.tell()
            self._keeper = subprocess.Popen(  # noqa: S603 - as the tests say
                ["/bin/sh", "-c", KEEPER, "sh", *server],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt at the keyboard is for the tests
            )
        keeper = self._keeper
        wait_until(lambda: self._is_ready(keeper, begin), lambda: self._log()[begin:][-2_000:])

    def _is_ready(self, keeper: "subprocess.Popen[bytes]", begin: int) -> bool:
        said = self._log()[begin:]
        if "Aborting" in said or keeper.poll() is not None:
            raise OSError(said[-2_000:])
        return "ready for connections" in said

    def _log(self) -> str:
        return (self.folder / "log").read_bytes().decode("ascii", errors="replace")

    def run(self, script: str) -> None:
        """As root, on the socket."""
        command = [self._client, "--no-defaults", "-u", "root", f"--socket={self.socket}"]
        command += ["--default-character-set=utf8mb4"]
        subprocess.run(command, check=True, capture_output=True, input=script.encode(), timeout=60)  # noqa: S603

    def stop(self, how: str = "TERM") -> None:
        """As an administrator does: what was committed is there."""
        assert self._keeper is not None
        self._keeper.communicate(f"{how}\n".encode(), timeout=60)
        self._keeper = None

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It does not answer until the end of the block, whatever happens in it."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: stands_still(pid))  # a thread that works goes on until it is noticed
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def close(self) -> None:
        if self._keeper is not None:
            self.stop("KILL")
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name: str, user: str = USER, password: str = PASSWORD) -> str:
        return f"mariadb://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{name}?synchronous=relaxed"


def stands_still(pid: int) -> bool:
    """Whether all threads of a process are stopped."""
    stats = [(task / "stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def free_port() -> int:
    """Below those that the system hands out (from 32768 on): who ends and comes back finds it free."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def at_database(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.fixture(scope="session")
def own_mariadb() -> Iterator[MariadbServer]:
    """A server that tests may do anything to but stop it."""
    try:
        server = MariadbServer()
    except Missing as error:
        missing(error)
    else:
        yield server
        server.close()


@pytest.fixture(scope="session")
def mariadb_url(request: pytest.FixtureRequest) -> str:
    """A server, to be shared with others: everybody has a database of their own."""
    if NAMED:
        return with_query(NAMED, synchronous="relaxed")
    server: MariadbServer = request.getfixturevalue("own_mariadb")
    return server.url("mysql")
