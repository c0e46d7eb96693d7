"""Maps that run all of their elements, fail then, and run again what failed."""

import pytest
from tests.flow_engine.flows import CALLS, finish

from stretto.definition import parse
from stretto.flow import foreach
from stretto.flow.engine import Engine, RunFailed, SyncEngine
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.model.step import ForeachStep

BROKEN: set[int] = set()


@step
def double(n: int) -> int:
    CALLS.append(n)
    if n in BROKEN:
        raise ValueError(f"{n} is broken")
    return 2 * n


@workflow
def doubles(numbers: list[int]) -> list[int]:
    return double.map(numbers, concurrency=1, continue_on_failure=True)


@workflow
def in_a_block(numbers: list[int]) -> None:
    with foreach(numbers, continue_on_failure=True) as n:
        double(n)


@pytest.fixture(autouse=True)
def broken() -> None:
    BROKEN.clear()
    BROKEN.update({2, 4})


def test_the_definition_says_so() -> None:
    for flow in (doubles, in_a_block):
        loop = flow.definition.workflow.steps[0]
        assert isinstance(loop, ForeachStep)
        assert loop.continue_on_failure
        assert parse(flow.to_yaml()).workflow == flow.definition.workflow
    assert doubles.fn([1, 3]) == [2, 6]  # a plain call takes the same arguments


def failed_then_restarted(engine: SyncEngine, given: object) -> list[int]:
    run = engine.submit(given, numbers=[1, 2, 3, 4, 5])  # type: ignore[call-overload]
    with pytest.raises(RunFailed):
        run.result(30)
    assert CALLS == [1, 2, 3, 4, 5]
    CALLS.clear()
    BROKEN.clear()
    found: list[int] = run.restart().result(30)
    assert CALLS == [2, 4]
    return found


@pytest.mark.parametrize("through_yaml", [False, True])
def test_all_elements_run_and_those_that_failed_run_again(through_yaml: bool) -> None:
    with Engine("memory").sync() as engine:
        engine.register(doubles)
        given = parse(doubles.to_yaml()) if through_yaml else doubles
        assert failed_then_restarted(engine, given) == [2, 4, 6, 8, 10]


def test_a_restart_from_a_step() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            BROKEN.clear()
            run = await engine.submit(doubles, numbers=[1, 2])
            assert await run.result(30) == [2, 4]
            CALLS.clear()
            again = await run.restart(from_step="double_map", from_beginning=True)
            assert await again.result(30) == [2, 4]
            assert (again.run_id, CALLS) == (2, [1, 2])

    finish(work())
