"""Prefect with a server on PostgreSQL: flows in this process, `submit` and `map` on its thread pool."""

import asyncio
from importlib.metadata import version
from time import perf_counter

from server import served, settle

HEALTH = settle()

from benchmarks.harness.protocol import Answer, serve  # noqa: E402 - the settings come first
from prefect import flow, task  # noqa: E402


@task
def nothing(number: int) -> int:
    return number


@task
def join(numbers: list[int]) -> int:
    return len(numbers)


@task
async def nothing_async(number: int) -> int:
    return number


@flow
def chain(length: int) -> int:
    last = 0
    for _ in range(length):
        last = nothing(last)
    return last


@flow
def wide(width: int) -> int:
    return join.submit([nothing.submit(number) for number in range(width)]).result()


@flow
async def short() -> int:
    last = 0
    for _ in range(5):
        last = await nothing_async(last)
    return last


@flow
def items(numbers: list[int]) -> list[int]:
    return nothing.map(numbers).result()


def chains(length: int) -> Answer:
    begun = perf_counter()
    chain(length)
    return {"seconds": perf_counter() - begun}


def fan_out(width: int) -> Answer:
    begun = perf_counter()
    wide(width)
    return {"seconds": perf_counter() - begun}


def runs(count: int) -> Answer:
    async def each() -> float:
        submitted = perf_counter()
        await short()
        return perf_counter() - submitted

    async def all_of_them() -> list[float]:
        return await asyncio.gather(*(each() for _ in range(count)))

    begun = perf_counter()
    late = asyncio.run(all_of_them())
    return {"seconds": perf_counter() - begun, "late": late}


def loop(count: int) -> Answer:
    begun = perf_counter()
    items(list(range(count)))
    return {"seconds": perf_counter() - begun}


if __name__ == "__main__":
    with served(HEALTH) as ready:
        work = {"W1": chains, "W2": fan_out, "W3": runs, "W4": loop}
        serve(work, version=version("prefect"), server_ready=ready)
