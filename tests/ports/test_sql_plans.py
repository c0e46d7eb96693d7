"""Every statement can be prepared, and none of them looks through a whole table that grows."""

import re
import sqlite3
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

from stretto.store import sql
from stretto.store.sql import run_lists, views, workflow_lists
from stretto.store.sql.paging import Listing
from stretto.store.sql.statement import Bulk, Statement, Way
from stretto.store.sqlite import dialect
from stretto.store.sqlite.transaction import POST

# 128, and as many as there are processes and functions in a program
FEW_ROWS = {"flow_group", "node", "beat", "advertisement", "job_function"}
SCHEMA = Path(dialect.__file__).with_name("schema.sql")
ALIASES = {"named", "new", "place", "other"}  # of values that were bound
ALIASES |= {"admitted", "to_groups", "to_nodes", "lost", "unread", "seen"}  # of rows that were found
ALIASES |= {f"recent_{place}" for place in range(views.AT_ONCE)}
SCAN = re.compile(r"^SCAN (?!json_each|\d+ CONSTANT|\(?subquery|CONSTANT)(\w+)")
RUN_FILTERS = [
    *({name} for name in (*run_lists.LEADING, "nested")),
    {"tag", "nested"},
    {"owner", "status"},
    {"workflow_id", "tag", "since"},
    {"workflow_id", "version_id", "initiator"},
    {"initiator", "nested", "since", "until"},
    {"parent", "parent_step"},
    {"parent", "parent_step", "parent_attempt", "since"},
    set(run_lists.CONDITIONS),
]
WORKFLOW_FILTERS = [
    *(({name}, 0) for name in ("prefix", "owner", *workflow_lists.CONDITIONS)),
    (set(), 0),
    (set(), 1),
    ({"tag", "owner", "active", "has_run", "has_failed", "prefix"}, 3),
]
BELOW_A_RUN = {  # what a run has started: no more than it has steps
    f"runs by {'+'.join(sorted(asked))}.{place}"
    for asked in RUN_FILTERS
    if "parent" in asked
    for place in range(8)
}


def parts_of(value: Any) -> Iterator[Any]:
    """Statements and bulks that a constant holds."""
    match value:
        case Statement() | Bulk():
            yield value
        case Listing():
            yield from value._statements.values()
            yield from value._others.values()
        case tuple() | list():
            for each in value:
                yield from parts_of(each)
        case dict():
            yield from parts_of(list(value.values()))
        case _:
            return


def constants() -> Iterator[tuple[str, Any]]:
    for info in walk_packages(sql.__path__, "stretto.store.sql."):
        if ".schema" in info.name or ".migra" in info.name:
            continue
        module = import_module(info.name)
        for name, value in vars(module).items():
            if name.isupper():
                for place, part in enumerate(parts_of(value)):
                    yield f"{info.name.removeprefix('stretto.store.sql.')}.{name}.{place}", part


def filtered_lists() -> Iterator[tuple[str, Any]]:
    """Lists whose statements depend on what is asked for: each filter alone, and all of them."""
    for asked in RUN_FILTERS:
        listing = run_lists._listing(frozenset(asked))
        walks = [run_lists.counting(frozenset(asked)), run_lists.spreading(frozenset(asked))]
        for place, part in enumerate([*parts_of(listing), *walks]):
            yield f"runs by {'+'.join(sorted(asked))}.{place}", part
    for asked, words in WORKFLOW_FILTERS:
        listing = workflow_lists.listing(frozenset(asked), words)
        for place, part in enumerate(parts_of(listing)):
            yield f"workflows by {'+'.join(sorted(asked))}{words}.{place}", part


PARTS = dict([*constants(), *filtered_lists(), ("sqlite.post", POST)])
SORTED = {
    "admitting.SOME_RUNNING.0",  # of two phases: no more run at once than the concurrency allows
    "outbox.WAITING.0",  # of several groups; what waits is little
    "triggers.DUE.0",
    *(f"history.LONGEST.{place}" for place in range(6)),  # of one loop, and not of many iterations
} | BELOW_A_RUN
PAGES = [
    name
    for name, part in PARTS.items()
    if isinstance(part, Statement) and part.of(dialect.DIALECT).endswith("LIMIT :most")
]


class Anything(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return None


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    made.executescript(SCHEMA.read_text(encoding="utf-8"))
    yield made
    made.close()


def plan_of(connection: sqlite3.Connection, part: Statement | Bulk) -> list[str]:
    if isinstance(part, Statement):
        rows = connection.execute(f"EXPLAIN QUERY PLAN {part.of(dialect.DIALECT)}", Anything())
    else:
        text = dialect.spell(part, 2)
        rows = connection.execute(f"EXPLAIN QUERY PLAN {text}", [None] * text.count("?"))
    return [row[3] for row in rows]


@pytest.mark.parametrize("name", PARTS)
def test_an_index_is_used(name: str, connection: sqlite3.Connection) -> None:
    plan = plan_of(connection, PARTS[name])
    scanned = {match[1] for line in plan if (match := SCAN.match(line))} - FEW_ROWS - ALIASES
    # A list from its beginning walks along a key, and stops where the page ends.
    walks = name in PAGES and not any(line.startswith("USE TEMP B-TREE FOR ORDER") for line in plan)
    assert not scanned or walks, "\n".join(plan)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in SORTED])
def test_no_page_is_sorted(name: str, connection: sqlite3.Connection) -> None:
    """Only what has the same place in the index is; that ends with the page, too."""
    plan = plan_of(connection, PARTS[name])
    assert not [line for line in plan if line == "USE TEMP B-TREE FOR ORDER BY"], "\n".join(plan)


BY_RUN = ("workflow_id", "instance_id", "run_id")
# What live views read, and how far into a key each statement goes: state, grid, tree, stats, map.
LIVE_VIEWS = {
    "history.STATES.0": BY_RUN,
    "views.COUNTED.0": BY_RUN,
    "views.STEP_TIMES.0": BY_RUN,
    "views.GLANCES.0": BY_RUN,
    "views.GLANCES_OF.2": BY_RUN,
    "views.INSTANCES.0": ("workflow_id", "instance_id"),
    "views.ENDED.0": ("workflow_id", "ended_at"),
    "views.RUN_IN_BUCKETS.0": ("workflow_id",),
    "views.ALL_IN_BUCKETS.0": ("workflow_id",),
}


@pytest.mark.parametrize("name", LIVE_VIEWS)
def test_live_views_read_what_they_show(name: str, connection: sqlite3.Connection) -> None:
    lines = [line for line in plan_of(connection, PARTS[name]) if "json_each" not in line]
    found = [line for line in lines if line.startswith(("SEARCH run ", "SEARCH attempt "))]
    assert found, lines
    for line in found:
        assert all(column in line.partition("(")[2] for column in LIVE_VIEWS[name]), line
    assert not [line for line in lines if line.startswith("SCAN")]
    assert ("COVERING INDEX run_status" in found[0]) is name.endswith("IN_BUCKETS.0")


def test_the_statements_are_found() -> None:
    """The collection above would be no use if it lost its way."""
    assert len(PARTS) > 200
    assert len(PAGES) > 100
    assert {bulk.way for bulk in PARTS.values() if isinstance(bulk, Bulk)} == set(Way)
