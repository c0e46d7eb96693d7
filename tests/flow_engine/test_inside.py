"""What steps inside of loops and subworkflows report reaches the program, with the path to each step."""

import asyncio
from typing import Any

import pytest
from tests.flow_engine.flows import CALLS, GATES, finish, seen
from tests.waiting import until

from stretto.engine.records import RunKey
from stretto.flow.engine import Engine, EngineStopped, RunChange, moments, progress
from stretto.flow.engine.handlers import Handlers
from stretto.flow.engine.inner import live_below, live_inside
from stretto.flow.engine.run import Run
from stretto.flow.engine.watching import Watch
from stretto.flow.loops import foreach
from stretto.flow.steps import step
from stretto.flow.whiles import loop_while
from stretto.flow.workflow import workflow
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged, WorkflowDeleted
from stretto.model.status import InstanceStatus, StepStatus
from stretto.model.status_change import StepStatusChange
from stretto.ports.events import LogRow
from stretto.ports.history import AttemptsOfStep, RunList
from stretto.ports.run_snapshot import NamedRuns
from stretto.runtimes.python.context import StepContext


@step
async def price(item: int, ctx: StepContext) -> int:
    """Held, for odd items, after it has told how far it is."""
    ctx.progress(0.5, f"item {item}")
    CALLS.append(f"price {item}")
    if item % 2:
        await GATES.setdefault("gate", asyncio.Event()).wait()
    return 2 * item


@step
def total(prices: list[int]) -> int:
    return sum(prices)


@workflow
def basket(items: list[int]) -> int:
    return total(price.map(items))


@workflow
def shop(items: list[int]) -> int:
    return basket(items=items)


@workflow
def shops(many: list[int]) -> None:
    with foreach(many, id="foreach") as each:
        basket(items=[1, 2]).after(total([each]))  # type: ignore[attr-defined]


@workflow
def countdown(start: int) -> None:
    with loop_while(lambda v: v.left > 0, id="while", left=start) as state:
        price(state.left)  # type: ignore[call-arg]
        state.left = state.left - 1


@step
def adding(ctx: StepContext) -> None:
    ctx.add(price, {"item": 1}, id="first")
    ctx.add(price, {"item": 2}, id="second")


@workflow
def added() -> None:
    adding()  # type: ignore[call-arg]


async def told(run: Run[Any], wanted: dict[str, float]) -> progress.Progress:
    """The progress of a run, once these steps have told theirs."""

    async def so_far() -> progress.Progress | None:
        found = await run.progress()
        return found if {path: each.fraction for path, each in found.steps.items()} == wanted else None

    return await until(so_far)


async def follow(run: Run[Any]) -> asyncio.Task[list[tuple[str | None, str]]]:
    """Every event of a run but the first, which says that the others are collected."""
    events = run.events()
    await anext(events)

    async def collected() -> list[tuple[str | None, str]]:
        return [(each.step, str(each.status)) async for each in events]

    return asyncio.create_task(collected())


def test_events_name_the_iteration() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(basket, items=[1, 2, 3])
            events = await follow(run)
            await seen("price 3")
            GATES["gate"].set()
            found = await events
            for number in (1, 2, 3):
                assert (f"price_map[{number}].price", "SUCCEEDED") in found
            inner, loop = ("price_map[3].price", "SUCCEEDED"), ("price_map", "SUCCEEDED")
            assert found.index(inner) < found.index(loop) < found.index(("total", "SUCCEEDED"))
            own = [status for path, status in found if path is None]
            assert own[-1] == "SUCCEEDED"
            assert own.count("SUCCEEDED") == 1

    finish(work())


def test_progress_names_the_iteration_and_counts_it() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(basket, items=[1, 2, 3, 4])
            await seen("price 4")
            found = await told(run, {"price_map[1].price": 0.5, "price_map[3].price": 0.5})
            assert found.steps["price_map[3].price"].text == "item 3"
            assert found.loops == {"price_map": progress.LoopProgress(done=2, failed=0, total=4)}
            assert (found.done, found.total) == (0, 2)
            assert found.fraction == pytest.approx(3 / 4 / 2)
            GATES["gate"].set()
            await run.result(30)
            found = await run.progress()
            assert (found.done, found.fraction, found.steps) == (2, 1.0, {})
            assert found.loops["price_map"].done == 4

    finish(work())


def test_loops_inside_of_subworkflows() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(shop, items=[1, 2])
            await seen("price 1")
            events = await follow(run)  # what has begun before is found
            found = await told(run, {"basket.price_map[1].price": 0.5})
            assert found.loops == {"basket.price_map": progress.LoopProgress(done=1, total=2)}
            assert found.fraction == pytest.approx(3 / 4 / 2 / 2)
            GATES["gate"].set()
            names = await events
            assert ("basket.price_map[1].price", "SUCCEEDED") in names
            assert ("basket.total", "SUCCEEDED") in names
            assert names[-1] == (None, "SUCCEEDED")

    finish(work())


def test_subworkflows_inside_of_loops() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(shops, many=[7, 8])
            events = await follow(run)
            await seen("price 1", 2)
            await told(
                run,
                {f"foreach[{number}].basket.price_map[1].price": 0.5 for number in (1, 2)},
            )
            GATES["gate"].set()
            names = await events
            for number in (1, 2):
                assert (f"foreach[{number}].total", "SUCCEEDED") in names
                assert (f"foreach[{number}].basket", "SUCCEEDED") in names
                assert (f"foreach[{number}].basket.price_map[2].price", "SUCCEEDED") in names

    finish(work())


def test_a_run_that_has_ended_is_not_live() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(shop, items=[2])
            await run.result(30)
            host = engine._host
            assert host is not None
            (attempt,) = await host.store.attempts(AttemptsOfStep(run.key, "basket"))
            assert attempt.record.child is not None
            assert [row async for row, _path in live_inside(host.store, attempt, None)] == []
            assert [row async for row in live_below(host.store, run.key)] == []

    finish(work())


def test_a_while_and_steps_that_a_function_added() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(countdown, start=1)
            await seen("price 1")
            found = await told(run, {"while[1].price": 0.5})
            assert found.loops == {"while": progress.LoopProgress(done=0, total=None)}
            assert found.fraction == 0.0  # nobody knows how often it goes on
            events = await follow(run)
            GATES["gate"].set()
            assert ("while[1].price", "SUCCEEDED") in await events
            GATES.clear()
            run = await engine.submit(added)
            events = await follow(run)
            await seen("price 1", 2)
            found = await told(run, {"adding[1].first": 0.5, "adding[1].second": 0.5})
            GATES["gate"].set()
            assert ("adding[1].first", "SUCCEEDED") in await events

    finish(work())


def test_events_of_one_iteration() -> None:
    """Its steps alone, and those inside of them: not those of its siblings."""

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(shops, many=[7, 8])
            await seen("price 1", 2)
            second = (await run.inside("foreach"))[1]
            assert (await second.place()).path == "foreach[2]"
            assert (await second.place()).root == "shops/1"
            assert (await run.place()).path == ""
            events = await follow(second)
            await told(second, {"basket.price_map[1].price": 0.5})
            GATES["gate"].set()
            names = await events
            assert ("basket.price_map[1].price", "SUCCEEDED") in names
            assert sum(each == ("basket", "SUCCEEDED") for each in names) == 1
            assert not [each for each in names if each[0] and "foreach" in each[0]]

    finish(work())


def test_events_and_ends_inside_of_a_run_of_another_process(url: str) -> None:
    """The second engine has none of the groups: it reads everything from the log."""

    async def work() -> None:
        one, other = Engine(url, stop_within=2), Engine(url, stop_within=2, submit_only=True)
        one.register(basket, shop)
        other.register(basket, shop)
        async with one, other:
            await one.submit(shop, items=[1, 2])
            await seen("price 1")
            mine = await other.get("shop", 1)
            events = await follow(mine)
            await told(mine, {"basket.price_map[1].price": 0.5})
            GATES["gate"].set()
            names = await events
            assert ("basket.price_map[1].price", "SUCCEEDED") in names
            assert ("basket.total", "SUCCEEDED") in names

    finish(work())


def test_an_iteration_of_another_process_is_waited_for(url: str) -> None:
    """It lives in the group of the run around it, not in that which its own key would have."""

    async def work() -> None:
        one, other = Engine(url, stop_within=2), Engine(url, stop_within=2, submit_only=True)
        one.register(basket)
        other.register(basket)
        async with one, other:
            await one.submit(basket, items=[1, 3, 5])
            await seen("price 5")
            iterations = await (await other.get("basket", 1)).inside("price_map")
            waiting = [asyncio.create_task(each.ended(20)) for each in iterations]
            await asyncio.sleep(0)
            GATES["gate"].set()
            assert [str(await each) for each in waiting] == ["SUCCEEDED"] * 3

    finish(work())


def test_rows_of_several_groups_are_told_by_their_time() -> None:
    """A run must not seem to end before those that its steps started."""
    told: list[int] = []

    class Log:
        async def newest_seqs(self) -> dict[int, int]:
            return {}

        async def read_log(self, cursor: dict[int, int]) -> list[LogRow]:
            rows = [(1, 1, 20), (1, 2, 60), (2, 1, 10), (2, 2, 5), (2, 3, 50)]
            return [
                LogRow(group=group, seq=seq, at=at, events=(WorkflowDeleted(workflow_id="w", event_time=at),))
                for group, seq, at in rows
                if seq > cursor[group]
            ]

    class Follower:
        def told(self, events: Any) -> None:
            told.extend(each.event_time for each in events)

    async def work() -> None:
        watch = Watch(lambda _event: None)
        with watch.following(Follower()):
            watch.begin(Log())  # type: ignore[arg-type]
            await until(lambda: len(told) >= 5)
            await watch.end()

    finish(work())
    assert told == [10, 5, 20, 50, 60]


def test_a_run_that_begins_and_ends_in_one_commit() -> None:
    """The log names its steps before it names the run."""

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(basket, items=[1, 2])
            await seen("price 2")
            host = engine._host
            assert host is not None
            (_, second) = await run.inside("price_map")
            found = moments.Moments(host.store, await host.row(run.key))
            found._is_complete = True
            changed: list[ChangeEvent] = [
                StepStatusChanged(
                    workflow_id=second.workflow_id,
                    workflow_instance_id=2,
                    workflow_run_id=1,
                    step_id="price",
                    step_attempt_id=1,
                    status_change_records=(
                        StepStatusChange(
                            old_status=StepStatus.NOT_CREATED,
                            new_status=StepStatus.SUCCEEDED,
                            event_time=1,
                        ),
                    ),
                ),
                InstanceStatusChanged(
                    workflow_id=second.workflow_id,
                    workflow_instance_id=2,
                    workflow_run_id=1,
                    correlation_id="basket:1:1",
                    depth=1,
                    old_status=InstanceStatus.CREATED,
                    new_status=InstanceStatus.SUCCEEDED,
                    event_time=1,
                ),
            ]
            found.told(changed)
            found.told(changed[:1])  # of a run that has ended nothing is told any more
            found.lost(EngineStopped("the end"))
            events = aiter(found)
            assert (await anext(events)).step == "price_map[2].price"
            with pytest.raises(EngineStopped):
                await anext(events)
            GATES["gate"].set()
            await run.result(30)

    finish(work())


def test_a_run_that_was_deleted_meanwhile_has_no_place() -> None:
    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(basket, items=[2])
            await run.result(30)
            host = engine._host
            assert host is not None
            found = moments.Moments(host.store, await host.row(run.key))
            assert await found._path(RunKey("maestro_foreach_gone", 1, 1)) is None

    finish(work())


def test_a_run_of_other_people_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each loop one row is read, however many iterations it has, and none of other runs."""
    reads: list[RunKey] = []

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(basket, items=[1, *range(2, 40, 2)])
            await seen("price 1")
            events = run.events()
            first = await anext(events)
            assert first.key == run.key
            store = engine._host.store  # type: ignore[union-attr]
            real = store.runs

            async def counted(selection: RunList) -> Any:
                if isinstance(selection, NamedRuns):
                    reads.extend(selection.keys)
                return await real(selection)

            monkeypatch.setattr(store, "runs", counted)
            other = await engine.submit(basket, items=[2, 4])
            await other.ended(30)
            reads.clear()
            GATES["gate"].set()
            names = [each.step async for each in events]
            assert "price_map[1].price" in names
            assert not [each for each in names if each and "[21]" in each]
            assert len([key for key in reads if key.workflow_id.startswith("maestro_foreach")]) == 1
            assert other.key not in reads

    finish(work())


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "MOST_PATHS", 1)
    monkeypatch.setattr(progress, "MOST_RUNS", 1)

    async def work() -> None:
        async with Engine("memory") as engine:
            run = await engine.submit(shops, many=[7, 8])
            events = await follow(run)
            await seen("price 1", 2)
            assert len((await run.progress()).steps) <= 1
            GATES["gate"].set()
            names = await events
            assert ("foreach[2].basket.price_map[2].price", "SUCCEEDED") in names

    finish(work())


def test_handlers_are_told_where_a_run_is() -> None:
    found: set[tuple[str, str]] = set()

    async def work() -> None:
        engine = Engine("memory")

        @engine.on("succeeded")
        def ended(change: RunChange) -> None:
            found.add((change.root, change.path))

        async with engine:
            run = await engine.submit(shop, items=[2, 4])
            await run.result(30)

    finish(work())
    assert found == {
        ("shop/1", ""),
        ("shop/1", "basket"),
        ("shop/1", "basket.price_map[1]"),
        ("shop/1", "basket.price_map[2]"),
    }


def test_a_handler_is_called_if_the_place_can_not_be_read(caplog: pytest.LogCaptureFixture) -> None:
    found: list[RunChange] = []

    class Gone:
        async def place(self) -> None:
            raise ConnectionError("closed")

    async def work() -> None:
        handlers = Handlers()
        handlers.run_of = lambda _key: Gone()
        handlers.add((), found.append)
        handlers.changed(
            InstanceStatusChanged(
                workflow_id="w",
                workflow_instance_id=1,
                workflow_run_id=1,
                depth=1,
                old_status=InstanceStatus.CREATED,
                new_status=InstanceStatus.IN_PROGRESS,
                event_time=1,
            )
        )
        await handlers.finish()

    finish(work())
    assert [(each.root, each.path) for each in found] == [("w/1", "")]
    assert "the place of run w/1 could not be read" in caplog.text
