"""SQLite files for the suite of the store ports."""

from pathlib import Path

from stretto.ports.store import Store
from stretto.store.settings import DatabaseSettings
from stretto.store.sqlite import open_sqlite
from stretto.store.sqlite.clock import host_clock


class SqliteBench:
    """A database in a file of its own, whose clock is the host's and a step ahead."""

    def __init__(self, folder: Path, settings: DatabaseSettings | None = None) -> None:
        self.path = folder / "stretto.db"
        self.settings = settings or DatabaseSettings()
        self.ahead = 0

    async def open(self) -> Store:
        return await open_sqlite(self.path, self.settings, clock=lambda: host_clock() + self.ahead)

    async def advance(self, milliseconds: int) -> None:
        self.ahead += milliseconds
