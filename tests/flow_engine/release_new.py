"""A process of the new release, with one more function: python -m tests.flow_engine.release_new URL."""

import asyncio
import sys

from tests.flow_engine.release import base, before, main

from stretto.flow.steps import step
from stretto.flow.workflow import workflow


@step(name="release_extra")
async def extra(number: int) -> int:
    return number * 10


@workflow(id="release_after", run_strategy="parallel")
def after(number: int) -> int:
    return base(extra(base(number)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], base, extra, before, after))
