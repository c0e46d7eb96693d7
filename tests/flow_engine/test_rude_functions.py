"""A function, handler, filter or listener that raises `KeyboardInterrupt` and the like fails its
step at most. The engine lives.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, finish, seen
from tests.flow_engine.rude import ERRORS, in_loop, in_process, in_task, in_thread, polite

from stretto.flow.engine import Engine, RunChange, RunFailed
from stretto.flow.steps import step
from stretto.flow.workflow import workflow
from stretto.runtimes.python.context import StepContext


@workflow(run_strategy="parallel")
def loops(error: str) -> str:
    return in_loop(error)


@workflow(run_strategy="parallel")
def threads(error: str) -> str:
    return in_thread(error)


@workflow(run_strategy="parallel")
def processes(error: str) -> str:
    return in_process(error)


@workflow(run_strategy="parallel")
def tasks() -> str:
    return in_task()


@workflow(run_strategy="parallel")
def goes_on() -> str:
    return polite()


@pytest.mark.parametrize("flow", [loops, threads, processes], ids=lambda each: each.id)
def test_the_step_fails_and_the_engine_lives(flow: Any) -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            for name in ERRORS:
                with pytest.raises(RunFailed, match=f"{name}: rude"):
                    await engine.run(flow, error=name)
            assert await engine.run(goes_on) == "polite"

    finish(work())


def test_an_engine_in_a_thread_outlives_a_task_that_exits() -> None:
    with Engine("memory").sync() as engine:
        with pytest.raises(RunFailed, match="SystemExit: rude"):
            engine.run(tasks)
        assert engine.run(goes_on) == "polite"


def rude(error: type[BaseException], *, is_async: bool) -> Callable[..., Any]:
    """A handler that notes that it was called, and raises."""

    def fail(*_args: object) -> None:
        CALLS.append(error.__name__)
        raise error("rude")

    async def fail_later(*args: object) -> None:
        await asyncio.sleep(0)
        fail(*args)

    return fail_later if is_async else fail


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("error", [*ERRORS.values(), StopIteration])
def test_handlers_of_runs_do_no_harm(error: type[BaseException], *, is_async: bool) -> None:
    async def work() -> None:
        engine = Engine("memory")
        engine.on("succeeded")(rude(error, is_async=is_async))

        @engine.on("succeeded")
        async def second(_change: RunChange) -> None:
            CALLS.append("second")

        async with engine:
            assert await engine.run(goes_on) == "polite"
            await seen("second")
            assert await engine.run(goes_on) == "polite"
        assert CALLS.count(error.__name__) == CALLS.count("second") == 2

    finish(work())


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("error", ERRORS.values())
def test_handlers_and_listeners_of_steps_do_no_harm(error: type[BaseException], *, is_async: bool) -> None:
    fail = rude(error, is_async=is_async)

    class Listener:
        always = staticmethod(fail)

    def on_success() -> None:
        fail()

    async def on_success_later() -> None:
        await fail()

    @step(id="careful", name="careful", on_success=[on_success_later if is_async else on_success])
    async def careful() -> str:
        return "done"

    @workflow(id="careful_flow", run_strategy="parallel")
    def careful_flow() -> str:
        return careful()

    async def work() -> None:
        async with Engine("memory", listeners=[Listener()]) as engine:
            run = await engine.submit(careful_flow)
            assert await run.result(30) == "done"
            lines = [str(each) for each in (await run.steps())["careful"].timeline]
            assert [each for each in lines if "handler" in each and error.__name__ in each]
            assert [each for each in lines if "listener" in each and error.__name__ in each]
            assert await engine.run(careful_flow) == "done"

    finish(work())


@pytest.mark.parametrize("error", ERRORS)
def test_a_filter_around_a_rude_function_does_no_harm(error: str) -> None:
    class Around:
        def around(self, _ctx: StepContext, call: Callable[[], Any]) -> Any:
            return call()

    async def work() -> None:
        async with Engine("memory", filters=[Around()]) as engine:
            for flow in (loops, threads):
                with pytest.raises(
                    RunFailed, match="CancelledError" if error == "CancelledError" else f"{error}: rude"
                ):
                    await engine.run(flow, error=error)
            assert await engine.run(goes_on) == "polite"

    finish(work())


@pytest.mark.parametrize("error", ERRORS.values())
def test_a_rude_filter_fails_the_step(error: type[BaseException]) -> None:
    class Before:
        def before(self, ctx: StepContext) -> None:
            if ctx.step_id == "in_loop":
                raise error("rude")

    async def work() -> None:
        async with Engine("memory", filters=[Before()]) as engine:
            with pytest.raises(RunFailed, match=f"{error.__name__}: rude"):
                await engine.run(loops, error="Odd")
            assert await engine.run(goes_on) == "polite"

    finish(work())
