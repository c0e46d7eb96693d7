"""Which schema the code needs, and how a database stands to it.

Migrations only add: code that knows an older schema goes on working beside them, until all of it is replaced.
One that takes something away (a contraction) says which schema code must know from then on: see `FLOOR`.
"""

from collections.abc import Collection
from enum import Enum
from typing import Final

from stretto.model.errors import PreconditionFailed, StrettoError

HEAD: Final = "0006"  # the newest migration; their numbers grow
TABLE: Final = "stretto_version"  # that holds the number of the last migration
FLOOR: Final = "SELECT next_value FROM counter WHERE name = 'oldest_schema'"  # no row: the first one


class Standing(Enum):
    """A database, as the code sees it."""

    EMPTY = "empty"
    CURRENT = "current"
    NEWER = "newer than the code, which it still serves"
    TOO_OLD = "too old"
    TOO_NEW = "newer than the code"
    FOREIGN = "not a database of Stretto"

    @property
    def is_usable(self) -> bool:
        """Whether the code can work with it as it is."""
        return self in {Standing.CURRENT, Standing.NEWER}

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


def has_floor(tables: Collection[str], found: str | None) -> bool:
    """Whether a newer version has been there: then the floor of the database must be looked at."""
    return found is not None and found > HEAD and "counter" in tables


def standing_of(tables: Collection[str], found: str | None, floor: int | None = None) -> Standing:
    """How a database with these tables stands, whose last migration has this number. `floor`: the oldest
    schema whose code may use it.
    """
    if found is None:
        return Standing.FOREIGN if set(tables) - {TABLE, "sqlite_sequence"} else Standing.EMPTY
    if found == HEAD:
        return Standing.CURRENT
    if found < HEAD:
        return Standing.TOO_OLD
    serves = has_floor(tables, found) and (floor is None or floor <= int(HEAD))
    return Standing.NEWER if serves else Standing.TOO_NEW
