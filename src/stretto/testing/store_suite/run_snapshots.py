"""Snapshots of runs: the selected runs with all that views of them need, as of one moment."""

import asyncio
from contextlib import suppress

from stretto.engine.inline_ids import Loop, inline_workflow_id
from stretto.engine.records import AttemptKey, LoopRecord, RunKey, RunRecord
from stretto.model.initiator import Ancestor, ForeachInitiator, SubworkflowInitiator, WhileInitiator
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.history import History
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import Parent, RunRow, RunSummary
from stretto.ports.run_snapshot import (
    InstancePage,
    NamedRuns,
    NewestAttempts,
    NewestRun,
    RunDetail,
    RunPage,
    RunSnapshot,
    read_attempt,
    read_run,
)
from stretto.ports.workflows import read_workflow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, attempt_record, run_record

SUITE = Suite("run_snapshots")
EACH = inline_workflow_id(Loop.FOREACH, 1, "wf", 1, "each", 1)
AGAIN = inline_workflow_id(Loop.WHILE, 1, "wf", 1, "again", 1)


def keys(page: Slice[RunRow]) -> list[tuple[int, int]]:
    return [each.key[1:] for each in page.elements]


def above(run: RunKey, step_id: str) -> Ancestor:
    return Ancestor(
        workflow_id=run.workflow_id,
        instance_id=run.instance_id,
        run_id=run.run_id,
        step_id=step_id,
        step_attempt_id=1,
    )


async def same_run(snapshot: RunSnapshot, history: History, run: RunKey) -> None:
    """What a snapshot says of a run and its steps is what the store says."""
    assert await read_run(snapshot, run) == next(iter((await history.runs(NamedRuns((run,)))).elements), None)
    assert await snapshot.attempts(NewestAttempts((run,))) == await history.attempts(NewestAttempts((run,)))


async def is_not_there(snapshot: RunSnapshot, run: RunKey) -> bool:
    """Whether a snapshot refuses to say anything of a run, because it was not read."""
    with suppress(LookupError):
        await read_run(snapshot, run)
        return False
    return True


@SUITE.check
async def the_unknown_is_an_empty_snapshot(world: World) -> None:
    run = RunKey("wf", 1, 1)
    for selection in (
        NamedRuns((run,)),
        NamedRuns(()),
        NewestRun("wf", 1),
        InstancePage("wf", Cut()),
        RunPage("wf", 1, Cut()),
    ):
        snapshot = await world.store.read_runs(selection, RunDetail(below=None))
        assert (snapshot.page, snapshot.span, snapshot.left) == (Slice(), None, ())


@SUITE.check
async def what_was_not_read_is_not_taken_for_missing(world: World) -> None:
    await world.publish()
    first, other = await world.start(), await world.start()
    snapshot = await world.store.read_runs(NamedRuns((first,)), RunDetail(steps=False))
    assert (await read_run(snapshot, first)) is not None
    assert await is_not_there(snapshot, other)
    for ask in (
        snapshot.attempts(NewestAttempts((first,))),
        snapshot.loops(first),
        read_attempt(snapshot, AttemptKey(first, "s", 1)),
        snapshot.runs(RunPage("wf", 2, Cut(below=2))),
        snapshot.runs(RunPage("wf", 1, Cut())),
    ):
        try:
            await ask
        except LookupError:
            continue
        raise AssertionError("what was not read must not look like something that is missing")


@SUITE.check
async def a_run_comes_with_its_version_and_properties(world: World) -> None:
    await world.publish()
    row = await read_workflow(world.store, "wf")
    assert row is not None
    at = row.properties.create_time
    run = await world.start(properties_at=at)
    bare = await world.start()
    await world.publish()
    snapshot = await world.store.read_runs(NamedRuns((bare, run, RunKey("wf", 9, 1))))
    assert [each.key for each in snapshot.page.elements] == [bare, run]  # as named
    assert await snapshot.version("wf", 1) == await world.store.version("wf", 1)
    assert snapshot.internal_id("wf") == row.internal_id
    assert snapshot.properties_of(snapshot.page.elements[1]) == row.properties
    assert snapshot.properties_of(snapshot.page.elements[0]) is None


@SUITE.check
async def pages_are_those_of_the_lists(world: World) -> None:
    await world.publish()
    first = await world.start(status=RunStatus.STOPPED)
    for _ in range(4):
        await world.start()
    await world.restart(first)
    for cut in (
        Cut(),
        Cut(most=2),
        Cut(most=2, below=5),
        Cut(most=2, below=3),
        Cut(most=2, above=0),
        Cut(most=2, above=2),
        Cut(most=9, above=3),
        Cut(below=1),
        Cut(above=5),
    ):
        found = await world.store.read_runs(InstancePage("wf", cut))
        assert found.page == await world.store.runs(InstancePage("wf", cut))
        assert found.span == await world.store.instance_ids("wf") == (1, 5)
    for cut in (Cut(), Cut(most=1), Cut(most=1, above=0), Cut(below=2), Cut(below=1)):
        found = await world.store.read_runs(RunPage("wf", 1, cut))
        assert found.page == await world.store.runs(RunPage("wf", 1, cut))
        assert found.span == (1, 2)
    assert keys((await world.store.read_runs(NewestRun("wf", 1))).page) == [(1, 2)]


@SUITE.check
async def a_restarted_run_comes_with_the_runs_before_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first = await world.live(owner)
    await owner.decide(first, records=(attempt_record(first, "a"), attempt_record(first, "a", 2)))
    await owner.end(first, RunStatus.FAILED)
    second = await world.restart(first)
    await owner.launch(second)
    await owner.decide(second, records=(attempt_record(second, "b"),))
    for detail in (RunDetail(), RunDetail(steps=False)):
        snapshot = await world.store.read_runs(NamedRuns((second,)), detail)
        assert keys(await snapshot.runs(RunPage("wf", 1, Cut(below=2)))) == [(1, 1)]
        for run in (first, second):
            await same_run(snapshot, world.store, run)
        assert [each.key.number for each in await snapshot.attempts(NewestAttempts((first,)))] == [2]


def iteration(run: RunKey, around: RunKey, step_id: str, **fields: object) -> RunRecord:
    kind = WhileInitiator if run.workflow_id == AGAIN else ForeachInitiator
    initiator = kind(ancestors=(above(around, step_id),))
    status = RunStatus.IN_PROGRESS
    return run_record(run, f"{run}", **{"initiator": initiator, "status": status, **fields})


async def nested(world: World, owner: Owner) -> tuple[RunKey, RunKey, RunKey]:
    """A run with a foreach, an iteration of it, and a child of a step of that."""
    await world.publish()
    await world.publish("child")
    run = await world.live(owner)
    inner = RunKey(EACH, 1, 1)
    loop = LoopRecord(key=AttemptKey(run, "each", 1), inline_id=EACH, run_id=1, total=2, next_index=1)
    attempts = (attempt_record(run, "each"), attempt_record(run, "plain", sequence=2))
    await owner.decide(run, records=(iteration(inner, run, "each"), *attempts, loop))
    initiator = SubworkflowInitiator(ancestors=(above(run, "each"), above(inner, "sub")))
    parent = Parent(await owner.group_of(run), AttemptKey(inner, "sub", 1))
    child = await world.start("child", initiator=initiator, parent=parent)
    await owner.launch(child)
    await owner.decide(child, records=(attempt_record(child, "c"),))
    await owner.decide(run, records=(attempt_record(inner, "sub", child=child),))
    return run, inner, child


@SUITE.check
async def an_iteration_comes_with_what_is_around_it(world: World) -> None:
    run, inner, child = await nested(world, await world.owner())
    snapshot = await world.store.read_runs(NamedRuns((inner,)))
    for each in (run, inner):
        assert await read_run(snapshot, each) == await read_run(world.store, each)
    starter = AttemptKey(run, "each", 1)
    assert await read_attempt(snapshot, starter) == await read_attempt(world.store, starter)
    assert await snapshot.loops(run) == await world.store.loops(run)
    await same_run(snapshot, world.store, inner)
    below = await world.store.read_runs(NamedRuns((child,)))
    for each in (run, inner, child):
        assert await read_run(below, each) == await read_run(world.store, each)
    assert await below.version("child", 1) is not None
    assert await below.version("wf", 1) is not None


@SUITE.check
async def what_steps_have_started_comes_if_it_is_asked_for(world: World) -> None:
    owner = await world.owner()
    run, inner, child = await nested(world, owner)
    plain = await world.store.read_runs(NamedRuns((run,)))
    assert plain.flows == {}
    other = await world.store.read_runs(NamedRuns((run,)), RunDetail(below=("plain",)))
    assert other.flows == {}
    (flow,) = await world.store.load_flows([run])
    for below in (None, ("each",)):
        snapshot = await world.store.read_runs(NamedRuns((run,)), RunDetail(below=below))
        assert snapshot.flows == {run: flow}
        assert await snapshot.loops(run) == await world.store.loops(run)
    of_iteration = await world.store.read_runs(NamedRuns((inner,)), RunDetail(below=("sub",)))
    await same_run(of_iteration, world.store, child)


@SUITE.check
async def the_last_iteration_of_a_while_comes_with_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    key = AttemptKey(run, "again", 1)
    loop = LoopRecord(key=key, inline_id=AGAIN, run_id=1, next_index=2)
    runs = [RunKey(AGAIN, number, 1) for number in (1, 2)]
    await owner.decide(
        run,
        records=(
            *(iteration(each, run, "again") for each in runs),
            attempt_record(run, "again"),
            *(attempt_record(each, "in") for each in runs),
            loop,
        ),
    )
    alive = await world.store.read_runs(NamedRuns((run,)), RunDetail(below=None))
    await same_run(alive, world.store, runs[1])
    finished = [iteration(each, run, "again", status=RunStatus.SUCCEEDED, end_time=1) for each in runs]
    attempt = attempt_record(run, "again", status=StepStatus.SUCCEEDED)
    await owner.end(run, records=(*finished, attempt))
    over = await world.store.read_runs(NamedRuns((run,)), RunDetail(below=None))
    assert over.flows == {}
    await same_run(over, world.store, runs[1])


@SUITE.check
async def the_newest_attempts_over_all_runs_come_with_what_is_below_them(world: World) -> None:
    owner = await world.owner()
    run, _inner, _child = await nested(world, owner)
    other = await world.start("child", status=RunStatus.SUCCEEDED)
    attempt = attempt_record(run, "sub", child=other, status=StepStatus.SUCCEEDED, sequence=3)
    await owner.decide(run, records=(attempt,))
    await owner.end(run, RunStatus.FAILED)
    second = await world.restart(run)
    third = await world.restart(second)
    snapshot = await world.store.read_runs(NewestRun("wf", 1), RunDetail(below=None, over_runs=True))
    for each in (run, second, third, other):
        await same_run(snapshot, world.store, each)
    assert await snapshot.loops(run) == await world.store.loops(run)


@SUITE.check
async def runs_with_many_steps_come_some_at_a_time(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    runs = [await world.live(owner) for _ in range(3)]
    for run in runs[:2]:
        summary = RunSummary(counts={StepStatus.SUCCEEDED: 15_000})
        record = (await world.row(run)).record
        await owner.decide(run, records=(record,), summaries={run: summary})
    page = await world.store.read_runs(InstancePage("wf", Cut(most=2)))
    assert (keys(page.page), page.left, page.page.after) == ([(3, 1), (2, 1)], (), True)
    page = await world.store.read_runs(InstancePage("wf", Cut()))
    assert (keys(page.page), page.left) == ([(3, 1), (2, 1)], (runs[0],))
    rest = await world.store.read_runs(NamedRuns(page.left))
    assert (keys(rest.page), rest.left) == ([(1, 1)], ())
    heads = await world.store.read_runs(InstancePage("wf", Cut()), RunDetail(steps=False))
    assert heads.left == ()


@SUITE.check
async def all_that_is_read_is_of_one_moment(world: World) -> None:
    """A step ends in the same commit as its run: nobody sees the one without the other."""
    await world.publish()
    owner = await world.owner()
    runs = [await world.live(owner) for _ in range(12)]
    for run in runs:
        await owner.decide(run, records=(attempt_record(run, "a"),))

    async def end_all() -> None:
        for run in runs:
            done = attempt_record(run, "a", status=StepStatus.SUCCEEDED)
            await owner.end(run, records=(done,))

    ending = asyncio.create_task(end_all())
    while True:
        over = ending.done()
        snapshot = await world.store.read_runs(InstancePage("wf", Cut()), RunDetail(below=None))
        for row in snapshot.page.elements:
            (attempt,) = await snapshot.attempts(NewestAttempts((row.key,)))
            assert attempt.record.status.is_terminal is row.record.status.is_terminal
        if over:
            break
        await asyncio.sleep(0)  # a store in memory gives no turn to others by itself
    await ending
    assert all(row.record.status is RunStatus.SUCCEEDED for row in snapshot.page.elements)
