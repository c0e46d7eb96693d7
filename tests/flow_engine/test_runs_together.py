"""Runs that wait for each other: they only end if they go on at once, which is the default."""

import asyncio
from collections import Counter

import pytest
from tests.flow_engine.flows import finish
from tests.waiting import until

from stretto import Engine, step, workflow

PRESENT: Counter[str] = Counter()  # how many steps have come to a meeting


@pytest.fixture(autouse=True)
def nobody_is_present() -> None:
    PRESENT.clear()


@step
async def meet(place: str, people: int) -> str:
    """Ends once so many steps are here."""
    PRESENT[place] += 1
    await until(lambda: PRESENT[place] >= people)
    return place


@workflow
def meeting(people: int) -> str:
    return meet("hall", people)


def test_three_runs_that_wait_for_each_other_end() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            runs = [await engine.submit(meeting, people=3) for _ in range(3)]
            assert await asyncio.gather(*(run.result() for run in runs)) == ["hall"] * 3

    finish(work())


@workflow
def shared() -> str:
    return meet("cellar", 2)


@workflow
def left() -> str:
    return shared()


@workflow
def right() -> str:
    return shared()


def test_two_runs_that_start_one_subworkflow_do_not_wait_for_each_other() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            runs = [await engine.submit(flow) for flow in (left, right)]
            assert await asyncio.gather(*(run.result() for run in runs)) == ["cellar"] * 2

    finish(work())


def test_runs_of_two_engines_on_one_file_go_on_at_once(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as one, Engine(url) as other:
            for engine in (one, other):
                engine.register(meeting)
            runs = [await engine.submit(meeting, people=4) for engine in (one, other, one, other)]
            assert await asyncio.gather(*(run.result() for run in runs)) == ["hall"] * 4

    finish(work())


@workflow
def map_of_flows(numbers: list[int]) -> list[str]:
    with_numbers: list[str] = numbered.map(numbers)
    return with_numbers


@workflow
def numbered(people: int) -> str:
    return meet("attic", people)


def test_a_map_over_a_workflow_runs_its_children_at_once() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            assert await engine.run(map_of_flows, numbers=[3, 3, 3]) == ["attic"] * 3

    finish(work())
