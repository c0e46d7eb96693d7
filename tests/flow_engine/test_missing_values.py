"""Values that are missing, on a database."""

import asyncio
from collections.abc import Sequence

from stretto.flow import step, workflow
from stretto.flow.engine import Engine


@step(failure_mode="IGNORE_FAILURE", retries=0)
def doubled(n: int) -> int:
    if n == 3:
        message = "three"
        raise ValueError(message)
    return 2 * n


@step
def kept(values: Sequence[int | None]) -> list[int | None]:
    return list(values)


@workflow
def gathered() -> list[int | None]:
    return kept(doubled.map([1, 2, 3, 4]))


@workflow
def all_of_them() -> list[int]:
    return doubled.map([1, 2, 3, 4])


@workflow
def single() -> int:
    return doubled(3)


def test_what_failed_is_none_in_a_database(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            assert await engine.run(gathered) == [2, 4, None, 8]
            assert await engine.run(all_of_them) == [2, 4, None, 8]
            run = await engine.submit(single)
            result = await run.wait(60)
            assert (result.value, result.outputs, result.steps["doubled"].value) == (None, {}, None)

    asyncio.run(work())
