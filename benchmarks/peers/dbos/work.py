"""DBOS: durable workflows in a library. Of its ways, for each workload the one that was fastest here: plain
functions for a chain, coroutines for what runs at once, no more of them than its pool has connections.
"""

import asyncio
import os
from collections.abc import Iterable
from importlib.metadata import version
from time import perf_counter

from benchmarks.harness.protocol import Answer, serve_async
from dbos import DBOS, WorkflowHandleAsync

BEGUN: list[float] = []
AT_ONCE = 20


@DBOS.step()
async def nothing(number: int) -> int:
    return number


@DBOS.step()
async def join() -> None:
    return None


@DBOS.step()
async def noted() -> None:
    BEGUN.append(perf_counter())


@DBOS.step()
def plain_nothing(number: int) -> int:
    return number


@DBOS.workflow()
def plain_chain(length: int) -> int:
    last = 0
    for _ in range(length):
        last = plain_nothing(last)
    return last


@DBOS.workflow()
async def chain(length: int) -> int:
    last = 0
    for _ in range(length):
        last = await nothing(last)
    return last


async def bounded(numbers: Iterable[int]) -> list[int]:
    """A step for each, some at once."""
    free = asyncio.Semaphore(AT_ONCE)

    async def each(number: int) -> int:
        async with free:
            return await nothing(number)

    return list(await asyncio.gather(*map(each, numbers)))


@DBOS.workflow()
async def wide(width: int) -> None:
    await bounded(range(width))
    await join()


@DBOS.workflow()
async def items(numbers: list[int]) -> list[int]:
    return await bounded(numbers)


@DBOS.workflow()
async def first() -> None:
    await noted()


def one_chain(length: int) -> float:
    begun = perf_counter()
    DBOS.start_workflow(plain_chain, length).get_result()
    return perf_counter() - begun


async def chains(length: int) -> Answer:
    return {"seconds": await asyncio.to_thread(one_chain, length)}


async def fan_out(width: int) -> Answer:
    begun = perf_counter()
    await (await DBOS.start_workflow_async(wide, width)).get_result()
    return {"seconds": perf_counter() - begun}


async def runs(count: int) -> Answer:
    begun = perf_counter()

    async def each() -> float:
        submitted = perf_counter()
        handle: WorkflowHandleAsync[int] = await DBOS.start_workflow_async(chain, 5)
        await handle.get_result()
        return perf_counter() - submitted

    late = await asyncio.gather(*(each() for _ in range(count)))
    return {"seconds": perf_counter() - begun, "late": late}


async def loop(count: int) -> Answer:
    begun = perf_counter()
    await (await DBOS.start_workflow_async(items, list(range(count)))).get_result()
    return {"seconds": perf_counter() - begun}


async def starts(times: int) -> Answer:
    late = []
    for _ in range(times):
        handle = await DBOS.start_workflow_async(first)
        answered = perf_counter()
        await handle.get_result()
        late.append(max(0.0, BEGUN.pop() - answered))
    return {"late": late}


async def main() -> None:
    DBOS(
        config={
            "name": "bench",
            "system_database_url": os.environ["BENCH_DATABASE"],
            "db_engine_kwargs": {"pool_timeout": 600},  # with its 30 s it gives up on a busy machine
            "log_level": "WARNING",
        }
    )
    DBOS.launch()
    work = {"W1": chains, "W2": fan_out, "W3": runs, "W4": loop, "W6": starts}
    await serve_async(work, version=version("dbos"))
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main())
