"""Every statement runs on MariaDB, and none of them looks at many more rows than it finds."""

import asyncio
import re
from typing import Any, NamedTuple

import pytest
from tests.ports.mariadb_bench import Database
from tests.ports.mariadb_rows import EPOCH, fill
from tests.ports.test_sql_plans import FEW_ROWS, PAGES, PARTS, SORTED

from stretto.store.mariadb.address import address_of
from stretto.store.mariadb.connecting import Connection, collation_of, connected
from stretto.store.mariadb.dialect import MariadbDialect
from stretto.store.mariadb.indexes import WALKS
from stretto.store.mariadb.spelling import Spelling, cut
from stretto.store.mariadb.transaction import MariadbTransaction, Words
from stretto.store.sql.statement import INT, Bulk, Field, Statement, Way

PAGE = 50
RUNS = [("wf-7", number, 1) for number in range(3, 20)]
ATTEMPTS = [(*run, "step-1", 1) for run in RUNS]
VALUES: dict[str, Any] = {
    "above": 3,
    "after": "wf-3",
    "at": EPOCH + 500,
    "attempt_no": 1,
    "attempts": ATTEMPTS,
    "before": EPOCH + 500,
    "correlation_id": "corr-7",
    "create_time": EPOCH,
    "digest": "digest-3",
    "first": "maestro",
    "group": 5,
    "group_id": 5,
    "groups": [*range(32)],
    "id": 77,
    "ids": [*range(100, 140)],
    "instance_id": 5,
    "instances": [*range(1, 20)],
    "job_type": "type-7",
    "keys": [(*run, "attempt", "step-1", 1) for run in RUNS],
    "kind": "log",
    "last": "maestrp",
    "listed_at": EPOCH + 900,
    "loops": [("maestro_foreach_1", 1)],
    "most": PAGE,
    "name": "signal-3",
    "names": [f"signal-{number}" for number in range(10)],
    "node": "node-1",
    "node_id": "node-1",
    "now": EPOCH + 10,
    "owner": "user-3",
    "part": "attempt",
    "places": [(group, 3) for group in range(32)],
    "pool": "pool-1",
    "prefix": "wf-1",
    "prefix_end": "wf-2",
    "ref": "r77",
    "request_id": "uuid-7",
    "run_id": 1,
    "runs": RUNS,
    "seq": 3,
    "since": EPOCH,
    "sink": "sink-1",
    "status": "SUCCEEDED",
    "step_id": "step-1",
    "tag": "tag-3",
    "tags": [f"tag-{number}" for number in range(10)],
    "trigger_id": "trigger-7",
    "until": EPOCH + 1_000_000_000,
    "uuid": "uuid-7",
    "version": "v1",
    "workflow_end": "wf-7z",
    "workflow_id": "wf-7",
    "workflow_ids": [f"wf-{number}" for number in range(10)],
}
SPECIAL: dict[str, dict[str, Any]] = {
    "admitting.KNOWN.0": {"ids": [f"uuid-{number}" for number in range(7, 2_000, 100)]},
    "outbox.SAME.0": {"digest": 77},
    "pruning.NAMED.0": {"digest": 77},
    "pruning.NAMED.1": {"digest": 77},
    "retention.OLDEST.0": {"last": 5},
}
# What these look at is what they were asked about: they count it, or nothing of it is what is wanted.
ALL_OF_IT = {
    "loading.ENDED.0",
    "outbox.LOST.0",
    "permits.USED.2",
    "permits.WAITED_FOR.0",
    "retention.PRUNABLE.0",
    "signals.WAIT_COUNTS.0",
    "triggers.NEXT_DUE.0",
    "triggers.NEXT_FIRES.0",
    *(f"runs by since+tag+workflow_id.{place}" for place in range(6)),
}
# MariaDB can not walk backwards from one name to the next: it collects them.
DISTINCT = {"permits.USED.2", "permits.USED.3", "signals.WAITED_FOR.2", "signals.WAITED_FOR.3"}
CUT = re.compile(r"([\w.]+) [<>=]+ :(cut_\d)")
DIALECT = MariadbDialect("utf8mb4_nopad_bin")
STATEMENTS = {
    name: part
    for name, part in PARTS.items()
    if isinstance(part, Statement) and not part.of(DIALECT).startswith("INSERT")
}
BULKS = {
    name: part
    for name, part in PARTS.items()
    if isinstance(part, Bulk) and part.way in {Way.UPDATE, Way.DELETE}
}


class Tried(NamedTuple):
    """What a statement did: rows that it looked at, rows that it found or changed, and its plan."""

    reads: int
    hits: int
    plan: list[Any]


def values_for(name: str, text: str) -> dict[str, Any]:
    cuts = {cut_name: VALUES.get(column.rpartition(".")[2], 5) for column, cut_name in CUT.findall(text)}
    missing = dict.fromkeys(cut(text).names, 0)
    return {**missing, **VALUES, **cuts, **SPECIAL.get(name, {})}


def row_for(table: str, field: Field, place: int) -> Any:
    """A value of a row that is there: see `mariadb_rows.sql`."""
    match table, field.name:
        case _, "hour":
            return EPOCH + 3_600_000 * place
        case "permit", "tag":
            return f"tag-{10 * (VALUES['instance_id'] - 1 + place)}"
        case "properties", "create_time":
            return place
        case "breakpoint", "step_id":
            return f"step-{place}"
        case "breakpoint", "version_id" | "instance_id" | "run_id" | "attempt_no":
            return 0
        case _, "id" | "instance_id" | "seq" | "place" | "version_id":
            return VALUES.get(field.name, 1) + place
        case _:
            return VALUES.get(field.name, 0 if field.kind is INT else "x")


async def reads_of(connection: Connection) -> int:
    rows = (await connection.execute("SHOW SESSION STATUS LIKE 'Handler_read%%'")).rows
    return sum(int(row[1]) for row in rows)


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


def tried_on(url: str, attempts: int) -> dict[str, Tried]:
    async def trying() -> dict[str, Tried]:
        connection = await connected(address_of(url))
        try:
            return await Trial(connection).all()
        finally:
            await connection.close()

    database = Database(url)
    try:
        fill(database.url, attempts)
        url = database.url
        return asyncio.run(trying())
    finally:
        database.drop()


@pytest.fixture(scope="module")
def tried(mariadb_url: str) -> dict[str, Tried]:
    return tried_on(mariadb_url, 20_000)


def too_many(tried: dict[str, Tried]) -> dict[str, Tried]:
    """What looked at many more rows than it found."""
    return {
        name: each
        for name, each in tried.items()
        if each.reads > 12 * PAGE + 6 * each.hits and name not in ALL_OF_IT
    }


def test_few_rows_are_looked_at(tried: dict[str, Tried]) -> None:
    assert len(tried) > 400
    assert too_many(tried) == {}
    assert [name for name in BULKS if not tried[name].hits] == []  # otherwise nothing was learned of them


def test_an_index_is_used(tried: dict[str, Tried]) -> None:
    whole = {
        (name, row[2])
        for name, each in tried.items()
        for row in each.plan
        if row[3] == "ALL" and "json_table" not in row[9] and row[2] not in FEW_ROWS
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
