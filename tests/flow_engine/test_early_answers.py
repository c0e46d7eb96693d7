"""A program answers before its run asks: from coroutines, from plain code, and before it dies."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.flow_engine import answered
from tests.flow_engine.answered import greeting, kept, prepare
from tests.flow_engine.flows import finish

from stretto.flow.engine import Engine, Run
from stretto.flow.waits import wait
from stretto.flow.workflow import workflow
from stretto.model.errors import InvalidRequest, NotFound, WrongState


@workflow(run_strategy="parallel")
def questions() -> None:
    prepared = prepare("questions")
    wait(id="first").after(prepared)
    wait(id="second").after(prepared)


ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def closed() -> None:
    answered.OPEN.clear()


def test_an_answer_before_the_step_asks_is_kept() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(greeting, text="hello")
            await run.answer("name", result="ann", request_id="r")
            await run.answer("name", result="bob", request_id="r")
            answered.OPEN.set()
            assert await run.result(30) == "hello ann"

    finish(work())


def test_a_program_without_a_loop_answers_early() -> None:
    with Engine("memory").sync() as engine:
        run = engine.submit(greeting, text="hello")
        run.answer("name", result="ann", request_id="r")
        answered.OPEN.set()
        assert run.result(30) == "hello ann"


def test_a_full_run_says_so() -> None:
    async def work() -> None:
        async with Engine("memory", config={"engine.early_answers": 1}) as engine:
            run = await engine.submit(questions)
            with pytest.raises(NotFound, match="nobody"):
                await run.answer("nobody")
            await run.answer("first")
            await kept(run, "first")
            with pytest.raises(WrongState, match="keeps 1 answers to steps that do not ask yet"):
                await run.answer("second")
            await run.terminate()
            result = await run.wait(30)
            assert "[first] of user" in str(result.timeline[-1])

    finish(work())


def test_an_early_answer_survives_a_kill(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    program = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-m", "tests.flow_engine.answered", url],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "answered\n"
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    answered.OPEN.set()

    async def work() -> None:
        engine = Engine(url)
        engine.register(greeting)
        async with engine:
            run = await engine.get("greeting", 1)
            assert await run.result(60) == "hello ann"

    finish(work(), 90)


@workflow(run_strategy="parallel")
def asked_at_once() -> str:
    return wait(id="approve", returns=str)


@pytest.mark.parametrize("early", [True, False])
def test_of_simultaneous_answers_one_is_accepted_and_the_others_are_told(early: bool) -> None:
    async def answered_by(run: Run[str], name: str) -> str:
        try:
            await run.answer("name" if early else "approve", result=name, request_id=name)
        except WrongState as refused:
            return str(refused)
        return name

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(greeting, text="hello") if early else await engine.submit(asked_at_once)
            if not early:
                async for _ in run.events():
                    if await engine.approvals():
                        break
            found = await asyncio.gather(*(answered_by(run, name) for name in ("ann", "bob", "cleo")))
            answered.OPEN.set()
            (accepted,) = [each for each in found if "answered already" not in each]
            assert str(await run.result(30)).endswith(accepted)

    finish(work())


def test_a_value_for_a_step_that_is_not_there_names_the_step() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(asked_at_once)
            with pytest.raises(InvalidRequest, match="has no step `aprove`: did you mean `approve`"):
                await run.answer("aprove", result="x")
            await run.answer("approve", result="x")
            assert await run.result(30) == "x"

    finish(work())
