"""Records of functions, which nodes know them, and results of theirs that are kept for a while."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from stretto.ports.functions import FunctionRecord
from stretto.ports.groups import NodeState
from stretto.ports.rows import NodeId
from stretto.store.sql.codec import FUNCTION, FUNCTION_NAMES
from stretto.store.sql.database import Transaction
from stretto.store.sql.fence import node_state
from stretto.store.sql.lengths import CODE_LENGTH, fitting
from stretto.store.sql.part import Part
from stretto.store.sql.statement import TEXT, Bulk, Statement, Way, ints, texts

PUT: Final = Bulk(
    way=Way.PUT, table="job_function", key=1, fields=texts("name", "doc"), changes=frozenset({"doc"})
)
ONE: Final = Statement("SELECT doc FROM job_function WHERE name = :name")
NAMED: Final = Statement(
    lambda d: f"SELECT doc FROM job_function WHERE {d.among('name', 'names', TEXT)} ORDER BY name"
)
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

PUT_ADVERTISEMENT: Final = Bulk(
    way=Way.PUT,
    table="advertisement",
    key=1,
    fields=(*texts("node_id"), *ints("version"), *texts("doc")),
    changes=frozenset({"version", "doc"}),
)
VERSION_OF: Final = Statement("SELECT version FROM advertisement WHERE node_id = :node")
ADVERTISED: Final = Statement(
    "SELECT node.node_id, doc FROM node JOIN advertisement ON advertisement.node_id = node.node_id "
    "WHERE state = 'ALIVE' ORDER BY node.node_id"
)
ADVERTISED_BY: Final = Statement(
    lambda d: f"SELECT node_id, doc FROM advertisement WHERE {d.among('node_id', 'nodes', TEXT)}"
)
NO_ADVERTISEMENT: Final = Statement("DELETE FROM advertisement WHERE node_id = :node")


class SqlFunctions(Part):
    """See `ports.functions` and `ports.cache`."""

    async def function_records(self, names: Collection[str] | None = None) -> Sequence[FunctionRecord]:
        async def work(tx: Transaction) -> list[FunctionRecord]:
            rows = await (tx.all(ALL) if names is None else tx.all(NAMED, names=sorted(set(names))))
            return [FUNCTION.read(row[0]) for row in rows]

        return await self._db.look(work)

    async def put_function(self, record: FunctionRecord) -> FunctionRecord | None:
        row = (fitting(record.name, CODE_LENGTH, "the name of a function"), FUNCTION.write(record))

        async def work(tx: Transaction) -> FunctionRecord | None:
            before = await tx.one(ONE, name=record.name)
            await tx.bulk(PUT, [row])
            return None if before is None else FUNCTION.read(before[0])

        return await self._db.write(work)

    async def advertise(self, node: NodeId, functions: Collection[str]) -> bool:
        async def work(tx: Transaction) -> bool:
            if await node_state(tx, node) in {None, NodeState.DEAD}:
                return False
            before = await tx.one(VERSION_OF, node=node)
            await put_advertisement(tx, node, 1 if before is None else before[0] + 1, functions)
            return True

        return await self._db.write(work)

    async def advertised(self, nodes: Collection[NodeId] | None = None) -> Mapping[NodeId, frozenset[str]]:
        async def work(tx: Transaction) -> dict[NodeId, frozenset[str]]:
            asked = tx.all(ADVERTISED) if nodes is None else tx.all(ADVERTISED_BY, nodes=sorted(nodes))
            found = {NodeId(node): frozenset(FUNCTION_NAMES.read(doc)) for node, doc in await asked}
            return {node: names for node, names in found.items() if names}

        return await self._db.look(work)

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


async def put_advertisement(tx: Transaction, node: NodeId, version: int, functions: Collection[str]) -> None:
    """Store the functions that a node advertises."""
    await tx.bulk(PUT_ADVERTISEMENT, [(node, version, FUNCTION_NAMES.write(tuple(sorted(functions))))])
