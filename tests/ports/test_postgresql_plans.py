"""Every statement can be prepared on PostgreSQL, and none of them looks through a whole table that grows."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.ports.postgresql_bench import Schema
from tests.ports.postgresql_rows import fill
from tests.ports.test_sql_plans import FEW_ROWS, LIVE_VIEWS, PARTS, SORTED

from stretto.store.postgresql.address import address_of
from stretto.store.postgresql.at_once import LEASE, parts_of, spelled
from stretto.store.postgresql.binding import binding_of
from stretto.store.postgresql.connecting import connected
from stretto.store.postgresql.dialect import spell, width
from stretto.store.postgresql.transaction import POST
from stretto.store.sql.at_once import EXPECTED, TAKEN, AtOnce
from stretto.store.sql.statement import Bulk, Statement

STATEMENTS = {name: part for name, part in PARTS.items() if not name.startswith("sqlite")} | {"post": POST}
AT_ONCE = "a commit at once"
PAGES = [
    name
    for name, part in STATEMENTS.items()
    if isinstance(part, Statement) and "LIMIT" in binding_of(part).text
]
# Few rows are found, whatever their order: of one digest, of dead nodes, of who holds permits of one tag.
FEW_FOUND = SORTED | {
    "outbox.SAME.0",
    "retention.OLD_NODES.0",
    "retention.BY_AGE.2",  # the same
    "granting.FIRST_HOLDERS_LIMIT.0",
    *(f"runs by uuid.{place}" for place in range(6)),  # a request id has a run or two
    # An initiator is looked for in what the other filters leave.
    *(f"runs by initiator+version_id+workflow_id.{place}" for place in range(6)),
    *(f"runs by initiator+nested+since+until.{place}" for place in range(6)),
}
Node = dict[str, Any]
Plans = dict[str, list[Node]]
SCANS = {"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan"}


@pytest.fixture(scope="module")
def empty(postgresql_url: str) -> Iterator[Plans]:
    """The plans that connections of a store make while there are no rows: they must be of use later, too."""
    schema = Schema(postgresql_url)
    yield asyncio.run(_plans(schema.url))
    schema.drop()


@pytest.fixture(scope="module")
def filled(postgresql_url: str) -> Iterator[Plans]:
    """The same with some thousand rows in each table."""
    schema = Schema(postgresql_url)
    asyncio.run(fill(schema.url, 3_000, 20_000))
    yield asyncio.run(_plans(schema.url))
    schema.drop()


async def _plans(url: str) -> Plans:
    found = {}
    connection = await connected(address_of(url))
    try:
        for number, (name, part) in enumerate(STATEMENTS.items()):
            text, count = _text(part)
            await connection.execute(f"PREPARE p{number} AS {text}")
            values = f"({', '.join(['NULL'] * count)})" if count else ""
            answer = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE p{number}{values}")
            found[name] = list(_nodes(json.loads(answer)[0]["Plan"]))
        bulks = [bulk for bulk, _rows in parts_of(AtOnce(*([] for _ in AtOnce._fields)))]
        await connection.execute(f"PREPARE at_once AS {spelled(bulks, takes=True)}")
        count = len(LEASE) + len(EXPECTED) + 2 + len(TAKEN) + sum(len(bulk.fields) for bulk in bulks)
        values = ", ".join(["NULL"] * count)
        answer = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE at_once({values})")
        found[AT_ONCE] = list(_nodes(json.loads(answer)[0]["Plan"]))
    finally:
        await connection.close()
    return found


def _text(part: Statement | Bulk) -> tuple[str, int]:
    if isinstance(part, Statement):
        binding = binding_of(part)
        return binding.text, len(binding.slots)
    return spell(part), width(part)


def _nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)


def shown(nodes: list[Node]) -> str:
    keys = ("Node Type", "Relation Name", "Index Name", "Index Cond", "Recheck Cond", "Filter", "Sort Key")
    return "\n".join(str({key: node[key] for key in keys if key in node}) for node in nodes)


def whole_tables(nodes: list[Node]) -> list[Node]:
    """Where a plan goes through all rows of a table that grows."""
    scans = [node for node in nodes if node["Node Type"] in SCANS and node["Relation Name"] not in FEW_ROWS]
    return [node for node in scans if not {"Index Cond", "Recheck Cond"} & node.keys()]


def several_filters(name: str) -> bool:
    """A list of runs with a tag and something else: whichever of them has fewer is read, and sorted."""
    return name.startswith("runs by") and "tag+" in name


@pytest.mark.parametrize("name", [*STATEMENTS, AT_ONCE])
def test_an_index_is_used(name: str, empty: Plans, filled: Plans) -> None:
    for nodes in (empty[name], filled[name]):
        whole = whole_tables(nodes)
        # A list from its beginning walks along a key, and stops where the page ends.
        walks = name in PAGES and all("Index Name" in node for node in whole)
        assert not whole or walks, shown(nodes)


@pytest.mark.parametrize(
    "name", [name for name in PAGES if name not in FEW_FOUND and not several_filters(name)]
)
def test_no_page_is_sorted(name: str, filled: Plans) -> None:
    """Only what has the same place in the index is (an incremental sort); that ends with the page, too. What
    a page was made into afterwards may be.
    """
    kinds = [node["Node Type"] for node in filled[name]]
    assert "Sort" not in kinds[kinds.index("Limit") :], shown(filled[name])


@pytest.mark.parametrize("name", LIVE_VIEWS)
def test_live_views_read_what_they_show(name: str, filled: Plans) -> None:
    nodes = [node for node in filled[name] if node.get("Relation Name") in {"run", "attempt"}]
    assert nodes
    for node in nodes:
        condition = node.get("Index Cond") or node.get("Recheck Cond") or ""
        assert all(column in condition for column in LIVE_VIEWS[name]), shown(filled[name])


def test_the_statements_are_found() -> None:
    assert len(STATEMENTS) > 200
    assert len(PAGES) > 100
