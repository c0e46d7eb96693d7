"""Records of functions, and results of theirs that are kept for a while."""

from collections.abc import Sequence
from typing import Final

from stretto.ports.functions import FunctionRecord
from stretto.store.sql.codec import FUNCTION
from stretto.store.sql.database import Transaction
from stretto.store.sql.lengths import CODE_LENGTH, fitting
from stretto.store.sql.part import Part
from stretto.store.sql.statement import Bulk, Statement, Way, ints, texts

PUT: Final = Bulk(
    way=Way.PUT, table="job_function", key=1, fields=texts("name", "doc"), changes=frozenset({"doc"})
)
ONE: Final = Statement("SELECT doc FROM job_function WHERE name = :name")
ALL: Final = Statement("SELECT doc FROM job_function ORDER BY name")
KEEP: Final = Bulk(
    way=Way.PUT,
    table="kept_result",
    key=1,
    fields=(*texts("result_key", "doc"), *ints("kept_until")),
    changes=frozenset({"doc", "kept_until"}),
)
KEPT: Final = Statement("SELECT doc FROM kept_result WHERE result_key = :key AND kept_until > :now")
KEEP_FIRST: Final = Statement(lambda d: d.missing("kept_result", KEEP.fields))
HELD: Final = Statement(
    lambda d: f"SELECT doc, kept_until FROM kept_result WHERE result_key = :key {d.exclusive}"
)
FORGET: Final = Statement("DELETE FROM kept_result WHERE result_key = :key AND doc = :doc")


class SqlFunctions(Part):
    """See `ports.functions` and `ports.cache`."""

    async def function_record(self, name: str) -> FunctionRecord | None:
        async def work(tx: Transaction) -> FunctionRecord | None:
            row = await tx.one(ONE, name=name)
            return None if row is None else FUNCTION.read(row[0])

        return await self._db.look(work)

    async def function_records(self) -> Sequence[FunctionRecord]:
        async def work(tx: Transaction) -> list[FunctionRecord]:
            return [FUNCTION.read(row[0]) for row in await tx.all(ALL)]

        return await self._db.look(work)

    async def put_function(self, record: FunctionRecord) -> FunctionRecord | None:
        row = (fitting(record.name, CODE_LENGTH, "the name of a function"), FUNCTION.write(record))

        async def work(tx: Transaction) -> FunctionRecord | None:
            before = await tx.one(ONE, name=record.name)
            await tx.bulk(PUT, [row])
            return None if before is None else FUNCTION.read(before[0])

        return await self._db.write(work)

    async def cached(self, key: str, now: int) -> str | None:
        async def work(tx: Transaction) -> str | None:
            row = await tx.one(KEPT, key=key, now=now)
            return None if row is None else str(row[0])

        return await self._db.look(work)

    async def keep(self, key: str, value: str, until: int) -> None:
        row = (fitting(key, CODE_LENGTH, "the key of a result"), value, until)

        async def work(tx: Transaction) -> None:
            await tx.bulk(KEEP, [row])

        await self._db.write(work)

    async def keep_first(self, key: str, value: str, now: int, lasting: int) -> str | None:
        row = (fitting(key, CODE_LENGTH, "the key of a result"), value, now + lasting)

        async def work(tx: Transaction) -> str | None:
            await tx.run(KEEP_FIRST, result_key=key, doc=value, kept_until=row[2])
            doc, until = await tx.one(HELD, key=key) or ("", row[2])  # let go of in between
            if doc != value and until > now:
                return str(doc)
            if until != row[2]:
                await tx.bulk(KEEP, [row])
            return None

        return await self._db.write(work)

    async def forget(self, key: str, value: str) -> None:
        async def work(tx: Transaction) -> None:
            await tx.run(FORGET, key=key, doc=value)

        await self._db.write(work)
