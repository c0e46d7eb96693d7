"""What one database must bring along, so that everything else can be shared."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from stretto.store.sql.statement import Bulk, Row, Statement

T = TypeVar("T")


class Taken(Exception):
    """A row that was to be inserted has the key of one that is there. The transaction must end."""


class Transaction(Protocol):
    """An open transaction. Rows are tuples of text, numbers and None, in the order of the columns.

    All methods are awaited, whether the driver waits or not: so the same code runs on a connection that
    belongs to an event loop and on one that belongs to a thread.
    """

    async def now(self) -> int:
        """The database's clock, in milliseconds since 1970: not the begin of the transaction, but now."""
        ...

    async def aside(self, compute: Callable[[], T]) -> T:
        """What a long computation on rows returns; an event loop goes on meanwhile."""
        ...

    async def all(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        """The rows that it finds."""
        ...

    async def one(self, statement: Statement, /, **values: Any) -> Row | None:
        """The first row that it finds."""
        ...

    async def run(self, statement: Statement, /, **values: Any) -> int:
        """How many rows it wrote, changed or deleted."""
        ...

    async def bulk(self, bulk: Bulk, rows: Sequence[Row], /, **common: Any) -> object:
        """Do it with all rows, in their order. INSERT: Taken, if one is there. Any other may be put off until
        the next statement, so that several go to a server together; what it returns means nothing.

        Keys are different from each other and sorted. No rows: nothing is said to the database.
        """
        ...

    async def post(self, rows: Sequence[Row], /) -> list[int]:
        """Insert messages (the columns of `messages.OUTBOX`) and return their ids, in order."""
        ...


Work = Callable[[Transaction], Awaitable[T]]


class Quick(Protocol):
    """What a database may have besides: answers that are there without a way to a server or a thread."""

    async def brief(self, work: Work[T], *, together: bool) -> T:
        """For a work that reads a few rows by their keys; with `together` all its statements see the same
        moment.
        """
        ...

    async def write_few(self, work: Work[T]) -> T:
        """As `Database.write`, for a work that writes a few rows."""
        ...


class Database(Protocol):
    """Connections to one database, and the discipline in which they are used.

    A work that is handed in awaits nothing but its transaction. What it raises rolls the transaction back and
    is raised, unless it is the driver's own error: that becomes one of `ports.failures`.
    """

    async def look(self, work: Work[T]) -> T:
        """For a work of one statement that only reads."""
        ...

    async def read(self, work: Work[T]) -> T:
        """For a work that only reads: all its statements see the same moment."""
        ...

    async def write(self, work: Work[T]) -> T:
        """In one transaction, which is committed when this returns. The work is called again after a
        deadlock or a serialisation failure.
        """
        ...

    async def apart(self, work: Work[T]) -> T:
        """For a work (a beat) whose statements need no transaction around them: each is committed for
        itself. It waits for no other of this process, and may be repeated.
        """
        ...

    async def examine(self) -> None:
        """Raise `Unavailable` if something is wrong that a small transaction does not show."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads. Idempotent."""
        ...
