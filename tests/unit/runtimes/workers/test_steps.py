"""Steps whose functions run in workers, through the Python runtime."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.runtimes.python.stand import NOW, RUN, Stand, Told, said, text, told, value, with_params
from tests.unit.runtimes.workers import functions
from tests.unit.runtimes.workers.stand import MODULE, in_group, lives, pids_in, wait_until
from tests.waiting import until

from stretto.model.artifact import ArtifactKey, DefaultArtifact, DynamicOutputArtifact
from stretto.model.param import ParamDefinition, ParamType
from stretto.ports.runtime import Continue, Done, StepResult, Stopped
from stretto.runtimes.python import Pools
from stretto.runtimes.python.context import LOGGER, StepContext
from stretto.runtimes.python.function import Function, function_of
from stretto.runtimes.python.processes import Elsewhere, FarCall
from stretto.runtimes.python.sources import of_script
from stretto.runtimes.python.substeps import params_of
from stretto.runtimes.workers import calls
from stretto.runtimes.workers.calls import Relay, WorkerProcesses
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import Beat, Logged, Progress
from stretto.runtimes.workers.pool import Workers


def far(call: Callable[..., Any], **options: Any) -> Function:
    return function_of(call, isolation="process", **options)


def playing(
    body: Callable[[Stand], Awaitable[None]],
    *given: Function,
    workers: Workers | None = None,
    size: int = 1,
    **options: Any,
) -> None:
    """A runtime with workers."""

    async def run() -> None:
        processes = WorkerProcesses(workers or Workers({"default": WorkerLimits(size=size)}))
        stand = Stand(*given, processes=processes, **options)
        try:
            async with asyncio.timeout(100):
                await body(stand)
        finally:
            await stand.runtime.close()
        assert processes.workers.pids == []

    asyncio.run(run())


async def terminated(stand: Stand, step: Told) -> StepResult:
    while isinstance(answer := await stand.runtime.terminate(step.ctx), Continue):  # noqa: ASYNC110 - as engines do
        await asyncio.sleep((answer.after or 0) / 1_000)
    return answer


def test_values_go_over_and_come_back() -> None:
    add, shipped, smallest = far(functions.add), far(functions.shipped), far(functions.smallest)

    async def body(stand: Stand) -> None:
        assert value(await stand.run(add, {"a": 1})) == 2
        order = functions.Order(1, date(2026, 11, 15))
        assert (
            value(await stand.run(shipped, {"order": order, "at": 3.0})) == '{"number":2,"day":"2026-11-03"}'
        )
        assert value(await stand.run(smallest, {"numbers": {3, 1, 2}})) == (1,)

    playing(body, add, shipped, smallest)


def test_failures_and_their_tracebacks() -> None:
    fails, crash = far(functions.fails), far(functions.exits_at_once)

    async def body(stand: Stand) -> None:
        result = await stand.run(fails)
        assert said(result) == ("UserError", "ValueError: no such table")
        artifact = result.artifacts["python"]
        assert isinstance(artifact, DefaultArtifact)
        assert artifact.data["error"] == "ValueError"
        lines = artifact.data["traceback"].splitlines()
        assert [line.strip() for line in lines[2:]] == [
            'raise ValueError("no such table")',
            "ValueError: no such table",
        ]
        assert said(await stand.run(crash, {"code": 3})) == (
            "PlatformError",
            "the worker process ended: exit code 3",
        )

    playing(body, fails, crash)


def test_handlers_and_filters_stay_here() -> None:
    heard: list[Any] = []

    async def failed(error: Exception) -> None:
        heard.append((type(error), str(error)))

    class Filter:
        async def around(self, ctx: StepContext, call_next: Callable[[], Awaitable[Any]]) -> Any:
            heard.append(ctx.step_id)
            return await call_next() + 100

    fails = far(functions.fails, on_failure=[failed])
    add = far(functions.add)

    async def body(stand: Stand) -> None:
        await stand.run(fails, step_id="first")
        assert value(await stand.run(add, {"a": 1}, step_id="second")) == 102
        assert heard == ["first", (Elsewhere, "ValueError: no such table"), "second"]

    playing(body, fails, add, filters=[Filter()])


def test_the_context_goes_over_the_pipe(caplog: pytest.LogCaptureFixture) -> None:
    tells, knows = far(functions.tells), far(functions.knows)

    async def body(stand: Stand) -> None:
        first = told(tells, step_id="load")
        with caplog.at_level(logging.INFO):
            result = await stand.end(first)
        assert isinstance(result, Done), result
        assert result.redirect == "extract"
        assert [each.id for each in result.added] == ["first", "second"]
        assert list(result.added[0].transition.successors) == ["second"]
        reports = [*first.said, result]  # what it tells early is reported before its end
        progress = next(each.artifacts["progress"] for each in reports if "progress" in each.artifacts)
        assert isinstance(progress, DefaultArtifact)
        assert progress.data == {"fraction": 0.5, "text": "half", "at": NOW}
        assert {line for each in reports for line in lines(each)} == {"a note"}
        fired = result.artifacts[ArtifactKey.DYNAMIC_OUTPUT.value]
        assert isinstance(fired, DynamicOutputArtifact)
        assert fired.signal_outputs is not None
        assert fired.signal_outputs[0].evaluated_result["parts"] == ("a", "b")
        record = next(each for each in caplog.records if each.name == LOGGER.name)
        assert (record.getMessage(), record.step, record.attempt) == ("took 3 s", "load", 1)  # type: ignore[attr-defined]
        step = told(knows, {"day": date(2026, 11, 15)})
        found = json.loads(value(await stand.end(step)))
        assert (found["run"], found["params"]) == (list(RUN), {"day": "2026-11-15"})

    playing(body, tells, knows)


def test_a_step_that_is_stopped_is_gone(tmp_path: Path) -> None:
    names = ("spins", "swallows", "has_children")
    given = {name: far(getattr(functions, name)) for name in names}

    async def body(stand: Stand) -> None:
        for name, function in given.items():
            file = tmp_path / name
            step = told(function, {"file": str(file)})
            assert isinstance(await stand.runtime.start(step.ctx), Continue)
            pids = await pids_in(file)
            assert await terminated(stand, step) == Stopped()
            assert not lives(pids[0])
            wait_until(lambda pids=pids: not in_group(pids[0]) and not any(map(lives, pids)))  # type: ignore[misc]
        assert stand.runtime.at_work == []

    playing(body, *given.values(), grace=1.0)


def test_a_timeout_is_told_to_handlers(tmp_path: Path) -> None:
    heard: list[str] = []

    async def late(error: Exception) -> None:
        heard.append(str(error))

    sleeps = far(functions.sleeps, on_timeout=[late])

    async def body(stand: Stand) -> None:
        step = told(sleeps, {"file": str(tmp_path / "pids")}, timeout_at=NOW + 10)
        await stand.runtime.start(step.ctx)
        await pids_in(tmp_path / "pids")
        stand.at += 10
        assert isinstance(await terminated(stand, step), Stopped)
        assert heard == [f"`{MODULE}:sleeps` took too long"]

    playing(body, sleeps)


def test_a_function_without_heartbeats_is_ended(tmp_path: Path) -> None:
    cleans = far(functions.cleans, heartbeat_within=0.5)

    async def body(stand: Stand) -> None:
        file, cleaned = tmp_path / "pids", tmp_path / "cleaned"
        result = await stand.run(cleans, {"file": str(file), "cleaned": str(cleaned)})
        assert said(result) == ("UserError", f"`{MODULE}:cleans` gave no heartbeat for 0.5 s")
        assert not lives((await pids_in(file))[0])

    playing(body, cleans)


def test_nobody_has_time_any_more(
    tmp_path: Path, at_most: Callable[[float], AbstractContextManager[None]]
) -> None:
    swallows = far(functions.swallows)

    async def body(stand: Stand) -> None:
        step = told(swallows, {"file": str(tmp_path / "pids")})
        await stand.runtime.start(step.ctx)
        (pid,) = await pids_in(tmp_path / "pids")
        closing = asyncio.create_task(stand.runtime.close())
        await until((tmp_path / "pids.told").exists)
        assert lives(pid)
        with at_most(30):
            stand.runtime.kill_all()
            await closing
        assert not lives(pid)

    playing(body, swallows, grace=1_000.0)


def test_pools_of_workers_and_other_pools(tmp_path: Path) -> None:
    gpu, db, lost = (far(functions.sleeps, name=name, pool=name) for name in ("gpu", "db", "nowhere"))
    workers = Workers({"default": WorkerLimits(size=1), "gpu": WorkerLimits(size=1)})

    async def body(stand: Stand) -> None:
        for function in (gpu, db):
            file = tmp_path / function.name
            steps = [told(function, {"file": str(file)}) for _ in range(2)]
            await stand.runtime.start(steps[0].ctx)
            await pids_in(file)
            waits = await stand.runtime.start(steps[1].ctx)
            assert [getattr(each, "message", None) for each in waits.timeline] == [
                f"Waits for a place in the pool `{function.name}`"
            ]
            for step in reversed(steps):
                await terminated(stand, step)
        assert said(await stand.run(lost, {"file": ""}))[0] == "FatalError"

    playing(body, gpu, db, lost, workers=workers, pools=Pools({"db": 1}))


def test_remarks_are_in_the_timeline(tmp_path: Path) -> None:
    leaves, daemon = far(functions.leaves_children), far(functions.leaves_daemon)

    async def body(stand: Stand) -> None:
        result = await stand.run(leaves, {"file": str(tmp_path / "a")})
        assert value(result) == "done"
        assert lines(result) == [
            f"`{MODULE}:leaves_children` has left 2 processes running in the background: ended"
        ]
        result = await stand.run(daemon, {"file": str(tmp_path / "b")})
        assert lines(result) == [
            f"`{MODULE}:leaves_daemon` has left a process running in the background: ended"
        ]

    playing(body, leaves, daemon)


def lines(result: StepResult) -> list[str | None]:
    return [getattr(each, "message", None) for each in result.timeline]


def test_what_can_not_go_over(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = far(functions.everything)
    inner = far(lambda a: a, name="inner")

    async def body(stand: Stand) -> None:
        step = with_params(Told(params_of(everything, {})), big=text("x" * 1_000))
        kind, message = said(await stand.end(step))
        assert kind == "FatalError"
        assert f"the arguments of `{MODULE}:everything` are too large, with 1,0" in str(message)
        kind, message = said(await stand.run(inner, {"a": 1}))
        assert (kind, "finds functions by name" in str(message)) == ("FatalError", True)

    monkeypatch.setattr(calls, "MOST_CALL", 1_000)
    playing(body, everything, inner)


def test_other_systems_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    add = far(functions.add)

    async def body(stand: Stand) -> None:
        kind, message = said(await stand.run(add, {"a": 1}))
        assert (kind, "needs Linux, macOS or another POSIX system" in str(message)) == ("FatalError", True)

    monkeypatch.setattr(calls, "os", SimpleNamespace(name="nt"))
    playing(body, add)


def test_services_by_a_factory() -> None:
    uses = far(functions.uses_service)
    workers = Workers({"default": WorkerLimits(size=1)}, services={"db": f"{MODULE}:Database"})

    async def body(stand: Stand) -> None:
        assert value(await stand.run(uses)) == 1

    async def without(stand: Stand) -> None:
        kind, message = said(await stand.run(uses))
        assert (kind, "out of reach" in str(message)) == ("FatalError", True)

    playing(body, uses, workers=workers)
    playing(without, uses)


def test_a_script_in_a_worker() -> None:
    async def run() -> None:
        processes = WorkerProcesses()
        step = with_params(
            Told({"n": ParamDefinition(type=ParamType.LONG, value=2)}), script=text("result = n * 21")
        )
        asked = FarCall(
            function=of_script("result = n * 21"),
            told=step.ctx,
            values={"n": 2},
            begun=nothing,
            note=print,
            grace=float,
        )
        assert await processes.call(asked) == 42
        await processes.close()

    asyncio.run(run())


def nothing() -> None:
    pass


async def a_step() -> Any:
    return Told({}).ctx


def test_a_relay_without_a_context() -> None:
    asked = FarCall(
        function=far(functions.add),
        told=asyncio.run(a_step()),
        values={},
        begun=nothing,
        note=print,
        grace=float,
    )
    for each in (Beat(), Progress(1.0, ""), Logged(20, "")):
        Relay(asked).hear(each)


def test_a_log_handler_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def log(self, *_: Any) -> None:
            raise OSError("disk full")

    class Context:
        logger = Broken()

    calls._log(Logged(20, "x"), Context())  # type: ignore[arg-type]
    assert "a record of a step is lost" in caplog.text
