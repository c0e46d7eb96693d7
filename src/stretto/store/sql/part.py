"""One concern of a store."""

from typing import Final, TypeVar, cast

from stretto.store.settings import DatabaseSettings
from stretto.store.sql.database import Database, Quick, Work
from stretto.store.sql.params import KnownParams
from stretto.store.sql.versions import KnownVersions

T = TypeVar("T")

DEFAULTS: Final = DatabaseSettings()
FEW: Final = 32  # rows that are written in less time than it takes to tell somebody else


class Part:
    """What all concerns share: the database, numbers that can be set, and what is known of runs and
    versions.
    """

    def __init__(self, database: Database, settings: DatabaseSettings = DEFAULTS) -> None:
        self._db = database
        self._settings = settings
        self._params = KnownParams()
        self._versions = KnownVersions()
        self._quick = cast("Quick", database) if hasattr(database, "brief") else None

    async def _look(self, work: Work[T]) -> T:
        """One statement that finds little."""
        return await (self._db.look(work) if self._quick is None else self._quick.brief(work, together=False))

    async def _read(self, work: Work[T]) -> T:
        """Several statements that find little, as of one moment."""
        return await (self._db.read(work) if self._quick is None else self._quick.brief(work, together=True))

    async def _write(self, work: Work[T], rows: int) -> T:
        """A transaction that writes about so many rows."""
        if self._quick is None or rows > FEW:
            return await self._db.write(work)
        return await self._quick.write_few(work)


class Undo(Exception):
    """Takes back what a transaction wrote, when it turns out not to be wanted. It is no error."""
