"""Runs by their request id, and what their steps ask people."""

from typing import Any

import pytest
from tests.flow_engine.flows import finish, say
from tests.waiting import until

from stretto.flow.engine import Engine
from stretto.flow.loops import foreach
from stretto.flow.waits import wait
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest, NotFound


@workflow(run_strategy="parallel")
def greeting(word: str = "hello") -> str:
    return say(word)


@workflow(run_strategy="parallel")
def release() -> None:
    wait(id="ship", prompt="Ship it?", assignees=["ann"], returns=int, timeout="1 day")


@workflow(run_strategy="parallel")
def rounds() -> None:
    with foreach([1, 2]):
        wait(id="check")


@workflow(run_strategy="parallel")
def releases() -> None:
    with foreach([1, 2]):
        release()


@workflow(run_strategy="parallel")
def quarter() -> None:
    releases()


async def asked(engine: Engine, count: int, **wanted: Any) -> list[Any]:
    async def enough() -> list[Any] | None:
        found = await engine.approvals(**wanted)
        return list(found) if len(found) >= count else None

    return await until(enough)


def test_a_run_is_found_by_its_request_id(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(greeting, request_id="order-7")
            for each in (greeting, "greeting"):
                assert await engine.get(each, request_id="order-7") == run
            assert await engine.get(greeting, 1) == run
            with pytest.raises(NotFound, match=r"with the request id \[order-8\]"):
                await engine.get(greeting, request_id="order-8")
            for number, request_id in ((None, "order-7"), (1, None)):
                with pytest.raises(NotFound) as raised:
                    await engine.get("greting", number, request_id=request_id)
                assert raised.value.hint == "there is no workflow [greting], did you mean `greeting`?"
            for number, request_id in ((None, None), (1, "order-7")):
                with pytest.raises(InvalidRequest, match="by its instance, or by its request id"):
                    await engine.get(greeting, number, request_id=request_id)

    finish(work())


def test_open_questions_are_listed_and_answered(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(release)
            (one,) = await asked(engine, 1)
            assert (one.run, one.step, one.attempt, one.workflow) == (run, "ship", 1, "release")
            assert (one.prompt, one.assignees) == ("Ship it?", ("ann",))
            assert one.due - 86_400_000 <= one.at < one.due - 86_340_000  # stamps of a run never go back
            assert list(one.form["properties"]) == ["result"]
            assert await engine.approvals(release, assignee="bob") == []
            assert len(await engine.approvals("release", assignee="ann", limit=1)) == 1
            await one.run.answer(one.step, result=3)
            assert (await run.wait(30)).succeeded
            assert await engine.approvals() == []
            looped = await engine.submit(rounds)
            for each in await asked(engine, 2, workflow=rounds):
                assert each.workflow == "rounds"
                await each.run.answer(each.step)
            assert (await looped.wait(30)).succeeded

    finish(work())


def test_questions_of_subworkflows_are_among_those_of_their_parents(url: str) -> None:
    async def work() -> None:
        async with Engine(url) as engine:
            run = await engine.submit(quarter)
            other = await engine.submit(rounds)
            await asked(engine, 4)
            for each in (quarter, releases, "release"):
                assert [one.workflow for one in await engine.approvals(each)] == ["release"] * 2
            assert len(await engine.approvals(quarter, assignee="ann", limit=1)) == 1
            assert await engine.approvals(quarter, assignee="bob") == []
            assert len(await engine.approvals(rounds, limit=2)) == 2
            for one in await engine.approvals(quarter):
                await one.run.answer(one.step, result=1)
            assert (await run.wait(30)).succeeded
            assert await engine.approvals(quarter) == []
            await other.kill()

    finish(work())


def test_the_same_without_an_event_loop() -> None:
    with Engine("memory").sync() as engine:
        run = engine.submit(release, request_id="r")
        while not (found := engine.approvals(release)):
            pass
        assert engine.get(release, request_id="r") == run
        found[0].run.answer(found[0].step, result=1)
        assert run.wait(30).succeeded
