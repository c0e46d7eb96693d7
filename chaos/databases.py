"""The databases of a campaign: a SQLite file, or a server of our own that can be stopped, killed and started.

What a server has answered outlives its process. It need not outlive the machine: nothing is flushed to disk.
"""

import asyncio
from pathlib import Path
from typing import Final, Protocol

from tests.ports.mariadb_server import MariadbServer
from tests.ports.postgresql_server import PostgresServer

from chaos.clock import WallClock
from stretto.store.opening import module_of

NAME: Final = "chaos"
# The tests' own server forgets the last second when it is killed: nothing of theirs outlives it.
SAFE: Final = ("--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=1")


class Database(Protocol):
    """What nodes share."""

    url: str
    is_server: bool

    def stop(self, *, kill: bool) -> None:
        """Take it away: as an administrator does, or as if its machine had died."""
        ...

    def start(self) -> None:
        """Bring it back, with all that was committed."""
        ...

    @property
    def is_down(self) -> bool:
        """Whether it has ended by itself."""
        ...

    def close(self) -> None:
        """The end of it."""
        ...


class SqliteFile:
    """Nothing that could be stopped."""

    is_server = False

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder}/stretto.db"

    def stop(self, *, kill: bool) -> None:
        raise NotImplementedError

    def start(self) -> None:
        raise NotImplementedError

    @property
    def is_down(self) -> bool:
        return False

    def close(self) -> None:
        """The file stays with its folder."""


class Postgres:
    """See `tests.ports.postgresql_server`."""

    is_server = True

    def __init__(self, clock: WallClock | None = None) -> None:
        # Its processes have one thread each, and signals that ask for the time.
        self.server = PostgresServer(clock.environment(threads=False) if clock else None)
        self.url = self.server.url(NAME)
        module = module_of(self.url, "upkeep")
        asyncio.run(self._create())
        module.upgrade(self.url)

    async def _create(self) -> None:
        from tests.ports.postgresql_bench import connection_to  # noqa: PLC0415 - it needs the driver

        async with connection_to(self.server.url()) as connection:
            await connection.execute(f"CREATE DATABASE {NAME}")

    def stop(self, *, kill: bool) -> None:
        self.server.stop("QUIT" if kill else "INT")

    def start(self) -> None:
        self.server.start()

    @property
    def is_down(self) -> bool:
        return not _lives(self.server.folder / "data" / "postmaster.pid")

    def close(self) -> None:
        self.server.close()


class Mariadb:
    """See `tests.ports.mariadb_server`."""

    is_server = True

    def __init__(self, clock: WallClock | None = None) -> None:
        self.server = MariadbServer(*SAFE, environment=clock.environment() if clock else None)
        self.server.run(f"CREATE DATABASE {NAME}")
        self.url = self.server.url(NAME)
        module_of(self.url, "upkeep").upgrade(self.url)

    def stop(self, *, kill: bool) -> None:
        self.server.stop("KILL" if kill else "TERM")

    def start(self) -> None:
        self.server.start()

    @property
    def is_down(self) -> bool:
        return not _lives(self.server.folder / "pid")

    def close(self) -> None:
        self.server.close()


def database(store: str, folder: Path, clock: WallClock | None = None) -> Database:
    """A new one. `clock`: that of its server; a file has the clock of whoever uses it."""
    if store == "sqlite":
        return SqliteFile(folder)
    return Postgres(clock) if store == "postgresql" else Mariadb(clock)


def _lives(file: Path) -> bool:
    """Whether the process is there whose number is in a file. One that nobody has reaped yet is not."""
    try:
        pid = int(file.read_text().split()[0])
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError, ValueError):
        return False
