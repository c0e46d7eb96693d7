"""The change log: what was committed, numbered within each group."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from stretto.model.errors import StrettoError
from stretto.model.event import ChangeEvent

Cursor = Mapping[int, int]  # group -> the seq that was read last; groups that are not in it are not followed


class LogRow(msgspec.Struct, frozen=True, kw_only=True):
    """The events of one commit of one group. An event is known by (group, seq, its place in the row)."""

    group: int
    seq: int
    at: int
    events: tuple[ChangeEvent, ...]


class Trimmed(StrettoError):
    """What follows a cursor is not kept any more: the reader missed events, and must look at the state."""

    id, status, maestro_status = "trimmed", 410, "GONE"

    def __init__(self, groups: frozenset[int]) -> None:
        super().__init__(f"the change log of {len(groups)} flow groups does not have what follows the cursor")
        self.groups = groups


def share_of(most: int, groups: int) -> int:
    """How many rows of each group are read at once. Who comes back after a long time is behind in all of
    them, and one row may tell of thousands of changes: `most` of each would be too many at once.
    """
    return max(1, most // max(1, groups))


class Events(Protocol):
    """Reads of the log. Only a group's owner writes it, with its commits: seq s + 1 is seen only if s is."""

    async def newest_seqs(self) -> dict[int, int]:
        """For each group the newest seq, 0 if it has none: where a reader begins that wants no past."""
        ...

    async def read_log(self, cursor: Cursor, *, most: int = 1000) -> list[LogRow]:
        """Rows after the cursor, by group and seq, without a gap. There are `most` at the most, in equal
        shares of the groups that have some, and of each of these at least one.

        The order of one run is that of its group; between groups there is none. Trimmed, if for some group
        the row that follows the cursor is gone, or the cursor is beyond the end: then it is of another
        database, or of this one before an older copy of it was brought back.
        """
        ...

    async def mark_delivered(self, sink: str, cursor: Cursor | None) -> dict[int, int]:
        """A sink has delivered all of these groups up to these seqs. It never goes back. None: the sink is
        not used any more, and nothing is kept for it. Idempotent. Returns how far the sink has come, by
        group; groups that it never delivered are missing.

        From the first call on, rows that a sink has not delivered are not trimmed in the groups it named.
        """
        ...
