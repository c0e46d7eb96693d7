"""Steps and workflows outside of tracing are plain functions, which can be tested as such."""

import asyncio
from typing import Any

import pytest

from stretto.flow import (
    TraceError,
    either,
    foreach,
    loop_while,
    on_failure,
    otherwise,
    sleep,
    step,
    subworkflow,
    switch,
    wait,
    when,
    workflow,
)
from stretto.model.errors import InvalidRequest


@step
def double(n: int) -> int:
    return 2 * n


@step
async def fetch(url: str) -> str:
    await asyncio.sleep(0)
    return url.upper()


@step
def total(values: list[int], by: int = 1) -> int:
    return sum(values) * by


@workflow
def etl(n: int, urls: list[str]) -> dict[str, Any]:
    return {"total": total(double.map([n, 2], concurrency=2), by=2), "urls": [fetch("a"), *fetch.map(urls)]}


@workflow
def branching(n: int) -> None:
    with when(double(n) > 1):
        double(n)


def test_a_step_is_a_function() -> None:
    assert double(4) == 8
    assert double.map([1, 2]) == [2, 4]
    assert double.map(n=range(2)) == [0, 2]
    assert asyncio.run(fetch.fn("a")) == "A"


def test_a_coroutine_stays_one() -> None:
    answer: Any = fetch("a")
    assert asyncio.run(answer) == "A"


def test_a_workflow_is_a_function() -> None:
    assert etl(5, ["x", "y"]) == {"total": 28, "urls": ["A", "X", "Y"]}


def test_a_workflow_with_coroutines_is_none_inside_of_a_loop() -> None:
    async def program() -> Any:
        return etl(5, [])

    with pytest.raises(TraceError, match="run the workflow with an engine: `await"):
        asyncio.run(program())


@pytest.mark.parametrize(
    "use",
    [
        lambda: branching(1),
        lambda: otherwise().__enter__(),
        lambda: switch(1).__enter__(),
        lambda: on_failure(1).__enter__(),
        lambda: foreach([1]).__enter__(),
        lambda: loop_while(lambda v: v.i < 1, i=0).__enter__(),
        lambda: subworkflow(etl)(1, []),
        lambda: either(1, 2),
        lambda: sleep(1),
        wait,
        lambda: etl.map([1], urls=[]),
    ],
)
def test_what_only_a_run_can_do_says_so(use: Any) -> None:
    with pytest.raises(
        TraceError, match="means something only in a function with `@workflow`; write it there"
    ):
        use()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 1}, "the workflow `etl` needs `urls`"),
        ({}, "the workflow `etl` needs `n` and `urls`"),
        ({"n": 1, "url": []}, "the workflow `etl` has no parameter `url`: did you mean `urls`?"),
        ({"n": 1, "zzz": []}, "the workflow `etl` has no parameter `zzz`: it has n, urls"),
        ({"n": "x", "urls": []}, "`n` is a `str`, not an `int`"),
    ],
)
def test_parameters_of_a_start_are_checked(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        etl.encode(params)
    assert message in str(caught.value)
