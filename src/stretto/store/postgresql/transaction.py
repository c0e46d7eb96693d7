"""A transaction on a connection of asyncpg."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import asyncpg

from stretto.store.postgresql.binding import arrays_of, binding_of
from stretto.store.postgresql.dialect import CLOCK, spell, spell_all
from stretto.store.sql.database import Taken
from stretto.store.sql.rows.messages import OUTBOX
from stretto.store.sql.statement import Bulk, Row, Statement, Way

T = TypeVar("T")

NOW: Final = f"SELECT {CLOCK}"
POST: Final = Bulk(way=Way.INSERT, table="outbox", key=0, fields=OUTBOX)
POSTED: Final = f"{spell(POST)} RETURNING id"

# By identity: to hash a bulk takes longer. The bulks are kept, so that no other ever has the same.
_texts: Final[dict[tuple[int, ...], tuple[tuple[Bulk, ...], str]]] = {}


class PostgresTransaction:
    """See `sql.database.Transaction`. The driver keeps every statement prepared.

    Bulks are put off, and go to the server together: each way there and back takes longer than a row.
    """

    def __init__(self, connection: Any, ahead: Callable[[], int]) -> None:
        self._connection = connection
        self._ahead = ahead
        self._bulks: list[Bulk] = []  # each on another table
        self._values: list[Any] = []  # of all of them

    async def now(self) -> int:
        clock: int = await self._connection.fetchval(NOW)
        return clock + self._ahead()

    async def aside(self, compute: Callable[[], T]) -> T:
        return await asyncio.to_thread(compute)

    async def all(self, statement: Statement, /, **values: Any) -> Sequence[Row]:
        await self.write()
        binding = binding_of(statement)
        values["ahead"] = self._ahead()
        rows: Sequence[Row] = await self._connection.fetch(binding.text, *binding.values(values))
        return rows

    async def one(self, statement: Statement, /, **values: Any) -> Row | None:
        await self.write()
        binding = binding_of(statement)
        values["ahead"] = self._ahead()
        row: Row | None = await self._connection.fetchrow(binding.text, *binding.values(values))
        return row

    async def run(self, statement: Statement, /, **values: Any) -> int:
        """How many rows were hit is the last word of the answer, as in `INSERT 0 5`."""
        await self.write()
        binding = binding_of(statement)
        values["ahead"] = self._ahead()
        status: str = await self._connection.execute(binding.text, *binding.values(values))
        return int(status.rpartition(" ")[2])

    async def bulk(self, bulk: Bulk, rows: Sequence[Row], /, **common: Any) -> None:
        if not rows:
            return
        if any(bulk.table == other.table for other in self._bulks):
            await self.write()
        self._bulks.append(bulk)
        self._values += arrays_of(bulk.fields, rows)
        self._values += [common[field.name] for field in bulk.common]
        if bulk.way is Way.INSERT:
            await self.write()

    async def post(self, rows: Sequence[Row], /) -> list[int]:
        """Ids are drawn row by row, in the order of the arrays."""
        await self.write()
        return sorted([row[0] for row in await self._connection.fetch(POSTED, *arrays_of(OUTBOX, rows))])

    async def write(self) -> None:
        """Say what was put off. Of the tables that it names, one at most is inserted into: the last."""
        if not self._bulks:
            return
        bulks, values = self._bulks, self._values
        self._bulks, self._values = [], []
        key = tuple(map(id, bulks))
        if key not in _texts:
            _texts[key] = tuple(bulks), spell_all(bulks)
        try:
            await self._connection.execute(_texts[key][1], *values)
        except asyncpg.UniqueViolationError as error:
            if error.table_name != bulks[-1].table:
                raise
            raise Taken(str(error)) from error
