"""Does the work that it is asked for: echo "W2 1000" | python -m benchmarks.ours KIND URL.

KIND is noop, async, sync, busy or waiting.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from benchmarks.harness.protocol import AsyncWork, serve_async
from benchmarks.ours.functions import ALL, Functions
from benchmarks.ours.noop import Moments, NoOps
from benchmarks.ours.shapes import Limit
from stretto import Engine, __version__
from stretto.app import running
from stretto.config import Config
from stretto.flow.engine.preparing import make_tables

GROUPS = 128


def work_of(kind: NoOps | Functions) -> AsyncWork:
    return {
        **{name: partial(kind.one, name) for name in ("W1", "W2", "W4")},
        "W3": partial(kind.many, "W3"),
        "W6": partial(kind.starts, "W6"),
    }


def limited_work(kind: NoOps | Functions) -> AsyncWork:
    """Workloads by name, limit and the number of runs at once, such as `W1/tag/8`."""
    return {
        f"{name}/{limit}/{runs}": partial(kind.limited, name, limit, runs)
        for name in ("W1", "W2", "W3", "W4")
        for limit in Limit
        for runs in (1, 8)
    }


@asynccontextmanager
async def opened(kind: str, url: str) -> AsyncIterator[AsyncWork]:
    """The work of one kind of step, on a database."""
    if kind == "noop":
        if url.startswith("postgresql"):
            await make_tables(url)
        moments = Moments()
        async with running(Config(), url, (moments,)) as app:
            while len(app.groups) < GROUPS:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.01)
            noops = NoOps(app, moments)
            yield {**work_of(noops), **limited_work(noops)}
        return
    engine = Engine(url)
    engine.register(*ALL)
    async with engine:
        functions = Functions(engine, kind)
        yield {**work_of(functions), **limited_work(functions)}


async def main(kind: str, url: str) -> None:
    async with opened(kind, url) as work:
        await serve_async(work, version=__version__)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
