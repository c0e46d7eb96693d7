"""How fast the embedded engine is: W1 to W4 with functions that do nothing, async and sync, on each database.

python -m benchmarks embedded

A database is named by BENCH_URLS (addresses, separated by blanks); else memory and a SQLite file.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final, NamedTuple

from benchmarks.row import Row
from stretto.flow.engine import Engine
from stretto.flow.steps import step
from stretto.flow.workflow import Flow, workflow

ROUNDS: Final = 3  # after one that warms up; their median counts
CHAIN: Final = 100
WIDE: Final = 1_000
RUNS: Final = 200
ITEMS: Final = 2_000
URLS: Final = "BENCH_URLS"


# ------------------------------------------------------------------------------------------------------ flows
@step
async def nothing(number: int) -> int:
    return number


@step
def nothing_in_a_thread(number: int) -> int:
    return number


@step
async def join() -> None:
    return None


class Shapes(NamedTuple):
    """The workloads, of one kind of function."""

    chain: Flow[..., Any]
    wide: Flow[..., Any]
    short: Flow[..., Any]
    items: Flow[..., Any]


def shapes(kind: str, body: Any) -> Shapes:
    @workflow(id=f"chain_{kind}", run_strategy="parallel")
    def chain() -> int:
        last = 0
        for _ in range(CHAIN):
            last = body(last)
        return last

    @workflow(id=f"wide_{kind}", run_strategy="parallel")
    def wide() -> None:
        arms = [body(number) for number in range(WIDE)]
        join().after(*arms)  # type: ignore[attr-defined]

    @workflow(id=f"short_{kind}", run_strategy=RUNS)
    def short() -> int:
        last = 0
        for _ in range(5):
            last = body(last)
        return last

    @workflow(id=f"items_{kind}", run_strategy="parallel")
    def items(numbers: list[int]) -> None:
        body.map(numbers, concurrency=500)

    return Shapes(chain, wide, short, items)


# -------------------------------------------------------------------------------------------------- measuring
async def one(engine: Engine, flow: Flow[..., Any], **params: Any) -> float:
    begun = perf_counter()
    await engine.run(flow, **params)
    return perf_counter() - begun


async def many(engine: Engine, flow: Flow[..., Any]) -> tuple[float, list[float]]:
    """All at once; how long each took from its submit to its value."""
    begun = perf_counter()

    async def each() -> float:
        submitted = perf_counter()
        await (await engine.submit(flow)).result()
        return perf_counter() - submitted

    late = await asyncio.gather(*(each() for _ in range(RUNS)))
    return perf_counter() - begun, late


async def repeated(work: Callable[[], Awaitable[float]]) -> float:
    await work()
    return median([await work() for _ in range(ROUNDS)])


async def measured(url: str, database: str) -> list[Row]:
    rows: list[Row] = []
    for kind, body in (("async", nothing), ("sync", nothing_in_a_thread)):
        made = shapes(kind, body)
        what = f"{kind}, {database}"
        async with Engine(url) as engine:
            spent = await repeated(lambda: one(engine, made.chain))  # noqa: B023 - used at once
            rows.append(
                Row(f"W1 chain of {CHAIN}, {what}", spent / CHAIN * 1_000, "ms/step", _target(1, what), 0)
            )
            spent = await repeated(lambda: one(engine, made.wide))  # noqa: B023
            rows.append(Row(f"W2 {WIDE:,} and a join, {what}", WIDE / spent, "steps/s", _target(2, what), 0))
            await many(engine, made.short)
            found = sorted([await many(engine, made.short) for _ in range(ROUNDS)])
            spent, late = found[ROUNDS // 2]
            cuts = quantiles(late, n=100)
            rows.append(Row(f"W3 {RUNS} runs of 5, {what}", 5 * RUNS / spent, "steps/s", _target(3, what), 0))
            rows.append(Row(f"W3 submit to end, p50, {what}", cuts[49], "s", None, 0))
            rows.append(Row(f"W3 submit to end, p99, {what}", cuts[98], "s", None, 0))
            numbers = list(range(ITEMS))
            spent = await repeated(lambda: one(engine, made.items, numbers=numbers))  # noqa: B023
            rows.append(Row(f"W4 map over {ITEMS:,}, {what}", ITEMS / spent, "items/s", _target(4, what), 0))
    return rows


TARGETS: Final = {
    "async, sqlite": (0.6, 5_000, 4_000, 3_500),
    "async, postgresql": (1.0, 3_500, 2_500, 2_500),
}


def _target(number: int, what: str) -> float | None:
    found = TARGETS.get(what)
    return None if found is None else found[number - 1]


def run() -> list[Row]:
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        named = os.environ.get(URLS)
        urls = named.split() if named else ["memory:", f"sqlite:///{Path(folder) / 'bench.db'}"]
        for url in urls:
            rows += asyncio.run(measured(url, url.partition(":")[0]))
    return rows
