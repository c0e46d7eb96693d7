"""Filters around functions, handlers and listeners after them."""

import asyncio
import threading
from typing import Any

import pytest
from tests.unit.runtimes.python.stand import Stand, Told, playing, said, told, value, with_params
from tests.waiting import PATIENCE

from stretto.model.errors import InvalidRequest
from stretto.model.param import Parameter, ParamType
from stretto.model.timeline import LogEvent
from stretto.ports.runtime import Continue, Done, StepResult, Stopped
from stretto.runtimes.python import (
    Filter,
    Listener,
    Service,
    Services,
    StepContext,
    Veto,
    function_of,
    telling,
)
from stretto.runtimes.python.function import Function

LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.clear()
    monkeypatch.setattr(telling, "AT_FIRST", 60)  # on a slow machine, too, all lines come with the result


def lines(result: StepResult) -> list[str]:
    return [each.message for each in result.timeline if isinstance(each, LogEvent)]


async def work(x: int) -> int:
    LOG.append("function")
    return x


def work_in_thread(x: int) -> int:
    LOG.append("function")
    return x


class Plain(Filter):
    def __init__(self, name: str) -> None:
        self.name = name

    def before(self, ctx: StepContext) -> None:
        LOG.append(f"{self.name} before {ctx.params['x']}")

    def after(self, ctx: StepContext, result: Any) -> None:
        LOG.append(f"{self.name} after {ctx.attempt} {result}")


class Async:
    def __init__(self, name: str) -> None:
        self.name = name

    async def before(self, ctx: StepContext) -> None:
        await asyncio.sleep(0)
        LOG.append(f"{self.name} before {ctx.params['x']}")

    async def around(self, ctx: StepContext, call_next: Any) -> Any:
        LOG.append(f"{self.name} in {ctx.attempt}")
        result = await call_next()
        LOG.append(f"{self.name} out")
        return result * 10


class InThread:
    def around(self, ctx: StepContext, call_next: Any) -> Any:
        LOG.append(f"thread in {ctx.attempt}")
        result = call_next()
        LOG.append("thread out")
        return result + 1


@pytest.mark.parametrize("call", [work, work_in_thread])
def test_filters_wrap_a_function_in_order(call: Any) -> None:
    async def body() -> None:
        made = function_of(call, "work")
        stand = Stand(made, filters=[Plain("f1"), Async("f2"), InThread()])
        assert value(await stand.run(made, {"x": 4})) == 50
        assert LOG == [
            "f1 before 4",
            "f2 before 4",
            "f2 in 1",
            "thread in 1",
            "function",
            "thread out",
            "f2 out",
            "f1 after 1 50",
        ]

    playing(body)


def test_a_filter_keeps_a_step_from_running() -> None:
    async def body() -> None:
        class Closed:
            def before(self, ctx: StepContext) -> None:
                raise Veto(f"{ctx.step_id} is closed on Sundays")

        class Around:
            async def around(self, _ctx: StepContext, _call_next: Any) -> None:
                raise Veto("no")

        made = function_of(work, "work")
        result = await Stand(made, filters=[Plain("f1"), Closed()]).run(made, {"x": 1}, step_id="a")
        assert said(result) == ("FatalError", "Vetoed: a is closed on Sundays")
        assert said(await Stand(made, filters=[Around()]).run(made, {"x": 1})) == ("FatalError", "Vetoed: no")
        assert LOG == ["f1 before 1"]

    playing(body)


def test_a_filter_may_answer_itself_and_may_fail() -> None:
    async def body() -> None:
        class Instead:
            async def around(self, _ctx: StepContext, _call_next: Any) -> int:
                return 7

        class Broken:
            def after(self, _ctx: StepContext, _result: Any) -> None:
                raise ValueError("broken")

        made = function_of(work, "work")
        assert value(await Stand(made, filters=[Instead()]).run(made, {"x": 1})) == 7
        assert said(await Stand(made, filters=[Broken()]).run(made, {"x": 1})) == (
            "UserError",
            "ValueError: broken",
        )
        with pytest.raises(InvalidRequest, match="`int` is not a filter: it has none of the methods before"):
            Stand(made, filters=[5])

    playing(body)


def test_a_filter_may_try_again() -> None:
    async def body() -> None:
        class Again:
            async def around(self, _ctx: StepContext, call_next: Any) -> Any:
                await call_next()
                return await call_next()

        made = function_of(work_in_thread, "work")
        assert value(await Stand(made, filters=[Again()]).run(made, {"x": 1})) == 1
        assert LOG == ["function", "function"]

    playing(body)


def test_a_function_behind_a_filter_in_a_thread_is_cancelled_with_it() -> None:
    async def body() -> None:
        ended = asyncio.Event()

        async def long() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        class Before:
            def around(self, _ctx: StepContext, call_next: Any) -> Any:
                return call_next()

        made = function_of(long, "long")
        stand, step = Stand(made, filters=[Before()]), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        await asyncio.wait_for(ended.wait(), PATIENCE)

    playing(body)


# --------------------------------------------------------------------------------------------------- handlers
async def notify(ctx: StepContext, result: Any, status: str, error: BaseException | None) -> None:
    await asyncio.sleep(0)
    LOG.append(f"notify {ctx.attempt} {result} {status} {error}")


def note(status: str) -> None:
    LOG.append(f"note {status}")


def broken(status: str) -> None:
    raise ValueError(f"broken {status}")


def mistaken(value: int) -> None:
    raise AssertionError(value)


def may(value: int = 3) -> None:
    LOG.append(f"may {value}")


class Mail:
    def send(self, result: int) -> None:
        LOG.append(f"mail {result}")


def send(mail: Service[Mail], result: int) -> None:
    mail.send(result)


def fail() -> int:
    raise KeyError("no")


def handled(call: Any, *handlers: Any, **more: Any) -> Function:
    return function_of(call, "f", on_success=handlers, on_failure=handlers, on_timeout=handlers, **more)


def test_handlers_are_called_in_order_whatever_one_of_them_does() -> None:
    async def body() -> None:
        made = handled(work, note, broken, mistaken, notify, may, send, function_of(note, "again"))
        result = await Stand(made, services=Services([Mail()])).run(made, {"x": 1})
        assert value(result) == 1
        assert LOG == [
            "function",
            "note success",
            "notify 1 1 success None",
            "may 3",
            "mail 1",
            "note success",
        ]
        first, second = lines(result)
        assert first == "The success handler `broken` failed: ValueError: broken success"
        assert second.startswith(
            "The success handler `mistaken` failed: it asks for `value`: a handler may take"
        )

    playing(body)


def test_handlers_of_a_failure() -> None:
    async def body() -> None:
        made = function_of(fail, "f", on_failure=[notify, broken], on_success=mistaken, on_timeout=mistaken)
        result = await Stand(made).run(made)
        assert said(result) == ("UserError", "KeyError: 'no'")
        assert LOG == ["notify 1 None failed 'no'"]
        assert lines(result) == ["The failed handler `broken` failed: ValueError: broken failed"]

    playing(body)


def test_a_step_that_is_refused_has_failed() -> None:
    async def body() -> None:
        made = handled(work, note, required="y")
        assert said(await Stand(made).run(made, {"x": 1})) == (
            "FatalError",
            "required parameters of `f` have no value: `y`",
        )
        assert LOG == ["note failed"]

    playing(body)


def test_handlers_that_a_definition_names() -> None:
    async def body() -> None:
        made = function_of(work, "f")
        stand = Stand(made, function_of(note, "note"))
        names = {"success": ("note", "gone"), "failed": ("gone",)}
        step = with_params(
            told(made, {"x": 1}), callbacks=Parameter(type=ParamType.MAP, value={}, evaluated_result=names)
        )
        result = await stand.end(step)
        assert value(result) == 1
        assert LOG == ["function", "note success"]
        assert "The success handler `gone` failed: there is no function `gone`" in lines(result)[0]

    playing(body)


def test_no_more_handlers_once_the_step_is_told_to_end() -> None:
    async def body() -> None:
        async def slow() -> None:
            LOG.append("slow")
            await asyncio.Event().wait()

        made = handled(work, slow, note)
        stand, step = Stand(made), told(made, {"x": 1})
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        assert LOG == ["function", "slow"]

    playing(body)


class Objecting:
    """A handler that is an object."""

    def __call__(self, status: str) -> None:
        LOG.append(f"object {status}")
        raise ValueError("object")


def test_a_handler_may_be_an_object() -> None:
    async def body() -> None:
        made = handled(work, Objecting())
        result = await Stand(made).run(made, {"x": 1})
        assert LOG == ["function", "object success"]
        assert "ValueError: object" in lines(result)[0]

    playing(body)


# -------------------------------------------------------------------------------------------------- listeners
class Ears(Listener):
    def __init__(self, name: str) -> None:
        self.name = name

    def on_success(self, ctx: StepContext, result: Any) -> None:
        LOG.append(f"{self.name} success {ctx.attempt} {result}")

    async def on_failure(self, ctx: StepContext, error: BaseException) -> None:
        LOG.append(f"{self.name} failure {ctx.attempt} {error}")

    def always(self, ctx: StepContext) -> None:
        LOG.append(f"{self.name} always {ctx.attempt}")


class OneEar:
    def always(self, ctx: StepContext) -> None:
        raise ValueError(ctx.step_id)


def test_listeners_hear_of_every_end() -> None:
    async def body() -> None:
        good, bad = function_of(work, "good", on_success=note), function_of(fail, "bad")
        stand = Stand(good, bad, listeners=[OneEar(), Ears("l")], filters=[Plain("f1")])
        result = await stand.run(good, {"x": 1}, step_id="a")
        assert LOG == [
            "f1 before 1",
            "function",
            "f1 after 1 1",
            "note success",
            "l success 1 1",
            "l always 1",
        ]
        assert lines(result) == ["The listener `OneEar` failed: ValueError: a"]
        LOG.clear()
        assert isinstance(await stand.end(_without_x(bad)), Done) is False
        assert LOG[-2:] == ["l failure 1 'x'", "l always 1"]

    playing(body)


def _without_x(function: Function) -> Told:
    return told(function)


def test_a_stop_is_heard_of_as_an_end() -> None:
    async def body() -> None:
        async def long() -> None:
            await asyncio.Event().wait()

        made = function_of(long, "long", on_failure=mistaken, on_timeout=mistaken)
        stand, step = Stand(made, listeners=[Ears("l"), Listener(), Filter()]), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        assert LOG == ["l always 1"]

    playing(body)


def test_the_base_classes_do_nothing() -> None:
    async def body() -> None:
        made, bad = function_of(work, "good"), function_of(fail, "bad")
        stand = Stand(made, bad, listeners=[Listener()], filters=[Filter()])
        assert value(await stand.run(made, {"x": 1})) == 1
        assert said(await stand.run(bad))[0] == "UserError"

    playing(body)


def test_a_handler_in_a_thread_may_return_a_coroutine() -> None:
    async def body() -> None:
        async def later() -> None:
            LOG.append(f"later {threading.current_thread() is threading.main_thread()}")

        made = handled(work, lambda: later())  # noqa: PLW0108 - it is not the same
        await Stand(made).run(made, {"x": 1})
        assert LOG == ["function", "later True"]

    playing(body)
