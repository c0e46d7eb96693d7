"""What lists and overviews take in a large database, through the actions that answer requests.

python -m benchmarks reads

BENCH_RUNS says how many runs there are, a million by default.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.harness.databases import databases
from benchmarks.harness.targets import GRAPH, GRID, LIST, OVERVIEW
from benchmarks.large import BIG, MONTH, RUNS, STEPS, make
from benchmarks.row import Row
from stretto.actions.caller import Caller
from stretto.actions.reading.all_runs import RunExtra, get_run_histogram, list_all_runs
from stretto.actions.reading.all_workflows import Extra, hour_of, list_workflows
from stretto.actions.reading.grids import get_grid
from stretto.actions.reading.overview import get_overview
from stretto.actions.reading.run_filters import RunSort
from stretto.actions.reading.search import search
from stretto.actions.reading.states import get_state
from stretto.actions.reading.windows import DAY
from stretto.actions.reading.workflows import get_graph
from stretto.engine.records import RunKey
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.model.user import User
from stretto.node.clock import SystemClock
from stretto.ports.history import Above, RunFilter
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowFilter
from stretto.store.opening import open_store

ANN: Final = Caller(user=User(name="ann"))
PAGE: Final = PageRequest(first=50)
TIMES: Final = 15
MOST: Final = int(os.environ.get("BENCH_RUNS", RUNS))
Read = Callable[[], Awaitable[Any]]


def filters(now: int) -> dict[str, RunFilter]:
    """Each filter of the list of runs, alone or with what it needs."""
    return {
        "all": RunFilter(),
        "failed": RunFilter(statuses=[RunStatus.FAILED]),
        "running or queued": RunFilter(statuses=[RunStatus.IN_PROGRESS, RunStatus.CREATED]),
        "an hour of the month": RunFilter(since=now - MONTH // 2, until=now - MONTH // 2 + DAY // 24),
        "a workflow": RunFilter(workflow_id="wf-007"),
        "a version": RunFilter(workflow_id="wf-010", version_id=2),
        "an owner": RunFilter(owner="user-7"),
        "an owner, failed": RunFilter(owner="user-0", statuses=[RunStatus.FAILED]),
        "a tag": RunFilter(tag="tag-10"),
        "a tag, failed": RunFilter(tag="tag-10", statuses=[RunStatus.FAILED]),
        "a correlation id": RunFilter(correlation_id=f"correlation-{MOST // 10}"),
        "a request id": RunFilter(uuid=f"request-{MOST // 2}"),
        "a parent": RunFilter(parent=Above(run=RunKey("above", MOST // 20, 1))),
        "an initiator in a day": RunFilter(initiator="SUBWORKFLOW", since=now - DAY),
        "roots": RunFilter(roots=True),
    }


def reads(store: Store, now: int) -> Iterator[tuple[str, float, Read]]:
    """What is read, and in how many milliseconds it should be."""
    for name, wanted in filters(now).items():
        yield f"runs: {name}", LIST, partial(list_all_runs, store, ANN, wanted, PAGE)
    every, failed = RunFilter(), RunFilter(owner="user-0", statuses=[RunStatus.FAILED])
    count = [RunExtra.COUNT]
    yield "runs: oldest first", LIST, lambda: list_all_runs(store, ANN, every, PAGE, sort=RunSort.OLDEST)
    yield "runs: counted", LIST, lambda: list_all_runs(store, ANN, every, PAGE, include=count)
    yield "runs: counted, two filters", LIST, lambda: list_all_runs(store, ANN, failed, PAGE, include=count)
    yield "histogram of a day", LIST, lambda: get_run_histogram(store, ANN, RunFilter(), (now - DAY, now), 48)
    span = (now - MONTH, now)
    yield "histogram of a month", LIST, lambda: get_run_histogram(store, ANN, RunFilter(), span, 48)
    since = hour_of(now - DAY)
    yield (
        "workflows with all that rows carry",
        LIST,
        lambda: list_workflows(store, ANN, WorkflowFilter(), PAGE, include=list(Extra), since=since),
    )
    has = WorkflowFilter(has=RunStatus.FAILED, since=since)
    yield "workflows that failed in a day", LIST, lambda: list_workflows(store, ANN, has, PAGE)
    yield "search: an address", LIST, lambda: search(store, ANN, "wf-007/77/1")
    yield "search: words", LIST, lambda: search(store, ANN, "wf 07")
    yield "overview of a day", OVERVIEW, lambda: get_overview(store, ANN, SystemClock(), DAY)
    yield f"graph of {STEPS:,} steps", GRAPH, lambda: get_graph(store, ANN, BIG, "1")
    yield f"state of {STEPS:,} steps", LIST, lambda: get_state(store, ANN, BIG, 1, "1")
    yield f"grid of a run of {STEPS:,} steps", GRID, lambda: get_grid(store, ANN, BIG)
    yield "grid of 25 runs", GRID, lambda: get_grid(store, ANN, "wf-007")
    yield "overview of a month", OVERVIEW, lambda: get_overview(store, ANN, SystemClock(), MONTH)


async def measured(read: Read) -> float:
    """Milliseconds in the middle, warm."""
    await read()
    spent = []
    for _ in range(TIMES):
        began = perf_counter()
        await read()
        spent.append((perf_counter() - began) * 1_000)
    return median(spent)


async def rows_of(url: str, database: str) -> list[Row]:
    now = await make(url, MOST)
    store = await open_store(url)
    try:
        return [
            Row(
                f"{name}; {MOST:,} runs, {database}",
                await measured(read),
                "ms",
                target,
                0,
                key=f"{name}/{database}",
            )
            for name, target, read in reads(store, now)
        ]
    finally:
        await store.close()


def run() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            yield from asyncio.run(rows_of(into.new(database), database))
