"""Runs of a workflow in Python go on at once; a run that has to wait says so."""

import asyncio
from typing import Any

import pytest
from tests.flow_engine.flows import GATES, broken, finish, held, seen

from stretto.definition import parse
from stretto.flow.engine import Engine, Run, RunFailed, SyncRun
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.properties import RunStrategy, RunStrategyRule
from stretto.model.workflow import Definition

MANY = 25  # more than the 20 that PARALLEL allows by itself


def queued_behind(run: Run[Any] | SyncRun[Any]) -> tuple[str, tuple[str, ...]]:
    assert run.queued is not None
    return str(run.queued.hold), run.queued.blocked_by


@workflow
def at_once() -> str:
    return held("gate")


@pytest.mark.parametrize("through_yaml", [False, True])
def test_runs_of_a_program_go_on_at_once(through_yaml: bool) -> None:
    """Each run begins before one of them has ended, also if the definition went through YAML."""
    given = parse(at_once.to_yaml()) if through_yaml else at_once

    async def work() -> None:
        async with Engine("memory") as engine:
            engine.register(at_once)
            runs = [await engine.submit(given) for _ in range(MANY)]
            await seen("begin gate", MANY)
            assert {run.detail for run in runs} == {None}
            GATES["gate"].set()
            assert await asyncio.gather(*(run.result(30) for run in runs)) == ["gate"] * MANY

    finish(work())


def test_the_strategy_is_printed_and_read_again() -> None:
    text = at_once.to_yaml()
    assert "rule: PARALLEL" in text
    assert "workflow_concurrency: 1000" in text
    read = parse(text)
    assert read.properties == at_once.definition.properties
    assert read.properties is not None
    assert read.properties.run_strategy == RunStrategy(
        rule=RunStrategyRule.PARALLEL, workflow_concurrency=1_000
    )


def test_a_definition_that_names_no_strategy_runs_in_turn() -> None:
    given = Definition(workflow=at_once.definition.workflow)

    async def work() -> None:
        async with Engine("memory") as engine:
            engine.register(at_once)
            first = await engine.submit(given)
            await seen("begin gate")
            second = await engine.submit(given)
            assert second.detail == "queued, blocked by running at_once/1"
            assert queued_behind(second) == ("BUSY", ("at_once/1",))
            GATES["gate"].set()
            assert [await run.result(30) for run in (first, second)] == [None, None]  # no `returns` in it

    finish(work())


@step
async def double(n: int) -> int:
    return n * 2


@workflow
def child(n: int) -> str:
    double(n)
    return held("gate")


@workflow
def parent() -> list[str]:
    return child.map([1, 2, 3])


def test_the_runs_of_a_subworkflow_go_on_at_once() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(parent)
            await seen("begin gate", 3)
            GATES["gate"].set()
            assert await run.result(30) == ["gate"] * 3

    finish(work())


@workflow(run_strategy="strict_sequential")
def strict() -> int:
    return broken()


def test_a_run_behind_a_failed_one_says_so() -> None:
    with Engine("memory").sync() as engine:
        first = engine.submit(strict)
        assert (first.detail, first.queued) == (None, None)
        with pytest.raises(RunFailed):
            first.result(30)
        second = engine.submit(strict)
        assert second.detail == "queued, blocked by failed strict/1"
        assert queued_behind(second) == ("BLOCKED", ("strict/1",))
        again = first.restart()
        assert again.detail is None
        third = engine.get("strict", 2)
        assert (third.detail, third.queued) == (None, None)
