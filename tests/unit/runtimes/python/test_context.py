"""What a function may know of its step, and tell it."""

import asyncio
import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from tests.unit.runtimes.python.stand import NOW, RUN, Stand, playing, said, told, value
from tests.waiting import until

from stretto.model.artifact import DefaultArtifact, DynamicOutputArtifact
from stretto.model.errors import InvalidRequest
from stretto.model.step import TypedStep
from stretto.model.timeline import LogEvent
from stretto.ports.runtime import Continue, Done, StepResult, Stopped
from stretto.runtimes.python import Cancelled, Service, Services, StepContext, function_of
from stretto.runtimes.python import telling as module


@dataclass
class Database:
    name: str = "db"


def progress_of(result: StepResult) -> Any:
    artifact = result.artifacts.get("progress")
    return artifact.data if isinstance(artifact, DefaultArtifact) else None


def lines(*results: StepResult) -> list[str]:
    return [each.message for result in results for each in result.timeline if isinstance(each, LogEvent)]


def test_facts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stretto.step")

    async def body() -> None:
        seen: list[Any] = []

        async def look(ctx: StepContext, day: str, db: Service[Database], limit: int = 3) -> None:
            seen.extend([ctx.run, ctx.step_id, ctx.attempt, ctx.launch, dict(ctx.params), dict(ctx.upstream)])
            seen.extend(
                [ctx.service(Database) is db, ctx.service("main").name, ctx.params is ctx.params, limit, day]
            )
            ctx.logger.info("hello")
            ctx.logger.info("again")

        made = function_of(look, "look")
        stand = Stand(made, services=Services({"main": Database()}))
        step = told(made, {"day": "x"}, step_id="a", attempt=3, generation=7)
        assert await stand.end(step) == Done()
        assert seen == [RUN, "a", 3, "[etl][12][2][a][3][7][0]", {"day": "x"}, {}, True, "db", True, 3, "x"]

    playing(body)
    record = caplog.records[0]
    assert (record.getMessage(), record.__dict__["step"], record.__dict__["run"]) == (
        "hello",
        "a",
        "etl/12/2",
    )


def test_a_service_that_is_not_there() -> None:
    async def body() -> None:
        def ask(db: Service[Database]) -> str:
            return db.name

        def may(db: Service[Database] = Database("own")) -> str:  # noqa: B008 - a default like any other
            return db.name

        asks, mays = function_of(ask, "ask"), function_of(may, "may")
        stand = Stand(asks, mays)
        assert said(await stand.run(asks)) == (
            "FatalError",
            "`db` of `ask`: there is no service of type `Database`; registered: none",
        )
        assert value(await stand.run(mays)) == "own"

    playing(body)


# --------------------------------------------------------------------------------------------------- progress
@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine, too, all lines come with the result."""
    monkeypatch.setattr(module, "AT_FIRST", 60)


@pytest.mark.usefixtures("patient")
def test_the_last_word_comes_with_the_result() -> None:
    async def body() -> None:
        async def work(ctx: StepContext) -> int:
            for each in range(11):
                ctx.progress(each / 10, f"row {each}")
            ctx.note("nearly done")
            ctx.note("careful", level="WARN")
            return 1

        made = function_of(work, "work")
        step = told(made)
        result = await Stand(made).runtime.start(step.ctx)
        assert progress_of(result) == {"fraction": 1.0, "text": "row 10", "at": NOW}
        assert lines(result) == ["nearly done", "careful"]
        assert step.said == []

    playing(body)


@pytest.mark.parametrize("is_async", [True, False])
def test_progress_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch, *, is_async: bool) -> None:
    monkeypatch.setattr(module, "EVERY", 0.05)

    async def body() -> None:
        def steps(ctx: StepContext) -> Any:
            for each in range(30):
                ctx.progress(each / 30, "loading")
                ctx.note(f"line {each}")
                yield
            while len(step.said) < 3:  # whoever is told may be late
                ctx.progress(29 / 30, "loading")
                yield

        async def in_loop(ctx: StepContext) -> None:
            for _ in steps(ctx):
                await asyncio.sleep(0.01)

        def in_thread(ctx: StepContext) -> None:
            for _ in steps(ctx):
                time.sleep(0.01)

        made = function_of(in_loop if is_async else in_thread, "work")
        step = told(made)
        begun = time.monotonic()
        assert await Stand(made).runtime.start(step.ctx) == Continue()
        result = await step.end()
        between = step.said[:-1]
        assert 3 <= len(between) <= 4 + (time.monotonic() - begun) / 0.05
        assert all(isinstance(each, Continue) for each in between)
        fractions = [float(progress_of(each)["fraction"]) for each in step.said if progress_of(each)]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 29 / 30
        assert lines(*step.said) == [f"line {each}" for each in range(30)]
        assert step.said[-1] is result

    playing(body)


def test_what_is_being_told_comes_before_the_end() -> None:
    async def body() -> None:
        order: list[StepResult] = []

        begun, over = asyncio.Event(), asyncio.Event()

        async def slowly(result: StepResult) -> None:
            begun.set()
            await over.wait()
            for _ in range(10):  # what comes next could overtake it now
                await asyncio.sleep(0)
            order.append(result)

        async def work(ctx: StepContext) -> int:
            ctx.progress(0.5)
            await begun.wait()
            over.set()
            return 1

        made = function_of(work, "work")
        told_so = msgspec.structs.replace(told(made).ctx, report=slowly)
        assert await Stand(made).runtime.start(told_so) == Continue()
        await until(lambda: len(order) >= 2)
        assert [type(each) for each in order] == [Continue, Done]

    playing(body)


@pytest.mark.usefixtures("patient")
def test_one_that_talks_without_end_is_not_heard_for_ever() -> None:
    async def body() -> None:
        async def talk(ctx: StepContext) -> None:
            for each in range(1_500):
                ctx.note(f"{each} " + "x" * 5_000)

        made = function_of(talk, "talk")
        heard = lines(await Stand(made).run(made))
        assert len(heard) == 1_000
        assert heard[-1] == "Only the first 1000 lines are kept"
        assert len(heard[0]) < 2_100

    playing(body)


def test_progress_is_a_part_of_the_whole() -> None:
    async def body() -> None:
        async def wrong(ctx: StepContext, part: float) -> None:
            ctx.progress(part)

        made = function_of(wrong, "wrong")
        stand = Stand(made)
        for part in (-0.1, 1.1):
            assert "from 0 to 1" in str(said(await stand.run(made, {"part": part}))[1])

    playing(body)


def test_what_is_told_after_the_end_is_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY", 0.01)

    async def body() -> None:
        async def tells(ctx: StepContext) -> None:
            ctx.progress(0.1)
            await until(lambda: later.said)

        kept: list[StepContext] = []

        async def keep(ctx: StepContext) -> None:
            kept.append(ctx)
            ctx.progress(0.5)

        made = function_of(keep, "keep")
        step = told(made)
        await Stand(made).end(step)
        kept[0].progress(0.7)
        other = function_of(tells, "tells")
        later = told(other)
        await Stand(other).end(later)
        assert len(later.said) >= 2
        assert step.said == []

    playing(body)


def test_a_thread_may_outlive_the_loop() -> None:
    go, over = threading.Event(), threading.Event()

    def work(ctx: StepContext) -> None:
        go.wait(30)
        ctx.progress(0.5)
        over.set()

    async def body() -> None:
        made = function_of(work, "work")
        stand = Stand(made, grace=0.01)
        assert await stand.runtime.start(told(made).ctx) == Continue()
        await stand.runtime.close()

    playing(body)
    go.set()
    assert over.wait(30)


# ----------------------------------------------------------------------------------------------- cancellation
def test_a_thread_sleeps_until_it_is_told_to_end() -> None:
    async def body() -> None:
        seen: list[Any] = []
        begun = threading.Event()

        def work(ctx: StepContext) -> None:
            ctx.sleep(0.001)
            ctx.raise_if_cancelled()
            begun.set()
            try:
                ctx.sleep(60)
            except Cancelled:
                seen.append(ctx.cancelled)
                with pytest.raises(Cancelled):
                    ctx.sleep(60)
                raise

        made = function_of(work, "work")
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        await until(begun.is_set)
        assert await stand.terminated(step.ctx) == Stopped()
        assert seen == [True]

    playing(body)


def test_a_coroutine_may_not_block() -> None:
    async def body() -> None:
        async def work(ctx: StepContext) -> None:
            ctx.sleep(1)

        made = function_of(work, "work")
        assert "would stop the whole engine" in str(said(await Stand(made).run(made))[1])

    playing(body)


def test_a_coroutine_may_wait_for_its_end() -> None:
    async def body() -> None:
        seen: list[str] = []

        async def other(ctx: StepContext) -> None:
            await ctx.wait_cancelled()
            await ctx.wait_cancelled()
            seen.append("told")

        async def work(ctx: StepContext) -> None:
            tasks = [asyncio.create_task(other(ctx)), asyncio.create_task(other(ctx))]
            await asyncio.sleep(0)
            tasks[1].cancel()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.wait(tasks)
                raise

        made = function_of(work, "work")
        stand, step = Stand(made), told(made)
        assert await stand.runtime.start(step.ctx) == Continue()
        assert await stand.terminated(step.ctx) == Stopped()
        assert seen == ["told"]

    playing(body)


# ------------------------------------------------------------------------------------- signals and sub-steps
def test_signals_are_announced_with_the_result() -> None:
    async def body() -> None:
        def work(ctx: StepContext) -> None:
            ctx.fire("loaded", day="x", rows=3, share=0.5)
            ctx.fire("done")

        made = function_of(work, "work")
        result = await Stand(made).run(made)
        artifact = result.artifacts["maestro_dynamic_output"]
        assert isinstance(artifact, DynamicOutputArtifact)
        found = [dict(each.evaluated_result) for each in artifact.signal_outputs or ()]
        assert [(each["name"], each.get("day"), each.get("rows")) for each in found] == [
            ("loaded", "x", 3),
            ("done", None, None),
        ]

    playing(body)


def clean(table: str, limit: int = 3) -> int:
    return len(table) + limit


class Decorated:
    """As a decorator would leave a function that knows how it becomes a step."""

    def __init__(self, call: Any) -> None:
        self.function = function_of(call, "decorated")

    def as_step(self, step_id: str, params: Any) -> TypedStep:
        return TypedStep(id=step_id, type="Python", name=str(params))


def test_steps_are_added() -> None:
    async def body() -> None:
        ids: list[str] = []

        def plan(ctx: StepContext) -> None:
            ids.append(ctx.add(clean, {"table": "a"}))
            ids.append(ctx.add(clean, {"table": "$b", "limit": 5}))
            ids.append(ctx.add(Decorated(clean), {"table": "c"}))
            ids.append(ctx.add(TypedStep(id="own", type="NoOp"), after=ids[0]))
            ids.append(ctx.add(TypedStep(id="own", type="NoOp"), id="two", after=ids[:2]))

        made = function_of(plan, "plan", tolerance=0.2)
        result = await Stand(made).run(made, step_id="p")
        assert isinstance(result, Done)
        assert ids == ["p_clean", "p_clean_2", "p_clean_3", "own", "two"]
        assert [step.id for step in result.added] == ids
        assert result.tolerance == 0.2
        first, second, third, _, _ = result.added
        assert list(first.transition.successors) == ["own", "two"]
        assert list(second.transition.successors) == ["two"]
        assert second.params is not None
        assert {name: each.value for name, each in second.params.items()} == {
            "function": f"{__name__}:clean",
            "table": "$$b",
            "limit": 5,
            "result": 0,
        }
        assert third.name == "{'table': 'c'}"

    playing(body)


def taken(function: str) -> None:
    """Its argument has a name that a step needs for itself."""


@pytest.mark.parametrize(
    ("step", "params", "more", "why"),
    [
        (clean, {"tabel": "a"}, {}, "has no argument `tabel`: did you mean `table`"),
        (clean, {}, {}, "needs `table`"),
        (clean, {"table": "a", "x": 1}, {}, "has no argument `x`: it takes: table, limit"),
        (clean, {"table": 5}, {}, "`table` is an `int`, not a `str`"),
        (clean, {"table": "a"}, {"id": "first"}, "`first` is added already"),
        (clean, {"table": "a"}, {"after": "zero"}, "can not run after `zero`"),
        (taken, {"function": "x"}, {}, "`function` of"),
        (5, {}, {}, "can not be called"),
    ],
)
def test_steps_that_can_not_be_added(step: Any, params: Any, more: Any, why: str) -> None:
    async def body() -> None:
        def plan(ctx: StepContext) -> None:
            ctx.add(clean, {"table": "a"}, id="first")
            with pytest.raises(InvalidRequest) as caught:
                ctx.add(step, params, **more)
            assert why in str(caught.value)

        made = function_of(plan, "plan")
        assert isinstance(await Stand(made).run(made), Done)

    playing(body)


def test_a_function_may_go_back() -> None:
    async def body() -> None:
        def again(ctx: StepContext) -> None:
            ctx.redirect("extract")

        made = function_of(again, "again")
        result = await Stand(made).run(made)
        assert isinstance(result, Done)
        assert (result.redirect, result.added) == ("extract", ())

    playing(body)
