"""Procrastinate on PostgreSQL: jobs to a worker in the same process, as its guide shows. There is no join."""

import asyncio
from importlib.metadata import version
from time import perf_counter

from benchmarks.harness.protocol import Answer, serve_async
from jobs import APP, nothing

AT_ONCE = 20
LEFT = "SELECT count(*) AS left FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"


async def messages(count: int) -> Answer:
    begun = perf_counter()
    await nothing.batch_defer_async(*({"number": number} for number in range(count)))
    while (await APP.connector.execute_query_one_async(LEFT))["left"]:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    return {"seconds": perf_counter() - begun}


async def main() -> None:
    async with APP.open_async():
        await APP.schema_manager.apply_schema_async()
        worker = asyncio.create_task(
            APP.run_worker_async(concurrency=AT_ONCE, install_signal_handlers=False, wait=True)
        )
        await serve_async({"W2": messages, "W4": messages}, version=version("procrastinate"))
        worker.cancel()
        await asyncio.wait({worker})


if __name__ == "__main__":
    asyncio.run(main())
