"""A transaction on a connection that belongs to a thread: everything is done when it is awaited."""

import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from stretto.model.errors import Internal
from stretto.store.sql.database import Taken
from stretto.store.sql.rows.messages import OUTBOX
from stretto.store.sql.statement import Bulk, Row, Statement, Way
from stretto.store.sqlite.dialect import DIALECT, spell, values_of

T = TypeVar("T")

MOST_VALUES: Final = 32_766  # that SQLite binds to one statement
MOST_ROWS: Final = 1024  # of one statement; a power of two
CACHED: Final = 512  # statements that each connection keeps ready

UNIQUE: Final = frozenset({sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE})
POST: Final = Bulk(way=Way.INSERT, table="outbox", key=0, fields=OUTBOX)

_encode: Final = msgspec.json.Encoder().encode
_texts: Final[dict[Statement, str]] = {}
_bulks: Final[dict[tuple[Bulk, int], str]] = {}


class TooLong(Exception):
    """A work that was to be brief is not."""


class SqliteTransaction:
    """See `sql.database.Transaction`."""

    def __init__(
        self, connection: sqlite3.Connection, clock: Callable[[], int], *, in_loop: bool = False
    ) -> None:
        self._connection = connection
        self._in_loop = in_loop
        self._clock = clock

    async def now(self) -> int:
        return self._clock()

    async def aside(self, compute: Callable[[], T]) -> T:
        """Here, if this thread has no event loop; else whoever has begun this begins again in one that has
        none.
        """
        if self._in_loop:
            raise TooLong
        return compute()

    async def all(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        return self._execute(statement, values).fetchall()

    async def one(self, statement: Statement, /, **values: Any) -> Row | None:
        cursor = self._execute(statement, values)
        row: Row | None = cursor.fetchone()
        cursor.close()
        return row

    async def run(self, statement: Statement, /, **values: Any) -> int:
        return self._execute(statement, values).rowcount

    async def bulk(self, bulk: Bulk, rows: Sequence[Row], /, **common: Any) -> int:
        return sum(cursor.rowcount for cursor in self._write(bulk, rows, common))

    async def post(self, rows: Sequence[Row], /) -> list[int]:
        """Nobody else writes meanwhile, so the ids of one statement follow each other."""
        ids: list[int] = []
        for cursor in self._write(POST, rows, {}):
            last = cursor.lastrowid or 0
            ids += range(last - cursor.rowcount + 1, last + 1)
        return ids

    def _execute(self, statement: Statement, values: dict[str, Any]) -> sqlite3.Cursor:
        text = _texts.get(statement)
        if text is None:
            text = _texts[statement] = statement.of(DIALECT)
        values["clock"] = self._clock()
        for name, value in values.items():
            if type(value) is list:
                values[name] = str(_encode(value), "utf-8")
        return self._connection.execute(text, values)

    def _write(self, bulk: Bulk, rows: Sequence[Row], common: dict[str, Any]) -> Iterator[sqlite3.Cursor]:
        shared = [common[field.name] for field in bulk.common]
        place = 0
        for size in sizes(len(rows), len(bulk.fields)):
            text = _bulks.get((bulk, size))
            if text is None:
                text = _bulks[bulk, size] = spell(bulk, size)
            yield self._execute_bulk(text, values_of(bulk, rows[place : place + size], shared))
            place += size

    def _execute_bulk(self, text: str, values: list[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(text, values)
        except sqlite3.IntegrityError as error:
            if error.sqlite_errorcode in UNIQUE:
                raise Taken(str(error)) from error
            raise


def sizes(rows: int, width: int) -> Iterator[int]:
    """So many rows in few statements of few sizes, so that each is prepared once: powers of two."""
    size = MOST_ROWS
    while size * width > MOST_VALUES - 8:
        size //= 2
    while rows:
        while size > rows:
            size //= 2
        yield size
        rows -= size


def driven(work: Coroutine[Any, Any, T]) -> T:
    """Run a work to its end, without an event loop: it awaits nothing that is not done at once."""
    try:
        work.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    work.close()
    raise Internal("a work awaited something that is not its transaction")
