"""A large database: many runs of many workflows over a month, and one run of many steps.

python -m benchmarks.large sqlite:///large.db [RUNS]

The rows are those that the store itself would write, but none of it was run: they go into the tables in bulk,
and the indexes are made afterwards.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from time import perf_counter
from typing import Any, Final

import asyncpg
import msgspec

from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.engine.records import AttemptKey, AttemptRecord, RunKey, RunRecord
from stretto.model.initiator import Ancestor, Initiator, ManualInitiator, SubworkflowInitiator
from stretto.model.properties import PropertiesSnapshot, RunStrategy, RunStrategyRule
from stretto.model.status import RunStatus, StepStatus
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.workflow import Metadata, Workflow, WorkflowVersion
from stretto.ports.places import group_of_run
from stretto.ports.rows import FirstError, Parent, Phase, RunSummary
from stretto.ports.store import Store
from stretto.ports.workflows import Found
from stretto.store.opening import module_of, open_store
from stretto.store.sql.codec import ATTEMPT, PARAMS, RUN, SUMMARY
from stretto.store.sql.rows.attempts import PUT_ATTEMPT, attempt_values
from stretto.store.sql.rows.runs import INSERT_RUN, INSERT_RUN_TAG, new_run, tag_rows
from stretto.store.sql.rows.workflows import ADD_OUTCOME, outcome_rows
from stretto.store.sql.statement import Bulk, Row
from stretto.testing.shapes import noop

RUNS: Final = 1_000_000
STEPS: Final = 10_000
WORKFLOWS: Final = 200
OWNERS: Final = 50
TAGS: Final = 20
BIG: Final = "big"
HOUR: Final = 3_600_000
MONTH: Final = 30 * 24 * HOUR
UNFINISHED: Final = 300  # the newest runs: two thirds of them go on, the others are queued
BATCH: Final = 20_000
TABLES: Final = ("run", "run_tag", "attempt", "outcome")
SUMMARIES: Final = {
    RunStatus.SUCCEEDED: RunSummary(counts={StepStatus.SUCCEEDED: 3}),
    RunStatus.FAILED: RunSummary(
        counts={StepStatus.SUCCEEDED: 1, StepStatus.FATALLY_FAILED: 1, StepStatus.NOT_CREATED: 1},
        first_error=FirstError(step_id="s1", status=StepStatus.FATALLY_FAILED, text="disk full"),
    ),
}


def workflow_of(number: int) -> str:
    return f"wf-{number % WORKFLOWS:03}"


# ------------------------------------------------------------------------------------------------------- rows
def status_of(number: int, runs: int) -> RunStatus:
    """Of a hundred ended runs three failed, and one of two hundred was stopped or took too long."""
    if number >= runs - UNFINISHED:
        return RunStatus.CREATED if number % 3 == 0 else RunStatus.IN_PROGRESS
    if number % 200 in {7, 107}:
        return RunStatus.STOPPED if number % 200 == 7 else RunStatus.TIMED_OUT
    return RunStatus.FAILED if number % 33 == 0 else RunStatus.SUCCEEDED


def record_of(number: int, runs: int, now: int) -> RunRecord:
    key = RunKey(workflow_of(number), 1 + number // WORKFLOWS, 1)
    created = now - (runs - number) * MONTH // runs
    status = status_of(number, runs)
    begun = None if status is RunStatus.CREATED else created + 5 + number % 10
    return RunRecord(
        key=key,
        uuid=f"request-{number}",
        version_id=1 + (number % 10 == 0),
        status=status,
        initiator=_initiator(number),
        correlation_id=f"correlation-{number // 5}",
        owner=f"user-{number % OWNERS}",
        tags=(Tag(name=f"tag-{number % TAGS}"),) if number % 10 == 0 else (),
        create_time=created,
        start_time=begun,
        end_time=begun + 1_000 + number % 60_000 if begun is not None and status.is_terminal else None,
    )


def _initiator(number: int) -> Initiator:
    if number % 10 != 1:
        return ManualInitiator(user=User(name=f"user-{number % OWNERS}"))
    above = Ancestor(
        workflow_id="above", instance_id=number // 10, run_id=1, step_id="sub", step_attempt_id=1
    )
    return SubworkflowInitiator(ancestors=(above,))


def run_rows(runs: int, now: int) -> Iterator[Row]:
    summaries = {status: SUMMARY.write(summary) for status, summary in SUMMARIES.items()}
    place = [field.name for field in INSERT_RUN.fields].index("summary")
    params = PARAMS.write({})
    for record, parent in records_of(runs, now):
        row = list(new_run(record, _phase(record.status), parent, (params, RUN.write(record))))
        row[place] = summaries.get(record.status)
        yield (*row, record.end_time or record.create_time)


def records_of(runs: int, now: int) -> Iterator[tuple[RunRecord, Parent | None]]:
    for number in range(runs):
        record = record_of(number, runs, now)
        yield record, _parent(number) if isinstance(record.initiator, SubworkflowInitiator) else None
    yield msgspec.structs.replace(record_of(1, runs, now), key=RunKey(BIG, 1, 1), uuid=BIG), None


def _phase(status: RunStatus) -> Phase:
    if status.is_terminal:
        return Phase.ENDED
    return Phase.QUEUED if status is RunStatus.CREATED else Phase.LIVE


def _parent(number: int) -> Parent:
    above = RunKey("above", number // 10, 1)
    return Parent(group_of_run(above), AttemptKey(above, "sub", 1))


def big_rows(steps: int, now: int) -> Iterator[Row]:
    run = RunKey(BIG, 1, 1)
    for number in range(steps):
        record = AttemptRecord(
            key=AttemptKey(run, f"s{number}", 1),
            sequence=number + 1,
            status=StepStatus.SUCCEEDED if number % 50 else StepStatus.FATALLY_FAILED,
            create_time=now + number,
            start_time=now + number,
            end_time=now + number + 900,
        )
        yield (*attempt_values(record, ATTEMPT.write(record)), now)


def counters(runs: int, now: int) -> Iterator[Row]:
    """What commits would have counted, one shard."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number in range(runs):
        status = status_of(number, runs)
        if status.is_terminal:
            at = now - (runs - number) * MONTH // runs
            for row in outcome_rows({workflow_of(number): {status: 1}}, at, 1):
                sums = found.setdefault(row[:3], [0, 0, 0, 0])
                sums[:] = (a + b for a, b in zip(sums, row[3:], strict=True))
    for key, sums in sorted(found.items()):
        yield (*key, *sums)


def tagged(runs: int, now: int) -> Iterator[Row]:
    for number in range(0, runs, 10):
        yield from tag_rows(record_of(number, runs, now))


# ------------------------------------------------------------------------------------------------ definitions
async def publish(store: Store, workflow_id: str, steps: int) -> None:
    """Two versions, of so many steps one after the other."""
    made = tuple(
        noop(f"s{number}", *([f"s{number + 1}"] if number + 1 < steps else [])) for number in range(steps)
    )
    workflow = Workflow(id=workflow_id, name=workflow_id.upper(), steps=made)
    strategy = RunStrategy(rule=RunStrategyRule.PARALLEL, workflow_concurrency=1_000)

    def decide(found: Found) -> Change[None]:
        number = 1 if found.row is None else found.row.latest_version + 1
        owner = User(name=f"user-{len(workflow_id) % OWNERS}")
        return Change(
            answer=None,
            version=WorkflowVersion(
                workflow=workflow, metadata=Metadata(workflow_id=workflow_id, workflow_version_id=number)
            ),
            properties=PropertiesSnapshot(owner=owner, run_strategy=strategy),
            activation=Activation(version_id=number, by=owner),
        )

    for _ in range(2):
        await change_workflow(store, workflow_id, decide)


# -------------------------------------------------------------------------------------------------- databases
def parts_of(runs: int, steps: int, now: int) -> list[tuple[Bulk, Iterable[Row]]]:
    return [
        (INSERT_RUN, run_rows(runs, now)),
        (INSERT_RUN_TAG, tagged(runs, now)),
        (PUT_ATTEMPT, big_rows(steps, now)),
        (ADD_OUTCOME, counters(runs, now)),
    ]


def columns_of(bulk: Bulk) -> list[str]:
    return [field.name for field in bulk.all_fields]


def fill_sqlite(path: str, parts: Sequence[tuple[Bulk, Iterable[Row]]]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        named = ", ".join(f"'{table}'" for table in TABLES)
        indexes = connection.execute(
            "SELECT name, sql FROM sqlite_master "
            f"WHERE type = 'index' AND tbl_name IN ({named}) AND sql IS NOT NULL"
        ).fetchall()
        for name, _sql in indexes:
            connection.execute(f"DROP INDEX {name}")
        connection.execute("BEGIN")
        for bulk, rows in parts:
            names = columns_of(bulk)
            places = ", ".join("?" * len(names))
            connection.executemany(f"INSERT INTO {bulk.table} ({', '.join(names)}) VALUES ({places})", rows)
        connection.execute("COMMIT")
        for _name, sql in indexes:
            connection.execute(sql)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def fill_postgresql(url: str, parts: Sequence[tuple[Bulk, Iterable[Row]]]) -> None:
    connection = await asyncpg.connect(url)
    try:
        indexes = await connection.fetch(
            "SELECT indexname, indexdef FROM pg_indexes "
            "WHERE tablename = ANY($1) AND indexname NOT LIKE '%pkey'",
            [*TABLES],
        )
        for name, _text in indexes:
            await connection.execute(f"DROP INDEX {name}")
        for bulk, rows in parts:
            left = iter(rows)
            while some := list(islice(left, BATCH)):
                await connection.copy_records_to_table(bulk.table, records=some, columns=columns_of(bulk))
        await connection.execute("SET maintenance_work_mem = '256MB'")
        for _name, text in indexes:
            await connection.execute(text)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


async def make(url: str, runs: int = RUNS, steps: int = STEPS) -> int:
    """Fill a new database; returns the time that is now in it."""
    if not url.startswith("sqlite"):
        await asyncio.to_thread(module_of(url, "upkeep").upgrade, url)
    store = await open_store(url)
    for number in range(WORKFLOWS):
        await publish(store, workflow_of(number), 3)
    await publish(store, BIG, steps)
    now = await store.now()
    await store.close()
    parts = parts_of(runs, steps, now)
    if url.startswith("sqlite"):
        await asyncio.to_thread(fill_sqlite, url.removeprefix("sqlite:///"), parts)
    else:
        await fill_postgresql(url, parts)
    return now


if __name__ == "__main__":
    began = perf_counter()
    asyncio.run(make(sys.argv[1], *map(int, sys.argv[2:])))
    print(f"filled in {perf_counter() - began:.0f} s")
