"""A map over a parameter of the workflow, and what it leaves as one list: how long, and how that grows.

python -m benchmarks gather
"""

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Final

from benchmarks.harness.databases import databases
from benchmarks.harness.targets import GROWTH
from benchmarks.row import Row
from stretto import Engine, step, workflow
from stretto.store.opening import module_of

ITEMS: Final = 50_000
TENTH: Final = ITEMS // 10


@step
async def double(x: int) -> int:
    return x * 2


@step
async def total(xs: list[int]) -> int:
    return sum(xs)


@workflow
def gathered(numbers: list[int]) -> int:
    return total(double.map(numbers))


async def seconds(url: str, sizes: tuple[int, ...]) -> list[float]:
    spent = []
    async with Engine(url) as engine:
        for size in sizes:
            begun = perf_counter()
            assert await engine.run(gathered, numbers=list(range(size))) == size * (size - 1)
            spent.append(perf_counter() - begun)
    return spent


def run() -> Iterator[Row]:
    with databases() as into:
        for database in ("memory", *into.kinds):
            url = into.new(database)
            if database not in {"memory", "sqlite"}:
                module_of(url, "upkeep").upgrade(url)
            _warm, small, large = asyncio.run(seconds(url, (100, TENTH, ITEMS)))
            key = f"gather/{database}"
            yield Row(
                f"map over {ITEMS:,} items, gathered; {database}", ITEMS / large, "items/s", None, 0, key=key
            )
            name = f"map over {ITEMS:,} items beside {TENTH:,}; {database}"
            factor = large / small
            yield Row(name, factor, "times", GROWTH, factor / 10, "linear time", f"{key}/growth")
