"""Corners of the stores on databases that the suite of the ports does not reach."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.ports.sqlite_bench import SqliteBench

from stretto.engine.inline_ids import Loop, inline_prefix
from stretto.engine.kinds.loops import IterationParams
from stretto.engine.records import AttemptKey, RunKey, RunRecord
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.param import Parameter, ParamType
from stretto.model.status import RunStatus, StepStatus
from stretto.model.tag import Tag
from stretto.ports.breakpoints import BreakpointPage
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.failures import Poison, Stale
from stretto.ports.history import FilteredRuns, InstancesIn, RunFilter
from stretto.ports.messages import Letter, Log
from stretto.ports.paging import Cut, Slice
from stretto.ports.permits import LineFor
from stretto.ports.rows import NodeId, Parent
from stretto.ports.run_snapshot import read_attempt, read_run
from stretto.ports.signals import NewSignal, SignalWait
from stretto.ports.views import RecentRuns
from stretto.ports.work import Work, WorkPage
from stretto.ports.workflows import read_workflow
from stretto.store.settings import DatabaseSettings
from stretto.store.sql import run_lists
from stretto.store.sql.params import Recent
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.workflows import gone
from stretto.testing.store_suite.world import World, attempt_record, ended, refusal, run_record


def in_world(
    folder: Path, body: Callable[[World], Awaitable[None]], settings: DatabaseSettings | None = None
) -> None:
    async def run() -> None:
        bench = SqliteBench(folder, settings)
        store = await bench.open()
        await body(World(store, bench.open, bench.advance))
        await store.close()

    asyncio.run(run())


def test_names_are_paged_both_ways(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        for name in "abcd":
            await world.store.announce(NewSignal(name=name, instance_id="i"))
        below = await world.store.signal_names(Cut(most=2, below="d"))
        assert [each.name for each in below.elements] == ["b", "c"]
        assert (below.before, below.after) == (True, True)
        above = await world.store.signal_names(Cut(most=2, above="b"))
        assert [each.name for each in above.elements] == ["c", "d"]
        assert (above.before, above.after) == (True, False)

    in_world(tmp_path, body)


def test_what_is_put_and_released_in_one_commit_is_not_there(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        run = await world.live(owner)
        group = await owner.group_of(run)
        gone, kept, poor = (AttemptKey(run, name, 1) for name in ("gone", "kept", "poor"))

        def everything(attempt: AttemptKey) -> Decided:
            return Decided(
                root=run,
                permits=(PermitAsk(attempt=attempt, limits={"x": 1}, since=1),),
                waits=tuple(SignalWait(name="s", attempt=attempt, index=n, group=group) for n in (0, 1)),
                work=(Work(attempt=attempt, launch=1, pool="p", group=group),),
            )

        decisions = [
            everything(gone),
            everything(kept),
            Decided(root=run, permits=(PermitAsk(attempt=poor, limits={"x": 1}, since=1),)),
            Decided(root=run, matched=((kept, 1),), released=(gone,), returned=(poor,)),
        ]
        await owner.commit(group, *decisions)
        assert [each.attempt for each in (await world.store.permits(LineFor("x", Cut()))).elements] == [kept]
        waits = await world.store.signal_waits("s", after=None, most=9)
        assert [(each.attempt, each.index) for each in waits] == [(kept, 0)]
        assert [each.attempt for each in (await world.store.pool_work(WorkPage("p", Cut()))).elements] == [
            kept
        ]
        await owner.commit(group, Decided(released=(kept,)), everything(kept))  # and the other way round
        assert [each.attempt for each in (await world.store.permits(LineFor("x", Cut()))).elements] == [kept]

    in_world(tmp_path, body)


def test_decisions_of_one_run_follow_each_other_in_a_commit(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        run = await world.start()
        group = await owner.group_of(run)
        record = run_record(run, "request-1", status=RunStatus.IN_PROGRESS)
        first = attempt_record(run, "a", 1, StepStatus.RUNNING)
        second = attempt_record(run, "a", 1, StepStatus.SUCCEEDED)
        decisions = (
            Decided(root=run, launch=True, records=(record, first), due_at=1),
            Decided(root=run, records=(second,), due_at=2),
            Decided(root=run, records=(ended(record),)),
        )
        await owner.commit(group, *decisions)
        row = await world.row(run)
        assert (row.record.status, row.due_at) == (RunStatus.SUCCEEDED, None)
        found = await read_attempt(world.store, first.key)
        assert found is not None
        assert found.record.status is StepStatus.SUCCEEDED
        again = await world.start()
        late = Decided(root=again, launch=True), Decided(root=again, launch=True)
        group = await owner.group_of(again)
        error = await refusal(Stale, owner.commit(group, *late))
        assert error.groups == {group}
        await owner.commit(group, Decided(root=again, launch=True, due_at=7))  # the record is as it was
        assert (await world.row(again)).due_at == 7

    in_world(tmp_path, body)


def test_a_message_is_dealt_with_once_in_a_commit(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        owner = await world.owner()
        number = await world.store.send(Letter(ref="m", to_group=1, body=Log(at=1)))
        twice = Decided(consumed=(number,)), Decided(consumed=(number,))
        error = await refusal(Stale, owner.commit(1, *twice))
        assert error.groups == {1}
        await owner.commit(1, Decided(consumed=(number,)))

    in_world(tmp_path, body)


def test_nothing_is_asked_for_nothing(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        store = world.store
        assert await store.load_flows([]) == []
        assert await store.load_flows([RunKey("unknown", 1, 1)]) == []
        assert await store.claim_again((await world.owner()).node, []) == []
        await store.calm([])
        assert await store.glances(RecentRuns([])) == Slice()
        assert await store.workflow_rows([]) == {}

    in_world(tmp_path, body)


def test_a_count_that_must_read_rows_ends_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_lists, "MOST_FETCHED", 2)

    async def body(world: World) -> None:
        await world.publish()
        for _ in range(3):
            await world.start(owner="ana")
        both = RunFilter(owner="ana", statuses=[RunStatus.CREATED])
        assert (await world.store.count_runs(both)).exact is False
        assert await world.store.count_runs(RunFilter(owner="ana")) == (3, True)

    in_world(tmp_path, body)


def test_filters_of_runs_go_together(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        await world.publish("other")
        tagged = await world.start(tags=(Tag(name="hot"), Tag(name="new")), owner="ana")
        await world.start("other", tags=(Tag(name="hot"),))
        for wanted in (
            RunFilter(tag="hot", workflow_id="wf"),
            RunFilter(tag="new"),
            RunFilter(tag="hot", owner="ana", roots=True, statuses=[RunStatus.CREATED, RunStatus.FAILED]),
        ):
            page = await world.store.runs(FilteredRuns(wanted, Cut()))
            assert [each.key for each in page.elements] == [tagged]

    in_world(tmp_path, body)


def test_pages_of_several_lists_are_one_list(tmp_path: Path) -> None:
    """Runs in two statuses, page by page, upwards and downwards."""

    async def body(world: World) -> None:
        await world.publish()
        for number in range(9):
            await world.start(status=RunStatus.FAILED if number % 3 else RunStatus.STOPPED)
            await world.advance(1)
        statuses = [RunStatus.FAILED, RunStatus.STOPPED]
        down: list[int] = []
        cut = Cut(most=2)
        while page := (await world.store.runs(InstancesIn("wf", statuses, cut))).elements:
            down += [each.key.instance_id for each in page]
            cut = Cut(most=2, below=down[-1])
        assert down == list(range(9, 0, -1))
        up = await world.store.runs(InstancesIn("wf", statuses, Cut(most=4, above=3)))
        assert [each.key.instance_id for each in up.elements] == [7, 6, 5, 4]
        assert (up.before, up.after) == (True, True)
        top = await world.store.runs(InstancesIn("wf", statuses, Cut(most=4, above=7)))
        assert (top.before, top.after) == (False, True)

    in_world(tmp_path, body)


def test_ids_that_are_too_long_are_refused(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await refusal(Poison, world.publish("w" * 192))
        await world.publish()
        await refusal(Poison, world.store.join(NodeId("n\0")))
        await refusal(Poison, world.start(request_id="r" * 256))
        await refusal(Poison, world.start(correlation_id="c\0"))
        await refusal(Poison, world.store.announce(NewSignal(name="n" * 257, instance_id="i")))
        done = await world.store.announce(NewSignal(name="n", instance_id="i" * 10_000))  # any length
        assert done.signal.instance_id == "i" * 10_000

    in_world(tmp_path, body)


def test_a_document_that_shrinks_is_found_in_its_row(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        run = await world.live(owner)
        for text in ("x" * 5_000, "small", "y" * 6_000):
            record = attempt_record(run, "s", reason=text)
            await owner.decide(run, records=(record,))
            found = await read_attempt(world.store, record.key)
            assert found is not None
            assert found.record.reason == text

    in_world(tmp_path, body, DatabaseSettings(blob_from=4_096))


# ----------------------------------------------------------------------------------------------- parameters
def param(value: str) -> Parameter:
    return Parameter(type=ParamType.STRING, value=value, evaluated_result=value)


@pytest.mark.parametrize("blob_from", [1, 40, 1_000_000])
def test_parameters_are_stored_wherever_they_are(tmp_path: Path, blob_from: int) -> None:
    """Of runs, of iterations over them, and of iterations inside iterations; written once or again."""

    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        run = await world.start(params={"a": param("1"), "b": param("2")})
        (flow,) = await world.store.load_flows([run])
        record = flow.run.record
        record.status = RunStatus.IN_PROGRESS
        around = IterationParams({"i": param("0"), "b": param("over")}, record.params)
        inner = IterationParams({"j": param("9")}, around)
        iterations = [
            run_record(RunKey("maestro_foreach_1", number, 1), f"i{number}", status=RunStatus.IN_PROGRESS)
            for number in (1, 2, 3, 4)
        ]
        layers = (around, inner, IterationParams({"l": param("7")}, record.params))
        for each, params in zip(iterations, layers, strict=False):
            each.params = params
        await owner.decide(run, launch=True, records=(record, *iterations[:2]))
        await owner.decide(run, records=(record, *iterations))  # of most parameters nothing is news now
        await _same_params(world, record, *iterations)
        record.params = {**record.params, "c": param("3")}  # those of iterations stay as they were
        await owner.decide(run, records=(record,))
        await _same_params(world, record, *iterations)
        again = Owner(await world.another(), owner.node)  # a handle that knows nothing of what was written
        again.hold(owner.leases.values())
        iterations[2].params = IterationParams({}, record.params)
        iterations[3].params = IterationParams({"k": param("4")}, record.params)
        await again.decide(run, records=(record, *iterations))
        await _same_params(world, record, *iterations)
        await again.end(run, records=tuple(ended(each) for each in iterations))
        assert (await world.row(run)).record.params == record.params

    in_world(tmp_path, body, DatabaseSettings(blob_from=blob_from))


async def _same_params(world: World, *records: RunRecord) -> None:
    for record in records:
        assert (await world.row(record.key)).record.params == record.params
    (flow,) = await world.store.load_flows([records[0].key])
    loaded = {row.key: row.record.params for row in (flow.run, *flow.iterations)}
    assert loaded == {record.key: dict(record.params) for record in records}


def test_only_so_much_is_remembered() -> None:
    recent: Recent[int, str] = Recent(2)
    for number in (1, 2, 1, 3):
        recent.note(number, "x")
    assert list(recent) == [1, 3]


# ------------------------------------------------------------------------------------------------ retention
def test_what_can_not_go_does_not_keep_the_rest(tmp_path: Path) -> None:
    """More instances than are looked at with one statement stand before one that may go."""

    async def body(world: World) -> None:
        await world.publish()
        parent = Parent(1, AttemptKey(RunKey("above", 1, 1), "s", 1))
        for _ in range(105):
            await world.start(status=RunStatus.SUCCEEDED, parent=parent)
        await world.advance(10)
        last = await world.start(status=RunStatus.SUCCEEDED)
        for message in (await world.store.fetch((await world.owner()).node, range(128))).messages:
            await world.store.withdraw(message.id)
        assert await world.store.prune_runs("wf", await world.store.now() + 1) == 1
        assert await read_run(world.store, last) is None

    in_world(tmp_path, body)


def test_an_instance_with_two_ended_runs_is_looked_at_once(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        first = await world.live(owner)
        await owner.end(first)
        second = await world.restart(first)
        await owner.launch(second)
        await owner.end(second, records=(attempt_record(second, "s", 1, StepStatus.SUCCEEDED),))
        assert await world.store.prune_runs("wf", await world.store.now() + 1) == 3

    in_world(tmp_path, body)


def test_an_iteration_that_has_not_ended_keeps_its_instance(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        owner = await world.owner()
        run = await world.live(owner)
        iteration = run_record(RunKey("maestro_foreach_1", 1, 1), "i", status=RunStatus.IN_PROGRESS)
        await owner.end(run, records=(iteration,))
        assert await world.store.prune_runs("wf", await world.store.now() + 1) == 0

    in_world(tmp_path, body)


def test_children_of_iterations_go_with_them(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        await world.publish("below")
        owner = await world.owner()
        run = await world.live(owner)
        iteration = run_record(RunKey("maestro_foreach_1", 1, 1), "i", status=RunStatus.IN_PROGRESS)
        inside = attempt_record(iteration.key, "sub", 1, StepStatus.RUNNING)
        await owner.decide(run, records=(iteration, inside))
        parent = Parent(await owner.group_of(run), inside.key)
        child = await world.live(owner, "below", parent=parent)
        await owner.end(run, records=(ended(iteration),))
        limit = await world.store.now() + 1_000
        assert await world.store.prune_runs("wf", limit) == 0  # what is below the iteration has not ended
        await owner.end(child)
        assert await world.store.prune_runs("wf", limit, most=2) == 2
        assert await read_run(world.store, child) is None
        assert await read_run(world.store, run) is not None
        assert await world.store.prune_runs("wf", limit) == 2

    in_world(tmp_path, body)


def test_a_purge_takes_breakpoints_inside_loops_along(tmp_path: Path) -> None:
    async def body(world: World) -> None:
        await world.publish()
        await world.publish("kept")
        for workflow_id in ("wf", "kept"):
            row = await read_workflow(world.store, workflow_id)
            assert row is not None
            for loop in (Loop.FOREACH, Loop.WHILE):
                prefix = inline_prefix(loop, row.internal_id)
                await world.store.set_breakpoint(StepBreakpoint(workflow_id=prefix, step_id="s"))
        await world.store.delete_workflow("wf", gone)
        while await world.store.purge("wf", most=1):
            pass
        assert len((await world.store.breakpoints(BreakpointPage(Cut()))).elements) == 2
        await world.publish()

    in_world(tmp_path, body)
