"""Every statement runs on PostgreSQL, and none of them looks at many more rows than it finds."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.ports.many_rows import BULKS, STATEMENTS, Tried, row_for, script, too_many, values_for
from tests.ports.postgresql_bench import Schema, connection_to
from tests.ports.test_sql_plans import FEW_ROWS

from stretto.store.postgresql.address import address_of
from stretto.store.postgresql.binding import arrays_of, binding_of
from stretto.store.postgresql.connecting import connected
from stretto.store.postgresql.dialect import DIALECT, spell
from stretto.store.sql.statement import Bulk, Statement

REMOVED = ("Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter")
PLANTED = "a planted one"


def literal(value: Any) -> str:
    """A value as one writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, list | tuple):
        parts = ["NULL" if each is None else json.dumps(each, ensure_ascii=False) for each in value]
        return literal("{" + ",".join(parts) + "}")
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


class Trial:
    """Statements on one connection, each taken back."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._count = 0

    async def all(self) -> dict[str, Tried]:
        tried = {name: await self._statement(name, part) for name, part in STATEMENTS.items()}
        tried |= {name: await self._bulk(part) for name, part in BULKS.items()}
        return tried | {PLANTED: await self._said("SELECT doc FROM attempt WHERE doc = $1::text", ["x"])}

    async def _statement(self, name: str, part: Statement) -> Tried:
        binding = binding_of(part)
        return await self._said(
            binding.text, binding.values(values_for(name, part.of(DIALECT)) | {"ahead": 0})
        )

    async def _bulk(self, bulk: Bulk) -> Tried:
        rows = {tuple(row_for(bulk.table, field, place) for field in bulk.fields) for place in range(20)}
        values = arrays_of(bulk.fields, sorted(rows))
        return await self._said(spell(bulk), [*values, *(1 for _field in bulk.common)])

    async def _said(self, text: str, values: Sequence[Any]) -> Tried:
        self._count += 1
        name = f"p{self._count}"
        await self._connection.execute(f"PREPARE {name} AS {text}")
        given = f"({', '.join(map(literal, values))})" if values else ""
        await self._connection.execute("BEGIN")
        try:
            answer = await self._connection.fetchval(
                f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE {name}{given}"
            )
        finally:
            await self._connection.execute("ROLLBACK")
        plan = json.loads(answer)[0]["Plan"]
        writes = plan["Node Type"] == "ModifyTable"
        hits = plan["Plans"][0]["Actual Rows"] if writes else plan["Actual Rows"]
        return Tried(_looked_at(plan), int(hits), [plan])


def _looked_at(node: dict[str, Any]) -> int:
    """Rows of tables that this part of a plan, and all below it, looked at."""
    below = sum(_looked_at(each) for each in node.get("Plans", ()))
    if node.get("Relation Name") in {None, *FEW_ROWS} or node["Node Type"] == "ModifyTable":
        return below
    rows = node["Actual Rows"] + sum(node.get(name, 0) for name in REMOVED)
    return below + int(rows * node["Actual Loops"])


def tried_on(url: str, attempts: int) -> dict[str, Tried]:
    async def trying() -> dict[str, Tried]:
        async with connection_to(schema.url) as filler:
            await filler.execute(
                script(attempts, lambda last: f"generate_series(0, {last}) AS counted (seq)")
            )
            tables = await filler.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            await filler.execute(f"ANALYZE {', '.join(row[0] for row in tables)}")  # not those of others
        connection = await connected(address_of(schema.url))
        try:
            return await Trial(connection).all()
        finally:
            await connection.close()

    schema = Schema(url)
    try:
        return asyncio.run(trying())
    finally:
        schema.drop()


@pytest.fixture(scope="module")
def tried(postgresql_url: str) -> dict[str, Tried]:
    return tried_on(postgresql_url, 20_000)


def test_few_rows_are_looked_at(tried: dict[str, Tried]) -> None:
    assert len(tried) > 400
    assert list(too_many(tried)) == [PLANTED]
    assert [name for name in BULKS if not tried[name].hits] == []  # otherwise nothing was learned of them


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_a_million_attempts_change_nothing(postgresql_url: str) -> None:
    assert list(too_many(tried_on(postgresql_url, 1_000_000))) == [PLANTED]
