"""Which schema the code needs, and how a database stands to it. Nothing here needs SQLAlchemy."""

from collections.abc import Collection
from enum import Enum
from typing import Final

from stretto.model.errors import PreconditionFailed, StrettoError

HEAD: Final = "0001"  # the newest migration; their numbers grow
TABLE: Final = "stretto_version"  # that holds the number of the last migration


class Standing(Enum):
    """A database, as the code sees it."""

    EMPTY = "empty"
    CURRENT = "current"
    TOO_OLD = "too old"
    TOO_NEW = "newer than the code"
    FOREIGN = "not a database of Stretto"

    def refusal(self, place: str, found: str | None) -> StrettoError:
        """Why a database that stands so can not be used as it is."""
        match self:
            case Standing.TOO_NEW:
                return PreconditionFailed(
                    f"the database {place} has schema {found}, this code knows up to {HEAD}",
                    hint="install the version of Stretto that made it, or a newer one",
                )
            case Standing.FOREIGN:
                return PreconditionFailed(
                    f"the database {place} has tables, but not those of Stretto",
                    hint="name a database of its own for Stretto",
                )
            case _:
                return PreconditionFailed(
                    f"the database {place} has schema {found or 'none'}, this code needs {HEAD}",
                    hint="bring it up to date: stretto db upgrade",
                )


def standing_of(tables: Collection[str], found: str | None) -> Standing:
    """How a database with these tables stands, whose last migration has this number."""
    if found is None:
        return Standing.FOREIGN if set(tables) - {TABLE, "sqlite_sequence"} else Standing.EMPTY
    if found == HEAD:
        return Standing.CURRENT
    return Standing.TOO_NEW if found > HEAD else Standing.TOO_OLD
