"""Where the processor time of a step goes: W2, W3 and W4 on a SQLite file, by part of the code.

python -m benchmarks profile

The processor time of a step is measured without a profiler; how it is shared, with one. The event loop has
one thread; what all others use is the writer of the database, and its flushes.
"""

import asyncio
import cProfile
import pstats
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from statistics import median
from time import process_time, thread_time
from typing import Final, NamedTuple

from benchmarks.harness.databases import databases
from benchmarks.harness.protocol import AsyncWork
from benchmarks.harness.shares import shares
from benchmarks.harness.workloads import RATED, W1, Workload
from benchmarks.ours.__main__ import opened
from benchmarks.row import Row
from benchmarks.speed import KINDS, NAMES

ROUNDS: Final = 5
PROFILED: Final = 3
LEAST: Final = 0.02  # shares below this are left out


class Spent(NamedTuple):
    """Of one workload: microseconds of a step in the loop and in other threads, and shares of the loop."""

    workload: Workload
    loop: float
    threads: float
    parts: dict[str, float]


async def spent_on(workload: Workload, work: AsyncWork) -> Spent:
    once: Callable[[], Awaitable[object]] = partial(work[workload.name], workload.size)
    await once()
    loop, whole = [], []
    for _ in range(ROUNDS):
        own, all_of_them = thread_time(), process_time()
        await once()
        loop.append(thread_time() - own)
        whole.append(process_time() - all_of_them)
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(PROFILED):
        await once()
    profile.disable()
    steps = workload.size * workload.steps / 1e6
    found = shares(pstats.Stats(profile).stats)  # type: ignore[attr-defined]
    return Spent(workload, median(loop) / steps, (median(whole) - median(loop)) / steps, found)


async def all_of(kind: str, url: str) -> list[Spent]:
    async with opened(kind, url) as work:
        return [await spent_on(each, work) for each in RATED if each is not W1]


def run() -> Iterator[Row]:
    with databases() as into:
        for kind in KINDS:
            for workload, loop, threads, parts in asyncio.run(all_of(kind, into.new("sqlite"))):
                where, key = f"{NAMES[kind]}, sqlite", f"profile/{workload.name}/{kind}"
                name = f"{workload.name} CPU of a step; {where}"
                yield Row(name, loop + threads, "us", None, 0, key=key)
                yield Row("  other threads: SQL and flushes", threads, "us", None, 0, key=f"{key}/threads")
                for part, share in parts.items():
                    if share >= LEAST:
                        yield Row(f"  {part}", loop * share, "us", None, 0, key=f"{key}/{part}")
