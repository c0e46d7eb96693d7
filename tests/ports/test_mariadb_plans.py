"""Every statement runs on MariaDB, and none of them looks at many more rows than it finds."""

import asyncio
import re

import pytest
from tests.ports.many_rows import BULKS, STATEMENTS, Tried, row_for, script, too_many, values_for
from tests.ports.mariadb_bench import Database, run
from tests.ports.postgresql_server import with_query
from tests.ports.test_sql_plans import FEW_ROWS, PAGES, SORTED

from stretto.store.mariadb.address import address_of
from stretto.store.mariadb.connecting import Connection, collation_of, connected
from stretto.store.mariadb.dialect import MariadbDialect
from stretto.store.mariadb.indexes import WALKS
from stretto.store.mariadb.spelling import Spelling
from stretto.store.mariadb.transaction import MariadbTransaction, Words
from stretto.store.sql.statement import Bulk, Statement

# MariaDB can not walk backwards from one name to the next: it collects them.
DISTINCT = {"permits.USED.2", "permits.USED.3", "signals.WAITED_FOR.2", "signals.WAITED_FOR.3"}
DIALECT = MariadbDialect("utf8mb4_nopad_bin")
COUNTED = "run, attempt, outbox, work, permit, workflow, run_tag, signal_instance, signal_wait, change_log"


async def reads_of(connection: Connection) -> int:
    """Rows, and entries of an index that were looked at without going on to the row."""
    rows = (await connection.execute("SHOW SESSION STATUS LIKE 'Handler_%%'")).rows
    counts = {name: int(count) for name, count in rows}
    passed_over = counts["Handler_icp_attempts"] - counts["Handler_icp_match"]
    return passed_over + sum(count for name, count in counts.items() if name.startswith("Handler_read"))


class Trial:
    """Statements on one connection, each taken back."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._words = Words(Spelling(MariadbDialect(collation_of(connection.server))))
        self._tx = MariadbTransaction(connection, self._words, lambda: 0)

    async def all(self) -> dict[str, Tried]:
        await reads_of(self._connection)
        tried = {name: await self._statement(name, part) for name, part in STATEMENTS.items()}
        return tried | {name: await self._bulk(part) for name, part in BULKS.items()}

    async def _statement(self, name: str, part: Statement) -> Tried:
        text, bound = self._words.spelling.of(part, values_for(name, part.of(DIALECT)))
        plan = list((await self._connection.execute(f"EXPLAIN {text}", bound)).rows)
        await self._connection.say("START TRANSACTION")
        reads = await self._overhead()
        answer = await self._connection.execute(text, bound)
        reads = await reads_of(self._connection) - reads
        await self._connection.say("ROLLBACK")
        return Tried(reads, answer.hits, plan)

    async def _bulk(self, bulk: Bulk) -> Tried:
        rows = sorted(
            {tuple(row_for(bulk.table, field, place) for field in bulk.fields) for place in range(20)}
        )
        common = {field.name: 1 for field in bulk.common}
        await self._connection.say("START TRANSACTION")
        await self._tx.bulk(bulk, rows, **common)  # the first time, it asks which columns there are
        await self._connection.say("ROLLBACK; START TRANSACTION")
        reads = await self._overhead()
        hits = await self._tx.bulk(bulk, rows, **common)
        reads = await reads_of(self._connection) - reads
        await self._connection.say("ROLLBACK")
        return Tried(reads, hits, [])

    async def _overhead(self) -> int:
        """To ask is to read, too."""
        first = await reads_of(self._connection)
        second = await reads_of(self._connection)
        return second + (second - first)


def _fill(url: str, attempts: int) -> None:
    """And counted by the server when it is done."""
    patient = with_query(url, statement_within="3600000")
    run(patient, script(attempts, lambda last: f"seq_0_to_{last}", mariadb=True))
    run(patient, f"ANALYZE TABLE {COUNTED}")


def tried_on(url: str, attempts: int) -> dict[str, Tried]:
    async def trying() -> dict[str, Tried]:
        connection = await connected(address_of(url))
        try:
            return await Trial(connection).all()
        finally:
            await connection.close()

    database = Database(url)
    try:
        _fill(database.url, attempts)
        url = database.url
        return asyncio.run(trying())
    finally:
        database.drop()


@pytest.fixture(scope="module")
def tried(mariadb_url: str) -> dict[str, Tried]:
    return tried_on(mariadb_url, 20_000)


def test_few_rows_are_looked_at(tried: dict[str, Tried]) -> None:
    assert len(tried) > 400
    assert too_many(tried) == {}
    assert [name for name in BULKS if not tried[name].hits] == []  # otherwise nothing was learned of them


def test_an_index_is_used(tried: dict[str, Tried]) -> None:
    whole = {
        (name, row[2])
        for name, each in tried.items()
        for row in each.plan
        if row[3] == "ALL" and "json_table" not in (row[9] or "") and row[2] not in FEW_ROWS
        if not row[2].startswith("<derived")  # what was found
    }
    assert whole == set()


def test_no_page_is_sorted(tried: dict[str, Tried]) -> None:
    pages = [name for name in PAGES if name not in SORTED | DISTINCT]
    assert [name for name in pages if any("filesort" in (row[9] or "") for row in tried[name].plan)] == []


def test_each_choice_of_an_index_is_of_use() -> None:
    texts = [part.of(DIALECT) for part in STATEMENTS.values()]
    assert [pattern for pattern, _index in WALKS if not any(re.search(pattern, text) for text in texts)] == []


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_a_million_attempts_change_nothing(mariadb_url: str) -> None:
    assert too_many(tried_on(mariadb_url, 1_000_000)) == {}
