"""A transaction on a connection of asyncmy."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from asyncmy.errors import IntegrityError

from stretto.store.mariadb.bulk import Needed, delete, flattened, insert, lock, sizes
from stretto.store.mariadb.connecting import Answer, Connection
from stretto.store.mariadb.dialect import CLOCK
from stretto.store.mariadb.errors import DUPLICATE, code_of
from stretto.store.mariadb.spelling import Spelling
from stretto.store.mariadb.weight import most_of, too_large
from stretto.store.sql.database import Taken
from stretto.store.sql.rows.messages import OUTBOX
from stretto.store.sql.statement import Bulk, Row, Statement, Way, mapped

T = TypeVar("T")

NOW: Final = f"SELECT {CLOCK}"
POST: Final = Bulk(way=Way.INSERT, table="outbox", key=0, fields=OUTBOX)
NEEDED: Final = Statement(
    "SELECT column_name, IF(data_type LIKE '%int', '0', '''''') FROM information_schema.columns "
    "WHERE table_schema = DATABASE() AND table_name = :table AND is_nullable = 'NO' "
    "AND column_default IS NULL AND extra = ''"
)


class Words:
    """What was put into words so far; all transactions of a database share it."""

    def __init__(self, spelling: Spelling) -> None:
        self.spelling = spelling
        self.locks: dict[Bulk, Statement] = {}
        self.deletes: dict[Bulk, Statement] = {}
        self.inserts: dict[tuple[Bulk, int], str] = {}
        self.needed: dict[str, Needed] = {}


class MariadbTransaction:
    """See `sql.database.Transaction`. The driver keeps statements prepared."""

    def __init__(self, connection: Connection, words: Words, ahead: Callable[[], int]) -> None:
        self._connection = connection
        self._words = words
        self._ahead = ahead

    async def now(self) -> int:
        ((clock,),) = (await self._connection.execute(NOW)).rows
        return int(clock) + self._ahead()

    async def aside(self, compute: Callable[[], T]) -> T:
        return await asyncio.to_thread(compute)

    async def all(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        return (await self._say(statement, values)).rows

    async def one(self, statement: Statement, /, **values: Any) -> Row | None:
        rows = (await self._say(statement, values)).rows
        return rows[0] if rows else None

    async def run(self, statement: Statement, /, **values: Any) -> int:
        """Ids are drawn in `post` only; elsewhere one says that a row was there: see `dialect.missing`."""
        answer = await self._say(statement, values)
        return 0 if answer.first_id else answer.hits

    async def bulk(self, bulk: Bulk, rows: Sequence[Row], /, **common: Any) -> int:
        if not rows:
            return 0
        if bulk.way is Way.DELETE:
            known = self._words.deletes.get(bulk)
            if known is None:
                known = self._words.deletes[bulk] = delete(bulk)
            return await self.run(known, keys=list(map(tuple, rows)))
        if bulk.way is Way.UPDATE:
            rows = await self._locked(bulk, rows)
        shared = [common[field.name] for field in bulk.common]
        await self._insert(bulk, rows, shared)
        return len(rows)

    async def post(self, rows: Sequence[Row], /) -> list[int]:
        """The ids of one statement follow each other: the server draws them together."""
        step = self._connection.id_step
        answers = await self._insert(POST, rows, ())
        return [each.first_id + place * step for each in answers for place in range(each.hits)]

    async def _say(self, statement: Statement, values: dict[str, Any]) -> Answer:
        values["ahead"] = self._ahead()
        text, bound = self._words.spelling.of(statement, values)
        if not self._connection.fits(bound):
            raise too_large(bound, self._connection.longest)
        return await self._connection.execute(text, bound)

    # ---------------------------------------------------------------------------------------------- bulk
    async def _locked(self, bulk: Bulk, rows: Sequence[Row]) -> Sequence[Row]:
        """Those rows that are there; nobody else changes them before this transaction ends."""
        if bulk.table not in self._words.needed:
            found = await self.all(NEEDED, table=bulk.table)
            self._words.needed[bulk.table] = mapped(found)
        known = self._words.locks.get(bulk)
        if known is None:
            known = self._words.locks[bulk] = lock(bulk)
        keys = [tuple(row[: bulk.key]) for row in rows]
        there = set(map(tuple, await self.all(known, keys=keys)))
        return [row for row, key in zip(rows, keys, strict=True) if key in there]

    async def _insert(self, bulk: Bulk, rows: Sequence[Row], common: Sequence[Any]) -> list[Answer]:
        answers: list[Answer] = []
        place = 0
        for size in sizes(len(rows), len(bulk.all_fields)):
            answers += await self._insert_some(bulk, rows[place : place + size], common)
            place += size
        return answers

    async def _insert_some(self, bulk: Bulk, rows: Sequence[Row], common: Sequence[Any]) -> list[Answer]:
        """With one statement; with several, if they are too much for one."""
        size, values = len(rows), flattened(rows, common)
        if not self._connection.fits(values, most_of(bulk, rows)):
            if size == 1:
                raise too_large(values, self._connection.longest)
            halves = rows[: size // 2], rows[size // 2 :]
            return [each for half in halves for each in await self._insert_some(bulk, half, common)]
        text = self._words.inserts.get((bulk, size))
        if text is None:
            needed = self._words.needed.get(bulk.table, {})
            text = self._words.inserts[bulk, size] = insert(bulk, size, needed)
        try:
            return [await self._connection.execute(text, values)]
        except IntegrityError as error:
            if code_of(error) == DUPLICATE:
                raise Taken(str(error)) from error
            raise
