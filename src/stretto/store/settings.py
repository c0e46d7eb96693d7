"""Numbers that a database depends on. Times are in milliseconds."""

from enum import StrEnum

import msgspec

from stretto.ports.groups import BEAT_LASTS
from stretto.store.sql.codec.document import BLOB_FROM


class Synchronous(StrEnum):
    """When a commit counts as done."""

    DURABLE = "durable"  # once it is on disk: what was answered survives a loss of power
    RELAXED = "relaxed"  # once the database has it: faster, and a loss of power may undo what was answered


class DatabaseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a database is reached and used."""

    url: str | None = None  # None: whoever opens the store knows a place
    synchronous: Synchronous = Synchronous.DURABLE
    connections: int = 8  # at once; on SQLite those that read, because one alone writes
    connect_within: int = 5_000
    statement_within: int = 30_000  # how long one statement may take
    lock_within: int = 3_000  # how long a statement may wait for a lock
    idle_in_transaction: int = 5_000  # a client that froze between lock and commit lets go after so long
    connection_idle: int = 600_000  # an unused connection is closed after so long
    connection_lifetime: int = 1_800_000  # any connection is replaced after so long
    blob_from: int = BLOB_FROM  # a document of so many characters leaves its row for the blob table
    beat_lasts: int = BEAT_LASTS  # from a beat until others may bury the node

    def __repr__(self) -> str:
        """Without the address, which may hold a password."""
        shown = {name: value for name, value in msgspec.structs.asdict(self).items() if name != "url"}
        kind = None if self.url is None else self.url.partition(":")[0]
        return (
            f"DatabaseSettings(url={kind}, {', '.join(f'{name}={value}' for name, value in shown.items())})"
        )
