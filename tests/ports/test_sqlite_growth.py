"""Every statement runs on SQLite, and none of them looks at many more rows than it finds."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.ports.many_rows import ALL_OF_IT, BULKS, STATEMENTS, Tried, row_for, script, too_many, values_for
from tests.ports.test_sql_plans import SCHEMA

from stretto.store.sql.statement import Bulk, Statement
from stretto.store.sqlite.dialect import DIALECT
from stretto.store.sqlite.transaction import SqliteTransaction, driven

PLANTED = "a planted one"
STEPS_PER_ROW = 20  # of SQLite's machine, to look at a row


def numbers(last: int) -> str:
    more = f"UNION ALL SELECT seq + 1 FROM counted WHERE seq < {last}"  # noqa: S608 - a number of ours
    return f"(WITH RECURSIVE counted (seq) AS (SELECT 0 {more}) SELECT seq FROM counted)"  # noqa: S608 - the same


class Trial:
    """Statements on one connection, each taken back."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tx = SqliteTransaction(connection, lambda: values_for("", "")["now"])
        self._steps = 0

    def all(self) -> dict[str, Tried]:
        self._connection.set_progress_handler(self._note, 10)
        tried = {name: self._statement(name, part) for name, part in STATEMENTS.items()}
        tried |= {name: self._bulk(part) for name, part in BULKS.items()}
        return tried | {PLANTED: self._statement("", Statement("SELECT doc FROM attempt WHERE doc = 'x'"))}

    def _note(self) -> None:
        self._steps += 10

    def _statement(self, name: str, part: Statement) -> Tried:
        values = values_for(name, part.of(DIALECT))
        self._begin()
        if part.of(DIALECT).startswith("SELECT"):
            hits = len(driven(self._tx.all(part, **values)))
        else:
            hits = driven(self._tx.run(part, **values))
        return self._taken_back(hits)

    def _bulk(self, bulk: Bulk) -> Tried:
        rows = {tuple(row_for(bulk.table, field, place) for field in bulk.fields) for place in range(20)}
        self._begin()
        hits = driven(self._tx.bulk(bulk, sorted(rows), **{field.name: 1 for field in bulk.common}))
        return self._taken_back(hits)

    def _begin(self) -> None:
        self._connection.execute("BEGIN")
        self._steps = 0

    def _taken_back(self, hits: int) -> Tried:
        reads = self._steps // STEPS_PER_ROW
        self._connection.execute("ROLLBACK")
        return Tried(reads, hits, [])


def tried_on(path: Path, attempts: int) -> dict[str, Tried]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.create_function("CONCAT", -1, lambda *parts: "".join(map(str, parts)), deterministic=True)
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        connection.executescript(f"BEGIN; {script(attempts, numbers)}; COMMIT")
        return Trial(connection).all()


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tried]:
    return tried_on(tmp_path_factory.mktemp("growth") / "some.db", 20_000)


def test_few_rows_are_looked_at(tried: dict[str, Tried]) -> None:
    assert len(tried) > 400
    assert list(too_many(tried)) == [PLANTED]
    assert [name for name in BULKS if not tried[name].hits] == []  # otherwise nothing was learned of them


def test_one_that_looks_through_a_table_would_be_found_out(tried: dict[str, Tried]) -> None:
    assert tried[PLANTED].hits == 0
    assert list(too_many({"x": tried[PLANTED]})) == ["x"]
    assert tried.keys() >= ALL_OF_IT


@pytest.mark.prove
@pytest.mark.timeout(0)
def test_a_million_attempts_change_nothing(tmp_path: Path) -> None:
    assert list(too_many(tried_on(tmp_path / "many.db", 1_000_000))) == [PLANTED]
