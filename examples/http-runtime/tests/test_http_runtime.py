"""The runtime alone, asked as a node asks it."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.param import Parameter, ParamType
from stretto.model.step import TypedStep
from stretto.ports.runtime import (
    Continue,
    Done,
    FatalError,
    Launch,
    PlatformError,
    StepContext,
    StepResult,
    Stopped,
    TimedOut,
    UserError,
)

from http_runtime import HttpRuntime
from http_runtime.asked import asked_of
from http_runtime.request import Ended, Request
from server import Server, serving

STEP = TypedStep(id="ask", type="Http")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


class Asking:
    """A launch of a step with these members of `http`, and what is reported of it."""

    def __init__(self, generation: int = 1, **http: Any) -> None:
        self.reported: asyncio.Queue[StepResult] = asyncio.Queue()
        params = {"http": Parameter(type=ParamType.MAP, evaluated_result=http)}
        for name, kind in (("status_code", "LONG"), ("response_body", "STRING")):
            params[name] = Parameter(type=ParamType(kind), evaluated_result=None)
        self.ctx = StepContext(
            launch=Launch(AttemptKey(RunKey("étl", 1, 1), "ask", 1), generation),
            step=STEP,
            params=params,
            report=self.reported.put,
        )


@asynccontextmanager
async def runtime() -> AsyncIterator[HttpRuntime]:
    made = HttpRuntime(now=lambda: 7)
    try:
        yield made
    finally:
        await made.close()
        assert made.at_work == []


def run(body: Callable[[HttpRuntime], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        async with asyncio.timeout(30), runtime() as at:
            return await body(at)

    return asyncio.run(inside())


def answer(**http: Any) -> StepResult:
    """What comes of a request: answered at once, or reported."""

    async def body(at: HttpRuntime) -> StepResult:
        asking = Asking(**http)
        said = await at.start(asking.ctx)
        return await asking.reported.get() if isinstance(said, Continue) else said

    found: StepResult = run(body)
    return found


def test_an_answer_becomes_outputs(server: Server) -> None:
    headers = {"X-Own": "yes"}
    said = answer(url=f"{server.url}/a?b=1", method="post", body="hä", headers=headers, timeout=5)
    assert isinstance(said, Done)
    assert {name: each.evaluated_result for name, each in said.outputs.items()} == {
        "status_code": 200,
        "response_body": "POST /a?b=1 hä",
    }
    [(method, path, got, body)] = server.asked
    assert (method, path, body, got["x-own"]) == ("POST", "/a?b=1", "hä", "yes")
    assert got["stretto-launch"].startswith(got["idempotency-key"])
    assert got["idempotency-key"].isascii()


def test_headers_are_an_output_of_steps_that_have_it(server: Server) -> None:
    async def body(at: HttpRuntime) -> StepResult:
        asking = Asking(url=server.url)
        declared = Parameter(type=ParamType.STRING_MAP, evaluated_result={})
        params = {**asking.ctx.params, "response_headers": declared}
        ctx = StepContext(launch=asking.ctx.launch, step=STEP, params=params, report=asking.ctx.report)
        await at.start(ctx)
        return await asking.reported.get()

    said = run(body)
    assert said.outputs["response_headers"].evaluated_result["x-mark"] == "here"


@pytest.mark.parametrize("status", [304, 404, 500, 503])
def test_any_other_answer_is_an_error_of_the_user(server: Server, status: int) -> None:
    said = answer(url=f"{server.url}/status/{status}?password=1")
    assert isinstance(said, UserError)
    assert f"was answered {status}" in said.message
    assert "password" not in said.message


@pytest.mark.parametrize(("path", "text"), [("large/100", "more than 99 bytes"), ("binary", "no text")])
def test_answers_that_can_not_be_kept(server: Server, path: str, text: str) -> None:
    said = answer(url=f"{server.url}/{path}", most_bytes=99)
    assert isinstance(said, UserError)
    assert text in said.message


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        said = answer(url=f"http://127.0.0.1:{free.getsockname()[1]}")
    assert isinstance(said, PlatformError)
    assert "ConnectionRefusedError" in said.message


def test_an_answer_that_breaks_off(server: Server) -> None:
    said = answer(url=f"{server.url}/broken")
    assert isinstance(said, PlatformError)


def test_no_answer_in_time(server: Server) -> None:
    said = answer(url=f"{server.url}/slow", timeout=0.2)
    assert isinstance(said, TimedOut)
    assert "within 0.2 seconds" in said.message
    assert server.gone.wait(30)


def test_the_socket_is_first_to_say_that_the_time_is_over(server: Server) -> None:
    """Nobody ends the request here; whichever of the two clocks is first, it is the same end."""
    asked = asked_of(Asking(url=f"{server.url}/slow", timeout=0.1).ctx)
    with pytest.raises(Ended):
        Request(asked).perform()


@pytest.mark.parametrize(
    "http",
    [
        {},
        {"url": "ftp://x"},
        {"url": "http://x:y"},
        {"url": "http://x/a b"},
        {"url": "http://x", "method": "BREW"},
        {"url": "http://x", "headers": {"A": "a\nB: b"}},
    ],
)
def test_what_can_not_be_asked_is_not_tried_again(http: dict[str, Any]) -> None:
    assert isinstance(answer(**http), FatalError)


def test_terminate_cuts_the_connection(server: Server) -> None:
    async def body(at: HttpRuntime) -> list[StepResult]:
        asking = Asking(url=f"{server.url}/slow")
        said = [await at.start(asking.ctx), await at.start(asking.ctx), await at.execute(asking.ctx)]
        while not server.asked:  # which is another thread
            await asyncio.sleep(0.01)
        assert at.at_work == [asking.ctx.launch]
        said += [await at.terminate(asking.ctx), await at.terminate(asking.ctx)]
        assert asking.reported.empty()
        said.append(await at.execute(asking.ctx))
        return said

    first = run(body)
    assert [type(each) for each in first] == [Continue, Continue, Continue, Stopped, Stopped, PlatformError]
    assert server.gone.wait(30)
    for thread in threading.enumerate():
        if thread.name.startswith("http-step"):
            thread.join(30)  # it has been cut off, and needs a moment to see that
            assert not thread.is_alive()


def test_the_newest_launch_wins(server: Server) -> None:
    async def body(at: HttpRuntime) -> StepResult:
        old, new = Asking(1, url=f"{server.url}/slow"), Asking(2, url=server.url)
        await at.start(old.ctx)
        await at.start(new.ctx)
        assert isinstance(await at.start(old.ctx), Stopped)
        assert isinstance(await at.terminate(old.ctx), Stopped)
        assert old.reported.empty()
        return await new.reported.get()

    assert isinstance(run(body), Done)
