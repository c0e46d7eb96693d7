"""Functions as the work of steps, through a real node on a store: what users of other engines know."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.node.python_world import call, world
from tests.node.tank import ANN, flow
from tests.waiting import PATIENCE, until

from stretto.actions.restart import restart
from stretto.actions.stop import stop
from stretto.model.artifact import DefaultArtifact
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import InstanceRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.model.step import AnyStep
from stretto.ports.history import AttemptsOfStep
from stretto.ports.runtime import Continue, Done, Injected, StepResult, Stopped
from stretto.ports.runtime import StepContext as Told
from stretto.runtimes.python import (
    Fatal,
    Filter,
    Listener,
    PlatformTrouble,
    Pools,
    Service,
    Services,
    StepContext,
    function_of,
)

LONG = "result: {value: 0, type: LONG}"
JSON = "result: {value: 'null', type: STRING, format: json}"
CALLS: list[Any] = []


@pytest.fixture(autouse=True)
def _empty() -> None:
    CALLS.clear()


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'stretto.db'}"


@dataclass
class Database:
    name: str


def data(day: str = "today") -> dict[str, Any]:
    CALLS.append(f"data {day}")
    return {"id": 7, "rows": [1, 2.5, None]}


async def add(a: int, b: int) -> int:
    return a + b


def fail(message: str = "no") -> None:
    CALLS.append("fail")
    raise ValueError(message)


def named(*functions: Any) -> list[Any]:
    return [function_of(each, each.__name__) for each in functions]


# ------------------------------------------------------------------------------------------ functions
TASKS = """
workflows:
  jobs:
    - {job_id: extract, func_key: data}
    - {job_id: use, func_key: take}
  definitions:
    - workflow_id: tasks
      tasks:
        - {task_id: data, job_id: extract, params: {day: monday},
           callbacks: [{state: success, func_key: told}]}
        - {task_id: use, job_id: use, dependencies: [data], result_mapping: {uid: data.id},
           required_params: [uid], callbacks: [{state: failed, func_key: told}]}
"""


def test_functions_of_a_task_engine(url: str) -> None:
    """Registered by name; the result can be read; a mapping copies a field of an earlier one."""

    def take(ctx: StepContext, uid: int) -> str:
        return f"{uid} {ctx.upstream['data']['rows']}"

    def told(ctx: StepContext, result: Any, status: str) -> None:
        CALLS.append(f"{ctx.step_id} {status} {result['id']}")

    async def body() -> None:
        async with world(url, *named(data, take, told)) as at:
            run, status = await at.run(TASKS)
            assert status == "SUCCEEDED"
            artifact = (await at.step(run, "use")).artifacts["python"]
            assert isinstance(artifact, DefaultArtifact)
            assert artifact.data == {"result": "7 [1, 2.5, None]"}
        assert CALLS == ["data monday", "data success 7"]

    asyncio.run(body())


def test_a_function_that_is_gone_fails_only_its_step(url: str) -> None:
    async def body() -> None:
        text = flow(call("a", "gone"), call("b", "add", params=f"a: 1, b: 2, {LONG}"))
        text = text.replace("a: 1, b: 2", "a: {value: 1, type: LONG}, b: {value: 2, type: LONG}")
        async with world(url, *named(add)) as at:
            run, status = await at.run(text)
            assert status == "FAILED"
            assert await at.steps(run) == {"a": "FATALLY_FAILED", "b": "SUCCEEDED"}
            assert "no running process knows the function `gone`" in str((await at.step(run, "a")).reason)
            assert await at.result(run, "b") == 3

    asyncio.run(body())


# ---------------------------------------------------------------------------------- runtimes and filters
def test_a_runtime_of_ones_own_is_polled(url: str) -> None:
    class Polled:
        outside = False

        def params(self, _step: AnyStep) -> Injected:
            return Injected()

        async def start(self, _ctx: Told) -> StepResult:
            return Continue(after=1)

        async def execute(self, _ctx: Told) -> StepResult:
            CALLS.append("execute")
            return Done() if len(CALLS) == 4 else Continue(after=1)

        async def terminate(self, _ctx: Told) -> StepResult:
            return Stopped()

    async def body() -> None:
        async with world(url, others={"Polled": Polled()}) as at:
            assert (await at.run(flow("{id: a, type: Polled}")))[1] == "SUCCEEDED"
        assert len(CALLS) == 4

    asyncio.run(body())


def test_filters_and_listeners(url: str) -> None:
    class Log(Filter):
        def __init__(self, name: str) -> None:
            self.name = name

        def before(self, _ctx: StepContext) -> None:
            CALLS.append(self.name)

        def after(self, _ctx: StepContext, _result: Any) -> None:
            CALLS.append(self.name)

    class Ear(Listener):
        def on_success(self, _ctx: StepContext, _result: Any) -> None:
            CALLS.append("listener")

    async def body() -> None:
        async with world(url, *named(data), filters=[Log("f1"), Log("f2")], listeners=[Ear()]) as at:
            assert (await at.run(flow(call("a", "data"))))[1] == "SUCCEEDED"
        assert CALLS == ["f1", "f2", "data today", "f2", "f1", "listener"]

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ sub-steps
def part(number: int, bad: int = 0) -> int:
    CALLS.append(f"part {number}")
    if number < bad:
        raise Fatal(f"part {number}")
    return number


PART = function_of(part, "part")


def test_a_step_adds_steps(url: str) -> None:
    def plan(ctx: StepContext) -> None:
        for number in range(3):
            ctx.add(
                PART, {"number": number}, id=f"part-{number}", after=[f"part-{number - 1}"] if number else []
            )

    def after() -> None:
        CALLS.append("after")

    async def body() -> None:
        text = flow(call("plan", "plan", "after"), call("after", "after"))
        async with world(url, PART, *named(plan, after)) as at:
            run, status = await at.run(text)
            assert status == "SUCCEEDED"
            found = (await at.step(run, "plan")).artifacts["maestro_substeps"]
            assert isinstance(found, DefaultArtifact)
            assert [each["params"]["result"] for each in found.data["results"]] == [0, 1, 2]
        assert CALLS == ["part 0", "part 1", "part 2", "after"]

    asyncio.run(body())


def test_all_steps_are_added_or_none(url: str) -> None:
    def plan(ctx: StepContext) -> None:
        ctx.add(PART, {"number": 1}, id="good")
        ctx.add(PART, {"number": 2}, id="plan")  # the id of the step itself

    async def body() -> None:
        async with world(url, PART, *named(plan)) as at:
            run, status = await at.run(flow(call("plan", "plan")))
            assert status == "FAILED"
            assert "sub-step ids must be new in the run: plan; none was added" in str(
                (await at.step(run, "plan")).reason
            )
        assert CALLS == []

    asyncio.run(body())


@pytest.mark.parametrize(("tolerance", "status"), [(0.2, "SUCCEEDED"), (0.1, "FAILED")])
def test_some_of_the_steps_may_fail(tolerance: float, status: str) -> None:
    def plan(ctx: StepContext) -> None:
        for number in range(10):
            ctx.add(PART, {"number": number, "bad": 2}, id=f"part-{number}")

    async def body() -> None:
        made = function_of(plan, "plan", tolerance=tolerance)
        async with world("memory://", PART, made) as at:
            run, found = await at.run(flow(call("plan", "plan")))
            assert found == status
            summary = (await at.step(run, "plan")).artifacts["maestro_substeps"]
            assert isinstance(summary, DefaultArtifact)
            assert (summary.data["total"], summary.data["failed"]) == (10, 2)

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ compensation
def test_what_was_done_is_undone_in_reverse(url: str) -> None:
    def do(name: str) -> None:
        CALLS.append(f"do {name}")

    def undo(name: str) -> None:
        CALLS.append(f"undo {name}")

    def undone(step_id: str, name: str, after: str) -> str:
        given = f"name: {{value: {name}, type: STRING}}"
        inner = call(f"undo_{step_id}", "undo", params=given)
        return call(step_id, "do", after, params=given, more=f"compensation: {{step: {inner}}}")

    async def body() -> None:
        text = flow(undone("a", "A", "b"), undone("b", "B", "c"), call("c", "fail"))
        async with world(url, *named(do, undo, fail)) as at:
            assert (await at.run(text))[1] == "FAILED"
        assert CALLS == ["do A", "do B", "fail", "undo B", "undo A"]

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ handlers
def test_handlers_never_alter_a_result_and_a_timeout_has_its_own(url: str) -> None:
    def raising() -> None:
        CALLS.append("raising")
        raise ValueError("handler")

    def note(status: str) -> None:
        CALLS.append(status)

    async def nap() -> None:
        await asyncio.Event().wait()

    over = threading.Event()

    def deaf() -> None:
        over.wait(60)

    async def body() -> None:
        handled = {"on_success": [raising, note], "on_failure": [note], "on_timeout": [raising, note]}
        good, late = function_of(data, "good", **handled), function_of(nap, "late", **handled)
        stuck = function_of(deaf, "stuck", **handled)
        async with world(url, good, late, stuck, grace=0.1) as at:
            run, status = await at.run(flow(call("a", "good")))
            assert status == "SUCCEEDED"
            assert "The success handler" in await at.lines(run, "a")
            assert CALLS == ["data today", "raising", "success"]
            for function in ("late", "stuck"):
                CALLS.clear()
                policy = "timeout: 1, retry_policy: {timeout_retry_limit: 0}"
                run, status = await at.run(flow(call("a", function, more=policy), name=function))
                assert status in {"TIMED_OUT", "FAILED"}
                assert (await at.steps(run)) == {"a": "TIMED_OUT"}
                assert CALLS == ["raising", "timeout"]
            assert "it goes on, and what it returns does not count" in await at.lines(run, "a")
            over.set()

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ services
def test_services(url: str) -> None:
    def ask(db: Service[Database]) -> None:
        CALLS.append(db.name)

    async def body() -> None:
        async with world(url, *named(ask), services=Services([Database("main")])) as at:
            assert (await at.run(flow(call("a", "ask"))))[1] == "SUCCEEDED"
        assert CALLS == ["main"]

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ parameters
def test_parameters_come_from_constants_the_workflow_and_other_steps(url: str) -> None:
    def take(constant: int, shared: str, parent: dict[str, Any]) -> None:
        CALLS.append((constant, shared, parent))

    def text() -> str:
        given = (
            "constant: {value: 3, type: LONG}, shared: {value: '${shared}', type: STRING}, "
            "parent: {expression: \"params.getFromStep('data', 'result')\", type: STRING, format: json}"
        )
        made = flow(call("data", "data", "take", params=JSON), call("take", "take", params=given))
        return made.replace("  steps:", "  params: {shared: {value: w, type: STRING}}\n  steps:")

    async def body() -> None:
        async with world(url, *named(data, take)) as at:
            assert (await at.run(text()))[1] == "SUCCEEDED"
            shared = {"shared": ParamDefinition(type=ParamType.STRING, value="given")}
            assert (await at.run(text(), run_params=shared))[1] == "SUCCEEDED"
            one = {"take": {"constant": ParamDefinition(type=ParamType.LONG, value=4)}}
            assert (await at.run(text(), step_params=one))[1] == "SUCCEEDED"
        found = {"id": 7, "rows": [1, 2.5, None]}
        taken = [each for each in CALLS if isinstance(each, tuple)]
        assert taken == [(3, "w", found), (3, "given", found), (4, "w", found)]

    asyncio.run(body())


def test_a_step_that_lacks_what_it_requires_never_runs(url: str) -> None:
    async def body() -> None:
        made = function_of(data, "data", required=["a", "b"])
        async with world(url, made) as at:
            run, status = await at.run(flow(call("x", "data")))
            assert status == "FAILED"
            reason = (await at.step(run, "x")).reason
            assert reason == "required parameters of `data` have no value: `a`, `b`"
        assert CALLS == []

    asyncio.run(body())


def test_a_result_that_is_too_large_fails_its_step_and_nothing_else(url: str) -> None:
    def large() -> str:
        return "x" * 11_000_000

    async def body() -> None:
        text = flow(call("a", "large", params="result: {value: '', type: STRING}"), call("b", "data"))
        async with world(url, *named(large, data)) as at:
            run, status = await at.run(text)
            assert status == "FAILED"
            assert await at.steps(run) == {"a": "FATALLY_FAILED", "b": "SUCCEEDED"}
            reason = str((await at.step(run, "a")).reason)
            assert "the result of `large` is too large, with 11,000,002 bytes" in reason
            assert (await at.run(flow(call("b", "data"), name="next")))[1] == "SUCCEEDED"

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ cache
def test_a_result_is_taken_from_the_cache(url: str) -> None:
    async def body() -> None:
        made = function_of(data, "data", cache_ttl_s=3600)
        async with world(url, made) as at:
            text = flow(call("a", "data", params=JSON))
            assert (await at.run(text))[1] == "SUCCEEDED"
            run, status = await at.run(text)
            assert status == "SUCCEEDED"
            assert await at.result(run, "a") == '{"id":7,"rows":[1,2.5,null]}'
            assert "Taken from the cache" in await at.lines(run, "a")
        assert CALLS == ["data today"]

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ stop
def test_a_stop_ends_what_runs(url: str, at_most: Callable[[float], AbstractContextManager[None]]) -> None:
    async def nap() -> None:
        await asyncio.Event().wait()

    def wait(ctx: StepContext) -> None:
        ctx.sleep(1_000)

    def after() -> None:
        raise AssertionError

    async def body() -> None:
        async with world(url, *named(nap, wait, after)) as at:
            run = await at.start(flow(call("a", "nap", "c"), call("b", "wait", "c"), call("c", "after")))
            await at.until_running(run, "a")
            await at.until_running(run, "b")
            with at_most(12):
                await stop(at.store, ANN, run.workflow_id, run.instance_id, reason="lunch", hints=at.hints)
                assert await at.end(run) == "STOPPED"
            assert await at.steps(run) == {"a": "STOPPED", "b": "STOPPED"}
            assert at.runtime.at_work == []

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ retries
def test_each_class_of_error_has_its_own_budget(url: str) -> None:
    def flaky(kind: str) -> None:
        CALLS.append(kind)
        if len(CALLS) < 3:
            raise {"user": ValueError, "platform": PlatformTrouble}[kind]("again")

    async def body() -> None:
        async with world(url, *named(flaky)) as at:
            for kind, limits in (("user", (2, 0)), ("platform", (0, 2))):
                CALLS.clear()
                more = (
                    f"retry_policy: {{error_retry_limit: {limits[0]}, platform_retry_limit: {limits[1]}, "
                    "backoff: {type: FIXED_BACKOFF, error_retry_backoff_in_secs: 1, "
                    "platform_retry_backoff_in_secs: 1}}"
                )
                given = f"kind: {{value: {kind}, type: STRING}}"
                run, status = await at.run(flow(call("a", "flaky", params=given, more=more), name=kind))
                assert status == "SUCCEEDED"
                statuses = [
                    row.record.status.value for row in await at.store.attempts(AttemptsOfStep(run, "a"))
                ]
                failed = "USER_FAILED" if kind == "user" else "PLATFORM_FAILED"
                assert statuses == [failed, failed, "SUCCEEDED"]

    asyncio.run(body())


def test_an_expression_decides_on_another_try() -> None:
    async def body() -> None:
        async with world("memory://", *named(fail)) as at:
            more = "retry_policy: {error_retry_limit: 2, retry_if: 'day == \"monday\"'}"
            given = "day: {value: sunday, type: STRING}"
            run, status = await at.run(flow(call("a", "fail", params=given, more=more)))
            assert status == "FAILED"
            assert len(await at.store.attempts(AttemptsOfStep(run, "a"))) == 1
        assert CALLS == ["fail"]

    asyncio.run(body())


def test_what_is_fatal_is_not_tried_again() -> None:
    def fatal() -> None:
        CALLS.append("fatal")
        raise Fatal("gone")

    async def body() -> None:
        async with world("memory://", *named(fatal)) as at:
            run, status = await at.run(flow(call("a", "fatal", more="retry_policy: {error_retry_limit: 5}")))
            assert status == "FAILED"
            assert (await at.step(run, "a")).reason == "Fatal: gone"
            artifact = (await at.step(run, "a")).artifacts["python"]
            assert isinstance(artifact, DefaultArtifact)
            assert 'raise Fatal("gone")' in artifact.data["traceback"]
        assert CALLS == ["fatal"]

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ pools
def test_a_pool_of_one_makes_two_steps_serial(url: str) -> None:
    at_once, all_wait = threading.Semaphore(1), threading.Event()

    def alone() -> None:
        assert at_once.acquire(blocking=False)
        assert all_wait.wait(PATIENCE)
        at_once.release()

    async def body() -> None:
        made = function_of(alone, "alone", pool="one")
        async with world(url, made, pools=Pools({"one": 1})) as at:
            run = await at.start(flow(*(call(f"s{number}", "alone") for number in range(4))))

            async def last_one_says_it_waits() -> bool:
                there = "s3" in await at.steps(run)
                return there and "Waits for a place in the pool `one`" in await at.lines(run, "s3")

            await until(last_one_says_it_waits)
            all_wait.set()
            assert await at.end(run) == "SUCCEEDED"

    asyncio.run(body())


# ------------------------------------------------------------------------------------------ and restart
def test_a_restart_sees_what_earlier_runs_returned(url: str) -> None:
    def second(ctx: StepContext) -> int:
        CALLS.append(ctx.upstream["first"]["id"])
        if len([each for each in CALLS if each == 7]) == 1:
            raise ValueError("once")
        return 1

    async def body() -> None:
        text = flow(call("first", "data", "second", params=JSON), call("second", "second", params=LONG))
        async with world(url, *named(data, second)) as at:
            run, status = await at.run(text)
            assert status == "FAILED"
            request = InstanceRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
            await restart(at.store, ANN, run.workflow_id, run.instance_id, request, hints=at.hints)
            again = run._replace(run_id=2)
            assert await at.end(again) == "SUCCEEDED"
            assert await at.result(again, "second") == 1
        assert CALLS == ["data today", 7, 7]

    asyncio.run(body())


def test_progress_can_be_seen_while_a_step_runs(url: str) -> None:
    go = asyncio.Event

    async def body() -> None:
        over = go()

        async def load(ctx: StepContext) -> None:
            ctx.progress(0.4, "loading")
            await over.wait()
            ctx.progress(1.0, "done")

        async with world(url, *named(load)) as at:
            run = await at.start(flow(call("a", "load")))
            await at.until_running(run, "a")

            async def seen() -> str:
                artifact = (await at.step(run, "a")).artifacts.get("progress")
                return artifact.data["text"] if isinstance(artifact, DefaultArtifact) else ""

            async def is_loading() -> bool:
                return await seen() == "loading"

            await until(is_loading)
            over.set()
            assert await at.end(run) == "SUCCEEDED"
            assert await seen() == "done"

    asyncio.run(body())
