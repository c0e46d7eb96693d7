"""A process of the new release, with two more functions: python release_new.py URL."""

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


@step(name="release_listed")
async def listed(number: int) -> list[int]:
    return [number, number + 1]


@workflow(id="release_mapped", run_strategy="parallel")
def mapped(number: int) -> list[int]:
    return extra.map(listed(number))


@workflow(id="release_family", run_strategy="parallel")
def family(number: int) -> int:
    return base(after(number))


@workflow(id="release_grandparent", run_strategy="parallel")
def grandparent(number: int) -> int:
    return base(family(number))


@workflow(id="release_many", run_strategy="parallel")
def many(number: int) -> list[int]:
    return after.map(listed(number))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], base, extra, listed, before, after, mapped, family))
