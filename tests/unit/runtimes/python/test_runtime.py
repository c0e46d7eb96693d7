"""Starting, looking at and ending functions: what each launch comes to."""

import asyncio
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
import pytest
from tests.unit.runtimes.python.stand import (
    NOW,
    RUN,
    Stand,
    Told,
    playing,
    said,
    text,
    told,
    value,
    with_params,
)
from tests.waiting import until, wait_until

from stretto.engine.records import AttemptKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.step import TypedStep
from stretto.model.timeline import LogEvent
from stretto.ports.runtime import Continue, Done, Launch, StepResult, Stopped, UserError
from stretto.runtimes.python import Fatal, NotRetryable, PlatformTrouble, Pools, StepContext, function_of
from stretto.runtimes.python import runtime as module
from stretto.runtimes.python.failures import BY_ITSELF
from stretto.runtimes.python.performing import Performance
from stretto.runtimes.python.registry import as_function
from stretto.testing.virtual_loop import run_virtually


async def add(a: int, b: int = 2) -> int:
    return a + b


def double(a: float) -> float:
    return a * 2


async def nap(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "slept"


def nothing() -> None:
    """Returns nothing."""


def lines(result: StepResult) -> list[str]:
    return [each.message for each in result.timeline if isinstance(each, LogEvent)]


# ------------------------------------------------------------------------------------------------- good ends
def test_an_async_function_that_never_waits_is_answered_at_once() -> None:
    async def body() -> None:
        stand = Stand(add)
        step = told(add, {"a": 1})
        result = await stand.runtime.start(step.ctx)
        assert isinstance(result, Done)
        assert result.outputs == {
            "result": Parameter(type=ParamType.LONG, evaluated_result=3, evaluated_time=NOW)
        }
        assert (step.said, stand.runtime.at_work) == ([], [])
        assert value(await stand.run(add, {"a": 1, "b": 5})) == 6

    playing(body)


def test_a_function_that_ends_soon_is_answered_with_its_start() -> None:
    async def body() -> None:
        stand = Stand(nap, double)
        step = told(nap, {"seconds": 0.001})
        assert value(await stand.runtime.start(step.ctx)) == "slept"
        assert step.said == []
        result = await stand.run(double, {"a": 1.5})
        assert float(value(result)) == 3.0

    playing(body)


def test_a_function_that_takes_its_time_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        stand = Stand(nap)
        step = told(nap, {"seconds": 0.1})
        assert await stand.runtime.start(step.ctx) == Continue()
        assert stand.runtime.at_work == [step.ctx.launch]
        assert await stand.runtime.start(step.ctx) == Continue()  # told so again
        assert await stand.runtime.execute(step.ctx) == Continue()
        result = await step.end()
        assert value(result) == "slept"
        assert await stand.runtime.execute(step.ctx) == result
        assert await stand.runtime.start(step.ctx) == result
        assert step.said == [result]
        monkeypatch.setattr(module, "MOST_HELD", 0)  # too many wait for an answer already
        step = told(nap, {"seconds": 0.001})
        assert await stand.runtime.start(step.ctx) == Continue()
        assert value(await step.end()) == "slept"

    playing(body)


def test_a_function_without_a_result() -> None:
    async def body() -> None:
        stand = Stand(nothing, add)
        assert await stand.run(nothing) == Done()
        step = told(nothing)  # a step that declares a result, all the same
        with_params(step, result=Parameter(type=ParamType.LONG, value=0, evaluated_result=0))
        assert await stand.end(step) == Done()

    playing(body)


def test_the_result_of_a_step_that_declares_none_is_beside_its_parameters() -> None:
    async def body() -> None:
        def rows() -> dict[str, Any]:
            return {"rows": [1, 2.5, None]}

        made = function_of(rows, "rows")
        stand = Stand(made)
        step = Told({"function": text("rows")})
        result = await stand.end(step)
        assert result == Done(
            artifacts={"python": DefaultArtifact(data={"result": {"rows": [1, 2.5, None]}})}
        )

    playing(body)


def test_a_wrapper_may_return_what_is_to_be_waited_for() -> None:
    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def run(*args: Any, **kwargs: Any) -> Any:
            return call(*args, **kwargs)

        return run

    async def body() -> None:
        made = function_of(wrapped(add), "wrapped")
        assert value(await Stand(made).run(made, {"a": 1})) == 3

    playing(body)


def test_every_other_launch_of_an_attempt_is_older_or_newer() -> None:
    async def body() -> None:
        stand = Stand(nap)
        first = told(nap, {"seconds": 60.0}, step_id="x", generation=1)
        second = told(nap, {"seconds": 60.0}, step_id="x", generation=2)
        assert await stand.runtime.start(first.ctx) == Continue()
        assert await stand.runtime.start(second.ctx) == Continue()
        assert stand.runtime.at_work == [second.ctx.launch]
        assert said(await stand.runtime.start(first.ctx)) == (
            "Stopped",
            f"launch {second.ctx.launch} has taken its place",
        )
        assert said(await stand.runtime.execute(first.ctx)) == (
            "PlatformError",
            f"the function of launch {first.ctx.launch} is not at work here any more",
        ) or isinstance(await stand.runtime.execute(first.ctx), Stopped)
        assert await stand.terminated(first.ctx) == Stopped()
        assert stand.runtime.at_work == [second.ctx.launch]
        assert await stand.terminated(second.ctx) == Stopped()
        assert first.said == second.said == []
        unknown = told(nap, {"seconds": 1.0})
        assert "not at work here" in str(said(await stand.runtime.execute(unknown.ctx))[1])

    playing(body)


def test_few_results_are_remembered_and_no_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        def long(size: int) -> str:
            return "x" * size

        made = function_of(long, "long")
        stand = Stand(made)
        monkeypatch.setattr(module, "REMEMBERED", 2)
        steps = [told(made, {"size": size}) for size in (1, 100_000, 2, 3)]
        for step in steps:
            await stand.end(step)
        found = [type(await stand.runtime.execute(step.ctx)).__name__ for step in steps]
        assert found == ["PlatformError", "PlatformError", "Done", "Done"]

    playing(body)


def test_what_kind_of_runtime_it_is() -> None:
    runtime = Stand().runtime
    assert not runtime.outside
    injected = runtime.params(TypedStep(id="a", type="Python"))
    assert injected.schema is not None
    assert set(injected.schema["properties"]) == {"function", "entrypoint", "script"}


# -------------------------------------------------------------------------------------------------- bad ends
class Mean(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Unshowable(ValueError):
    @property
    def __notes__(self) -> Any:  # type: ignore[override]
        raise RuntimeError


class Odd(BaseException):
    """An error that no `except Exception` catches."""


class Rude(ValueError):
    def __str__(self) -> str:
        raise KeyboardInterrupt


ERRORS: list[tuple[BaseException, str, str]] = [
    (ValueError("no rows"), "UserError", "ValueError: no rows"),
    (Fatal("gone"), "FatalError", "Fatal: gone"),
    (NotRetryable("gone"), "FatalError", "Fatal: gone"),
    (PlatformTrouble("full"), "PlatformError", "PlatformTrouble: full"),
    (asyncio.CancelledError(), "UserError", f"CancelledError: {BY_ITSELF}"),
    (asyncio.CancelledError("mine"), "UserError", "CancelledError: mine"),
    (SystemExit(3), "UserError", "SystemExit: 3"),
    (KeyboardInterrupt(), "UserError", f"KeyboardInterrupt: {BY_ITSELF}"),
    (GeneratorExit("over"), "UserError", "GeneratorExit: over"),
    (Odd("odd"), "UserError", "Odd: odd"),
    (Rude("x"), "UserError", "Rude: its text can not be shown"),
    (TimeoutError(), "UserError", "TimeoutError"),
    (Mean(), "UserError", "Mean: its text can not be shown"),
    (Unshowable("x"), "UserError", "Unshowable: x"),
    (ValueError("a\0\ud800"), "UserError", "ValueError: a\\0\\ud800"),
]


@pytest.mark.parametrize(("error", "kind", "message"), ERRORS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("is_async", [True, False])
def test_what_an_exception_means(error: BaseException, kind: str, message: str, *, is_async: bool) -> None:
    def fail() -> None:
        raise error

    async def fail_async() -> None:
        raise error

    async def body() -> None:
        made = function_of(fail_async if is_async else fail, "fail")
        result = await Stand(made).run(made)
        assert said(result) == (kind, message)
        artifact = result.artifacts["python"]
        assert isinstance(artifact, DefaultArtifact)
        assert artifact.data["error"] == type(error).__qualname__
        if not isinstance(error, Unshowable | Mean | Rude):
            assert "in fail" in artifact.data["traceback"]
        assert "runtimes/python/performing" not in artifact.data["traceback"]
        assert "\0" not in artifact.data["traceback"]

    playing(body)


def test_a_stop_iteration_is_an_error_like_others() -> None:
    async def body() -> None:
        def fail() -> None:
            raise StopIteration

        made = function_of(fail, "fail")
        assert said(await Stand(made).run(made))[0] == "UserError"

    playing(body)


def test_a_long_traceback_is_cut() -> None:
    async def body() -> None:
        def fail() -> None:
            raise ValueError("x" * 100_000)

        made = function_of(fail, "fail")
        result = await Stand(made).run(made)
        artifact = result.artifacts["python"]
        assert isinstance(artifact, DefaultArtifact)
        assert len(artifact.data["traceback"]) < 17_000
        assert len(str(said(result)[1])) < 5_000

    playing(body)


def test_an_unknown_function_fails_only_its_step() -> None:
    async def body() -> None:
        stand = Stand(add)
        gone = Told({"function": text(as_function(add).name + "x")})
        kind, message = said(await stand.end(gone))
        assert kind == "FatalError"
        assert "there is no function" in str(message)
        assert "did you mean" in str(message)
        assert value(await stand.run(add, {"a": 1})) == 3

    playing(body)


def test_a_result_that_can_not_be_stored() -> None:
    async def body() -> None:
        def lock() -> dict[str, Any]:
            return {"lock": threading.Lock()}

        def wrong() -> int:
            return "1"  # type: ignore[return-value]

        locked, wrongly = function_of(lock, "lock"), function_of(wrong, "wrong")
        stand = Stand(locked, wrongly)
        kind, message = said(await stand.run(locked))
        assert kind == "UserError"
        assert 'what `lock` returned can not be stored: `result["lock"]` is a `lock`' in str(message)
        assert "`result` is a `str`, not an `int`" in str(said(await stand.run(wrongly))[1])

    playing(body)


def test_a_result_that_is_too_large() -> None:
    async def body() -> None:
        def large(size: int) -> str:
            return "x" * size

        def many() -> list[str]:
            return ["x" * 1_000] * 200

        def some() -> dict[str, int]:
            return {str(number): number for number in range(20_000)}

        made = [function_of(each, each.__name__) for each in (large, many, some)]
        stand = Stand(*made, most_bytes=100_000)
        message = (
            "the result of `large` is too large, with 110,002 bytes. The parameters have a total size of ["
        )
        kind, found = said(await stand.run(made[0], {"size": 110_000}))
        assert kind == "UserError"
        assert str(found).startswith(message)
        assert str(found).endswith(
            "over the limit of [100000] (setting `params.size`): "
            "write it to a file or a table, and return where it is"
        )
        assert isinstance(await stand.run(made[0], {"size": 99_950}), UserError)  # with all that is around it
        assert isinstance(await stand.run(made[0], {"size": 90_000}), Done)  # it counts once
        assert "the result of `many` is too large, with 200,600 bytes" in str(
            said(await stand.run(made[1]))[1]
        )
        assert "`some` is too large" in str(said(await stand.end(Told({"function": text("some")})))[1])
        as_map = told(made[2])
        with_params(as_map, result=Parameter(type=ParamType.MAP, value={}, evaluated_result={}))
        assert "`some` is too large" in str(said(await stand.end(as_map))[1])

    playing(body)


def test_a_fault_of_ours_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        def broken(*_args: Any) -> None:
            raise KeyError("ours")

        stand = Stand(add)
        monkeypatch.setattr(Performance, "run", broken)
        assert said(await stand.run(add, {"a": 1})) == (
            "PlatformError",
            "the function could not be looked after: KeyError: 'ours'",
        )

    playing(body)


# ---------------------------------------------------------------------------------------------------- endings
def test_a_coroutine_is_cancelled() -> None:
    async def body() -> None:
        cleaned: list[str] = []

        async def wait() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                cleaned.append("up")

        made = function_of(wait, "wait")
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        assert (cleaned, step.said, stand.runtime.at_work) == (["up"], [], [])
        assert await stand.terminated(step.ctx) == Stopped()  # it is not there any more

    playing(body)


def test_a_coroutine_that_makes_light_of_it_is_ended_all_the_same() -> None:
    async def body() -> None:
        async def shrug() -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "so what"
            return ""

        made = function_of(shrug, "shrug")
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()

    playing(body)


def test_a_coroutine_that_does_not_end_is_left_behind() -> None:
    async def body() -> None:
        over, left = asyncio.Event(), asyncio.Event()

        async def stubborn() -> None:
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue
            left.set()

        made = function_of(stubborn, "stubborn")
        stand, step = Stand(made, grace=1.5), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.runtime.terminate(step.ctx) == Continue(after=250)
        result = await stand.terminated(step.ctx)
        assert lines(result) == [
            "The function does not let itself be cancelled: it goes on, and its result does not count"
        ]
        assert stand.runtime.at_work == []
        over.set()
        await left.wait()
        for _ in range(10):  # its result comes back, and does not count
            await asyncio.sleep(0)
        assert step.said == []

    playing(body)


def test_a_thread_can_only_be_asked_to_end() -> None:
    async def body() -> None:
        seen: list[str] = []

        begun = threading.Event()

        def work(ctx: StepContext) -> None:
            begun.set()
            wait_until(lambda: ctx.cancelled)
            seen.append("cancelled")

        made = function_of(work, "work")
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(begun.is_set)
        assert await stand.terminated(step.ctx) == Stopped()
        assert seen == ["cancelled"]

    playing(body)


def test_a_thread_that_does_not_look_goes_on_alone() -> None:
    async def body() -> None:
        go, begun = threading.Event(), threading.Event()

        def deaf() -> None:
            begun.set()
            go.wait()

        made = function_of(deaf, "deaf", pool="one")
        pools = Pools({"one": 1})
        stand, step = Stand(made, pools=pools, grace=1.5), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(begun.is_set)
        assert await stand.runtime.terminate(step.ctx) == Continue(after=250)
        result = await stand.terminated(step.ctx)
        assert lines(result) == [
            "`deaf` runs in a thread, which can not be ended: it goes on, and what it returns does not count"
        ]
        assert pools.status("one").running == 1  # it still has its place
        go.set()
        await until(lambda: not pools.status("one").running)
        assert step.said == []

    playing(body)


def test_everything_ends_when_the_runtime_is_closed() -> None:
    async def body() -> None:
        def look(ctx: StepContext) -> None:
            ctx.sleep(60)

        made = function_of(look, "look")
        stand = Stand(nap, made)
        steps = [told(nap, {"seconds": 60.0}), told(made), told(nap, {"seconds": 60.0})]
        for step in steps:
            assert await stand.runtime.start(step.ctx) == Continue()
        stand.runtime.kill_all()
        await stand.runtime.close()
        await stand.runtime.close()
        assert stand.runtime.at_work == []
        assert [step.said for step in steps] == [[], [], []]

    playing(body)


def test_who_has_no_time_need_not_wait_for_the_grace_of_others() -> None:
    async def body() -> None:
        go = threading.Event()
        made = function_of(go.wait, "deaf")
        stand, step = Stand(made, grace=1_000.0), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        closing = [asyncio.create_task(stand.runtime.close()) for _ in range(2)]
        await asyncio.sleep(0)
        stand.runtime.kill_all()
        await asyncio.gather(*closing)
        go.set()

    playing(body)


def test_closing_asks_those_that_run() -> None:
    async def body() -> None:
        stand, step = Stand(nap), told(nap, {"seconds": 60.0})
        assert await stand.runtime.start(step.ctx) == Continue()
        await stand.runtime.close()
        assert stand.runtime.at_work == []

    playing(body)


def test_an_end_that_comes_before_the_beginning() -> None:
    """A node that abandons work calls for its end while the start is under way."""

    async def body() -> None:
        stand, step = Stand(nap), told(nap, {"seconds": 60.0})
        starting = asyncio.create_task(stand.runtime.start(step.ctx))
        ending = asyncio.create_task(stand.runtime.terminate(step.ctx))
        assert await ending == Stopped()
        assert await starting == Stopped()

    playing(body)


def test_an_end_while_a_module_is_imported() -> None:
    async def body() -> None:
        stand = Stand()
        step = Told({"entrypoint": text("tests.unit.runtimes.python.slow_import:call")})
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()

    playing(body)


# --------------------------------------------------------------------------------------------------- timeouts
def test_a_step_that_took_too_long_is_handled_as_such() -> None:
    async def body() -> None:
        called: list[Any] = []

        def late(error: BaseException, status: str) -> None:
            called.append((str(error), status))

        def never() -> None:
            raise AssertionError

        made = function_of(nap, "nap", on_timeout=late, on_success=never, on_failure=never)
        stand = Stand(made)
        step = told(made, {"seconds": 60.0}, timeout_at=NOW)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        assert called == [("`nap` took too long", "timeout")]

    playing(body)


@pytest.mark.parametrize(("forgotten", "handled"), [(True, ["late"]), (False, [])])
def test_the_engine_forgets_a_timeout_that_is_over(*, forgotten: bool, handled: list[str]) -> None:
    """Its clock may be ahead of the runtime's; any other end leaves the timeout as it is."""

    async def body() -> None:
        called: list[str] = []
        made = function_of(nap, "nap", on_timeout=lambda: called.append("late"))
        stand = Stand(made)
        step = told(made, {"seconds": 60.0}, timeout_at=NOW + 5)
        assert await stand.runtime.start(step.ctx) == Continue()
        asked = msgspec.structs.replace(step.ctx, timeout_at=None if forgotten else NOW + 5)
        assert await stand.terminated(asked) == Stopped()
        assert called == handled

    playing(body)


def test_a_thread_that_took_too_long_is_handled_once_nobody_waits_for_it() -> None:
    async def body() -> None:
        go, is_deaf = threading.Event(), threading.Event()
        called: list[str] = []

        def deaf() -> None:
            is_deaf.set()
            go.wait()

        made = function_of(deaf, "deaf", on_timeout=lambda: called.append("late"))
        stand = Stand(made, grace=1.0)
        step = told(made, timeout_at=NOW)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(is_deaf.is_set)
        result = await stand.terminated(step.ctx)
        assert lines(result)[0].startswith("`deaf` runs in a thread")
        assert called == ["late"]
        go.set()

    playing(body)


def test_handlers_have_their_time_unless_nobody_has() -> None:
    async def body() -> None:
        go, begun, hold = threading.Event(), threading.Event(), threading.Event()
        hold.set()
        is_deaf = threading.Event()
        called: list[str] = []

        def deaf() -> None:
            is_deaf.set()
            go.wait()

        def late() -> None:
            begun.set()
            hold.wait()
            called.append("late")

        made = function_of(deaf, "deaf", on_timeout=late)
        stand = Stand(made, grace=2.5)

        step = told(made, timeout_at=NOW)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(is_deaf.is_set)
        assert lines(await stand.terminated(step.ctx))[0].startswith("`deaf` runs in a thread")
        assert called == ["late"]
        for each in (begun, hold, is_deaf):
            each.clear()
        step = told(made, timeout_at=NOW)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(is_deaf.is_set)
        ending = asyncio.create_task(stand.terminated(step.ctx))
        await until(begun.is_set)
        stand.runtime.kill_all()
        assert lines(await ending)[0].startswith("`deaf` runs in a thread")
        assert called == ["late"]
        hold.set()
        go.set()

    playing(body)


# ------------------------------------------------------------------------------------------------- heartbeats
def test_a_function_that_gives_no_heartbeat_is_ended() -> None:
    async def body() -> None:
        async def quiet(ctx: StepContext) -> None:
            await ctx.wait_cancelled()
            await asyncio.Event().wait()

        def deaf(ctx: StepContext) -> None:
            ctx.heartbeat()
            wait_until(lambda: ctx.cancelled)

        for call in (quiet, deaf):
            made = function_of(call, "f", heartbeat_within=0.05)
            result = await Stand(made).run(made)
            assert said(result) == ("UserError", "`f` gave no heartbeat for 0.05 s")

    playing(body)


def test_a_function_that_gives_heartbeats_goes_on() -> None:
    async def body() -> None:
        async def beat(ctx: StepContext) -> int:
            for _ in range(20):
                await asyncio.sleep(0.1)  # in virtual time
                ctx.heartbeat()
            return 1

        made = function_of(beat, "beat", heartbeat_within=1.5)
        assert value(await Stand(made).run(made)) == 1

    _, took = run_virtually(body())
    assert took >= 2


def test_a_stop_counts_more_than_silence() -> None:
    async def body() -> None:
        async def deaf(ctx: StepContext) -> None:
            ctx.heartbeat()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(1.3)  # in virtual time

        made = function_of(deaf, "deaf", heartbeat_within=1)
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()

    _, took = run_virtually(body())
    assert took >= 1.3


# ------------------------------------------------------------------------------------------------------ pools
def test_a_pool_of_one_runs_one_after_the_other() -> None:
    async def body() -> None:
        running: list[str] = []
        most, go = 0, threading.Event()

        async def one() -> None:
            nonlocal most
            running.append("x")
            most = max(most, len(running))
            await until(go.is_set)
            running.pop()

        def two() -> None:
            nonlocal most
            running.append("x")
            most = max(most, len(running))
            go.wait(30)
            running.pop()

        functions = [function_of(one, "one", pool="db"), function_of(two, "two", pool="db")]
        pools = Pools({"db": 1})
        stand = Stand(*functions, pools=pools)
        steps = [told(each) for each in functions * 2]
        answers = [await stand.runtime.start(step.ctx) for step in steps]
        assert all(isinstance(each, Continue) for each in answers)
        assert "Waits for a place in the pool `db`" in {line for each in answers for line in lines(each)}
        assert pools.status("db").running == 1
        go.set()
        await asyncio.gather(*(step.end() for step in steps))
        assert (most, pools.status("db").running) == (1, 0)
        pools.resize("db", 4)
        go.clear()
        ends = [asyncio.create_task(stand.run(each)) for each in functions * 2]
        await until(lambda: most >= 4)
        go.set()
        await asyncio.gather(*ends)

    playing(body)


def test_who_is_told_to_end_in_the_line_never_runs() -> None:
    async def body() -> None:
        ran: list[int] = []
        go = asyncio.Event()

        async def hold(number: int) -> None:
            ran.append(number)
            await go.wait()

        made = function_of(hold, "hold", pool="db")
        stand = Stand(made, pools=Pools({"db": 1}))
        first, second = told(made, {"number": 1}), told(made, {"number": 2})
        await stand.runtime.start(first.ctx)
        await stand.runtime.start(second.ctx)
        assert await stand.terminated(second.ctx) == Stopped()
        go.set()
        await first.end()
        assert ran == [1]

    playing(body)


def test_an_unknown_pool_and_processes_are_refused() -> None:
    async def body() -> None:
        lost = function_of(add, "lost", pool="nowhere")
        apart = function_of(add, "apart", isolation="process")
        stand = Stand(lost, apart)
        assert said(await stand.run(lost, {"a": 1})) == (
            "FatalError",
            "`lost`: there is no pool `nowhere`: there are: default",
        )
        kind, message = said(await stand.run(apart, {"a": 1}))
        assert (kind, "has no worker processes" in str(message)) == ("FatalError", True)

    playing(body)


def test_the_key_of_a_launch() -> None:
    assert str(Launch(AttemptKey(RUN, "a", 1), 3)) == "[etl][12][2][a][1][3][0]"
    definition = ParamDefinition(type=ParamType.LONG, value=1)
    assert msgspec.structs.replace(definition, value=2).value == 2
    assert isinstance(UserError(message="x"), UserError)
