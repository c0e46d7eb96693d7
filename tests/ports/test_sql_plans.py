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
from stretto.store.sql import history, run_lists, workflows
from stretto.store.sql.paging import Listing
from stretto.store.sql.statement import Bulk, Statement, Way
from stretto.store.sqlite import dialect
from stretto.store.sqlite.transaction import POST

# 128, and as many as there are processes and functions in a program
FEW_ROWS = {"flow_group", "node", "beat", "job_function"}
SCHEMA = Path(dialect.__file__).with_name("schema.sql")
ALIASES = {"named", "new", "place", "other"}  # of values that were bound
ALIASES |= {"admitted", "to_groups", "to_nodes", "lost", "unread"}  # of rows that were found
ALIASES |= {f"recent_{place}" for place in range(history.AT_ONCE)}
SCAN = re.compile(r"^SCAN (?!json_each|\d+ CONSTANT|\(?subquery|CONSTANT)(\w+)")


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
    names = [*run_lists.CONDITIONS]
    pairs = [{"tag", "nested"}, {"owner", "status"}, {"workflow_id", "tag", "since"}]
    for asked in [*({name} for name in names if name not in {"since", "until"}), *pairs, set(names)]:
        listing = run_lists._listing(frozenset(asked))
        for place, part in enumerate(parts_of(listing)):
            yield f"runs by {'+'.join(sorted(asked))}.{place}", part
    for flags in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)):
        prefix, owner, tag = map(bool, flags)
        listing = workflows._listing(prefix=prefix, owner=owner, tag=tag)
        for place, part in enumerate(parts_of(listing)):
            yield f"workflows by {flags}.{place}", part


PARTS = dict([*constants(), *filtered_lists(), ("sqlite.post", POST)])
SORTED = {
    "outbox.WAITING.0",
    "triggers.DUE.0",
}  # of several groups; what waits is little
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


def test_the_statements_are_found() -> None:
    """The collection above would be no use if it lost its way."""
    assert len(PARTS) > 200
    assert len(PAGES) > 100
    assert {bulk.way for bulk in PARTS.values() if isinstance(bulk, Bulk)} == set(Way)
