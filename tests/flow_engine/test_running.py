"""Runs of an engine, from submit to result."""

import asyncio
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, Counts, etl, failing, finish, nothing, seen, talk
from tests.waiting import until as wait_for

from stretto.definition import parse_all
from stretto.flow.engine import Engine, EngineStopped, NotYet, RunFailed
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import RunStatus, StepStatus

YAML = """
properties: {owner: ann, run_strategy: parallel}
workflow:
  id: plain
  params:
    table: {value: events, type: STRING}
    days: {value: [1, 2], type: LONG_ARRAY}
  steps:
    - step: {id: one, type: NoOp, params: {copies: {value: 1, type: LONG}}}
"""


def test_the_value_of_a_workflow_is_that_of_its_function() -> None:
    async def work() -> Counts:
        async with Engine("memory") as engine:
            run = await engine.submit(etl, day="monday")
            assert repr(run) == "<Run etl/1>"
            assert (run.workflow_id, run.instance_id, run.run_id) == ("etl", 1, 1)
            return await run.result(30)

    assert finish(work()) == Counts(read=3, written=6)
    assert CALLS == ["extract monday", "load events"]


def test_all_that_is_known_of_a_run(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(etl, day="monday", tags=["nightly"])
            result = await run.wait(30)
            assert result.succeeded
            assert result.unwrap() == Counts(3, 6)
            assert (result.id, result.version, result.status) == ("etl/1", 1, RunStatus.SUCCEEDED)
            assert result.params == {"day": "monday"}
            assert result.outputs == {"extract": [1, 2, 3], "load": {"read": 3, "written": 6}}
            step = result.steps["load"]
            assert (step.status, step.attempt, step.params["rows"]) == (StepStatus.SUCCEEDED, 1, [1, 2, 3])
            assert step.outputs == {"result": {"read": 3, "written": 6}}
            assert result.start_time is not None
            assert result.end_time is not None
            assert "run a new workflow instance" in str(result.timeline[0])
            assert await run.steps() == result.steps
            progress = await run.progress()
            assert (progress.done, progress.total, progress.fraction) == (2, 2, 1.0)

    finish(work())


def test_a_run_that_failed_says_where_and_why() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(failing)
            with pytest.raises(RunFailed) as failed:
                await run.result(30)
            message = str(failed.value)
            assert message.startswith("run failing/1 ended FAILED: step `broken`")
            assert "ValueError: no such table" in message
            assert failed.value.step_id == "broken"
            assert failed.value.run_status is RunStatus.FAILED
            result = await run.wait()
            assert not result.succeeded
            assert result.value is None
            assert "no such table" in (result.steps["broken"].error or "")
            with pytest.raises(RunFailed):
                result.unwrap()
            with pytest.raises(RunFailed, match="no such table"):
                await engine.run(failing)

    finish(work())


def test_a_workflow_that_returns_nothing() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(nothing)
            assert await run.result() is None  # type: ignore[func-returns-value]

    finish(work())


def test_the_same_request_is_the_same_run(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            first = await engine.submit(etl, day="monday", request_id="monday")
            assert await first.result() == Counts(3, 6)
        async with Engine(url) as engine:
            again = await engine.submit(etl, day="monday", request_id="monday")
            assert again == first
            assert hash(again) == hash(first)
            assert again != "etl/1"
            assert await again.result() == Counts(3, 6)

    finish(work())
    assert CALLS.count("extract monday") == 1


def test_definitions_run_as_functions_do() -> None:
    async def work() -> None:
        (definition,) = parse_all(YAML)
        async with Engine("memory") as engine:
            run = await engine.submit(definition, table="logs", step_params={"one": {"copies": 3}})
            result = await run.wait(30)
            assert result.params == {"table": "logs", "days": [1, 2]}
            assert result.steps["one"].params == {"copies": 3}
            assert await engine.run("plain", params={"days": [3]}) is None
            assert await engine.run(definition.workflow) is None
            assert [each.id for each in await engine.runs("plain")] == ["plain/3", "plain/2", "plain/1"]

    finish(work())


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"tabel": "x"}, "`plain` has no parameter `tabel`; did you mean `table`"),
        ({"zzzz": 1}, "has no parameter `zzzz`; it has `table`, `days`"),
        ({"step_params": {"on": {}}}, "has no step `on`: did you mean `one`"),
        ({"step_params": {"zzzz": {}}}, "has no step `zzzz`: it has one"),
        ({"step_params": {"one": {"copy": 1}}}, "step `one` of workflow `plain` has no parameter `copy`"),
        ({"days": "monday"}, "days"),
    ],
)
def test_what_is_wrong_with_parameters_is_said(given: dict[str, Any], text: str) -> None:
    async def work() -> None:
        (definition,) = parse_all(YAML)
        async with Engine("memory") as engine:
            with pytest.raises(InvalidRequest) as wrong:
                await engine.submit(definition, **given)
            assert text in str(wrong.value)
            assert await engine.runs() == []

    finish(work())


def test_required_parameters_are_known_by_id_too() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            await engine.publish(etl)
            with pytest.raises(InvalidRequest, match="workflow `etl` needs `day`"):
                await engine.submit("etl")
            assert await engine.run("etl", day="friday") == {"read": 3, "written": 6}

    finish(work())


def test_what_is_no_workflow_is_refused() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            with pytest.raises(InvalidRequest, match="a `list` is not a workflow"):
                await engine.submit([])  # type: ignore[call-overload]
            with pytest.raises(NotFound):
                await engine.submit("nowhere")

    finish(work())


def test_a_workflow_is_published_when_it_is_new(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            assert await engine.publish(etl) == 1
            assert await engine.publish(etl) == 1
            run = await engine.submit(etl.bind("sunday"))
            assert (await run.wait()).version == 1
        async with Engine(url) as engine:
            assert await engine.publish(etl) == 1

    finish(work())


def test_runs_are_found_again(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(etl, day="monday")
            await engine.wait_all([run, await engine.submit(failing)], 30)
            assert (await engine.get("etl", 1)) == run
            assert (await engine.get("etl", 1, 1)) == run
            assert [each.id for each in await engine.runs(status="failed")] == ["failing/1"]
            assert [each.id for each in await engine.runs(etl, status=["SUCCEEDED"])] == ["etl/1"]
            with pytest.raises(InvalidRequest, match="status='odd' is none of"):
                await engine.runs(status="odd")
            with pytest.raises(NotFound):
                await engine.get("etl", 7)

    finish(work())


def test_who_waits_too_long_is_told_how_it_stands() -> None:
    async def work() -> None:
        async with Engine("memory", on_stop="hand_over", stop_within=0.5) as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            with pytest.raises(NotYet, match=r"run talk/1 is IN_PROGRESS after 0.01 s") as late:
                await run.result(0.01)
            assert isinstance(late.value, TimeoutError)
            assert (await run.why()).steps[0].step_id == "held"
            assert (await run.progress()).fraction == pytest.approx(1 / 3)
            GATES["gate"].set()
            assert await run.result(30) == "three"

    finish(work())


def test_events_of_a_run() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            found = []
            async for event in run.events():
                found.append((event.step, str(event.status)))
                GATES["gate"].set()
            assert found[0] == (None, "IN_PROGRESS")
            assert ("held", "SUCCEEDED") in found
            assert found[-1] == (None, "SUCCEEDED")
            assert [each async for each in run.events()] == [each async for each in run.events()]

    finish(work())


def test_nothing_can_be_asked_of_an_engine_that_does_not_run() -> None:
    async def work() -> None:
        engine = Engine("memory")
        assert engine.url == "memory://"
        with pytest.raises(EngineStopped, match="does not run"):
            await engine.submit(etl, day="monday")
        with pytest.raises(EngineStopped):
            engine.resize_pool("default", 2)
        async with engine:
            assert [engine.is_open] == [True]
            with pytest.raises(InvalidRequest, match="runs already"):
                await engine.start()
            run = await engine.submit(etl, day="monday")
            await run.result()
        await engine.stop()
        assert not engine.is_open
        with pytest.raises(EngineStopped, match="has stopped"):
            await run.result()
        async with engine:  # and again, on a new database in memory
            assert await engine.run(etl, day="monday") == Counts(3, 6)

    finish(work())


def test_whoever_waits_when_an_engine_stops_is_told() -> None:
    async def work() -> None:
        engine = Engine("memory", stop_within=0.5)
        async with engine:
            run = await engine.submit(talk)
            await seen("begin gate")
            waiting = asyncio.create_task(run.result())
            events = asyncio.create_task(_all(run))
            until = asyncio.create_task(run._until(lambda _row: False))
            assert engine._host is not None
            listeners = engine._host.watch._listeners
            await wait_for(lambda: len(listeners.get(run.key, ())) == 3)
        for each in (waiting, events, until):
            with pytest.raises(EngineStopped, match="has stopped"):
                await each

    async def _all(run: Any) -> list[Any]:
        return [each async for each in run.events()]

    finish(work())
