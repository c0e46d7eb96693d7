"""Runs and attempts for readers, page by page."""

from typing import Any

from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.initiator import Ancestor, SubworkflowInitiator
from stretto.model.status import RunStatus, StepStatus
from stretto.model.tag import Tag
from stretto.ports.history import (
    Above,
    AttemptsOfStep,
    ChildPage,
    Counted,
    FilteredRuns,
    InstancesIn,
    NewestInInstance,
    RunFilter,
    RunTimes,
)
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import FirstError, Parent, RunGlance, RunRow, RunSummary, StepState
from stretto.ports.run_snapshot import (
    InstancePage,
    NamedAttempts,
    NewestAttempts,
    RunPage,
    read_attempt,
    read_newest_run,
    read_run,
)
from stretto.ports.views import NewestIn, RecentRuns
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, ended, run_record

SUITE = Suite("history")
ABOVE = AttemptKey(RunKey("above", 1, 1), "sub", 1)


def keys(page: Slice[RunRow]) -> list[tuple[int, int]]:
    return [each.key[1:] for each in page.elements]


@SUITE.check
async def the_unknown_is_nothing(world: World) -> None:
    run = RunKey("wf", 1, 1)
    store = world.store
    assert await read_run(store, run) is None
    assert await read_newest_run(store, "wf", 1) is None
    assert await store.instance_ids("wf") is None
    assert (await store.read_runs(RunPage("wf", 1, Cut()))).span is None
    assert await read_attempt(store, AttemptKey(run, "s", 1)) is None
    assert await store.attempts(AttemptsOfStep(run, "s")) == []
    assert await store.attempts(NewestAttempts((run,))) == []
    assert await store.attempts(NewestInInstance("wf", 1)) == []
    assert await store.loops(run) == []
    assert await store.step_states([run]) == {}
    assert await store.step_states([]) == {}
    assert await store.runs(InstancePage("wf", Cut())) == Slice()
    assert await store.glances(RecentRuns(["wf"])) == Slice()


@SUITE.check
async def an_instance_is_shown_by_its_newest_run(world: World) -> None:
    await world.publish()
    first = await world.start(status=RunStatus.STOPPED)
    for _ in range(3):
        await world.start(status=RunStatus.FAILED)
    again = await world.restart(first)
    assert again == RunKey("wf", 1, 2)
    newest = await read_newest_run(world.store, "wf", 1)
    assert newest is not None
    assert newest.key == again
    page = await world.store.runs(InstancePage("wf", Cut(most=2)))
    assert keys(page) == [(4, 1), (3, 1)]
    assert (page.before, page.after) == (False, True)
    rest = await world.store.runs(InstancePage("wf", Cut(most=5, below=3)))
    assert keys(rest) == [(2, 1), (1, 2)]
    lowest = await world.store.runs(InstancePage("wf", Cut(most=2, above=0)))
    assert keys(lowest) == [(2, 1), (1, 2)]
    created = await world.store.runs(InstancesIn("wf", [RunStatus.CREATED], Cut()))
    assert keys(created) == [(1, 2)]
    assert await world.store.instance_ids("wf") == (1, 4)
    runs = await world.store.runs(RunPage("wf", 1, Cut(most=1)))
    assert keys(runs) == [(1, 2)]
    assert runs.after
    assert keys(await world.store.runs(RunPage("wf", 1, Cut(below=2)))) == [(1, 1)]
    assert (await world.store.read_runs(RunPage("wf", 1, Cut()))).span == (1, 2)
    recent = await world.store.glances(RecentRuns(["other", "wf"], most=3))
    assert [each.key for each in recent.elements] == [RunKey("wf", number, 1) for number in (4, 3, 2)]


@SUITE.check
async def pages_hold_still_while_rows_come(world: World) -> None:
    await world.publish()
    for _ in range(6):
        await world.start()
    read: list[int] = []
    cut = Cut(most=2)
    while page := (await world.store.runs(InstancePage("wf", cut))).elements:
        read += [each.key.instance_id for each in page]
        await world.start()  # a newer one each time
        cut = Cut(most=2, below=page[-1].key.instance_id)
    assert read == [6, 5, 4, 3, 2, 1]


@SUITE.check
async def runs_of_all_workflows_are_by_time(world: World) -> None:
    await world.publish()
    await world.publish("other")
    made = []
    for workflow_id in ("wf", "other", "wf"):
        made.append(await world.start(workflow_id))
        await world.advance(10)
    times = [(await world.row(run)).record.create_time for run in made]
    page = await world.store.runs(FilteredRuns(RunFilter(), Cut(most=2)))
    assert [each.key for each in page.elements] == [made[2], made[1]]
    assert (page.before, page.after) == (False, True)
    older = await world.store.runs(FilteredRuns(RunFilter(), Cut(below=(times[1], made[1]))))
    assert [each.key for each in older.elements] == [made[0]]
    newer = await world.store.runs(FilteredRuns(RunFilter(), Cut(above=(times[0], made[0]))))
    assert [each.key for each in newer.elements] == [made[2], made[1]]
    between = RunFilter(since=times[0] + 1, until=times[2])
    assert [each.key for each in (await world.store.runs(FilteredRuns(between, Cut()))).elements] == [made[1]]


@SUITE.check
async def every_filter_counts(world: World) -> None:
    await world.publish()
    await world.publish("other")
    above = Ancestor(workflow_id="above", instance_id=1, run_id=1, step_id="sub", step_attempt_id=1)
    child = SubworkflowInitiator(ancestors=(above,))
    plain = await world.start()
    owned = await world.start(
        owner="bob", tags=(Tag(name="hot"),), correlation_id="c-1", request_id="request-x"
    )
    stopped = await world.start(
        "other", status=RunStatus.STOPPED, initiator=child, parent=Parent(1, ABOVE), version_id=2
    )
    iteration = run_record(RunKey("maestro_foreach_1", 1, 1), "i", status=RunStatus.IN_PROGRESS)
    owner = await world.owner()
    await owner.launch(plain)
    await owner.decide(plain, records=(iteration,))
    for wanted, found in (
        (RunFilter(), {plain, owned, stopped}),  # iterations are not listed
        (RunFilter(statuses=[RunStatus.STOPPED, RunStatus.IN_PROGRESS]), {plain, stopped}),
        (RunFilter(workflow_id="wf"), {plain, owned}),
        (RunFilter(owner="bob"), {owned}),
        (RunFilter(tag="hot"), {owned}),
        (RunFilter(correlation_id="c-1"), {owned}),
        (RunFilter(uuid="request-x"), {owned}),
        (RunFilter(uuid="request-x", workflow_id="other"), set()),
        (RunFilter(roots=True), {plain, owned}),
        (RunFilter(owner="bob", workflow_id="other"), set()),
        (RunFilter(owner="bob", tag="hot"), {owned}),
        (RunFilter(initiator="SUBWORKFLOW", since=0), {stopped}),
        (RunFilter(initiator="MANUAL", workflow_id="wf"), {plain, owned}),
        (RunFilter(workflow_id="other", version_id=2), {stopped}),
        (RunFilter(workflow_id="other", version_id=1), set()),
        (RunFilter(parent=Above(run=ABOVE.run)), {stopped}),
        (RunFilter(parent=Above(run=ABOVE.run, step_id="sub", attempt=1), until=2**60), {stopped}),
        (RunFilter(parent=Above(run=ABOVE.run, step_id="sub", attempt=2)), set()),
        (RunFilter(parent=Above(run=ABOVE.run, step_id="other")), set()),
        (RunFilter(parent=Above(run=RunKey("above", 1, 2))), set()),
    ):
        page = await world.store.runs(FilteredRuns(wanted, Cut()))
        assert {each.key for each in page.elements} == found
        assert await world.store.count_runs(wanted) == Counted(len(found))
    inline = await world.store.runs(InstancePage("maestro_foreach_1", Cut()))
    assert [each.key for each in inline.elements] == [iteration.key]


@SUITE.check
async def counting_ends_somewhere(world: World) -> None:
    await world.publish()
    for _ in range(5):
        await world.start()
    assert await world.store.count_runs(RunFilter(), most=5) == Counted(5)
    assert await world.store.count_runs(RunFilter(), most=4) == Counted(4, exact=False)
    assert await world.store.count_runs(RunFilter(statuses=[RunStatus.CREATED]), most=2) == Counted(2, False)
    assert await world.store.count_runs(RunFilter(workflow_id="none"), most=1) == Counted(0)


@SUITE.check
async def runs_are_counted_by_when_they_were_made(world: World) -> None:
    await world.publish()
    made = []
    for status in (RunStatus.STOPPED, RunStatus.CREATED, RunStatus.CREATED):
        made.append(await world.start(status=status, tags=(Tag(name="hot"),)))
        await world.advance(10)
    times = [(await world.row(run)).record.create_time for run in made]
    width = times[2] - times[0]
    whole = {times[0]: {RunStatus.STOPPED: 1, RunStatus.CREATED: 1}, times[2]: {RunStatus.CREATED: 1}}
    created = {times[0]: {RunStatus.CREATED: 1}, times[2]: {RunStatus.CREATED: 1}}
    span: dict[str, Any] = {"since": times[0], "until": times[2] + 1}
    for wanted, counts in (
        (RunFilter(**span), whole),
        (RunFilter(**span, statuses=tuple(RunStatus)), whole),
        (RunFilter(**span, tag="hot"), whole),
        (RunFilter(**span, workflow_id="wf", tag="hot", roots=True), whole),
        (RunFilter(**span, workflow_id="wf", statuses=[RunStatus.CREATED]), created),
        (RunFilter(**span, workflow_id="other"), {}),
        (RunFilter(since=times[0], until=times[0]), {}),
    ):
        assert await world.store.run_times(wanted, width) == RunTimes(counts=counts)
    few = await world.store.run_times(RunFilter(**span, workflow_id="wf"), width, most=1)
    assert few.from_here == times[1]


@SUITE.check
async def runs_at_a_glance_come_without_their_records(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first = await world.live(owner)
    error = FirstError(step_id="s", status=StepStatus.FATALLY_FAILED, text="full")
    summary = RunSummary(counts={StepStatus.FATALLY_FAILED: 1}, first_error=error)
    record = (await world.row(first)).record
    over = ended(record, RunStatus.FAILED, at=record.create_time + 70)
    over.start_time = record.create_time + 20
    await owner.decide(first, records=(over,), summaries={first: summary})
    await world.advance(10)
    second = await world.start(status=RunStatus.FAILED)
    created = (await world.row(second)).record.create_time
    glances = (await world.store.glances(NewestIn(RunStatus.FAILED))).elements
    assert [each.key for each in glances] == [second, first]
    assert glances[1] == RunGlance(
        key=first,
        version_id=1,
        status=RunStatus.FAILED,
        create_time=record.create_time,
        start_time=record.create_time + 20,
        end_time=record.create_time + 70,
        summary=summary,
    )
    assert [each.duration for each in glances] == [None, 50]
    assert (await world.store.glances(NewestIn(RunStatus.FAILED, most=1))).elements == glances[:1]
    since = NewestIn(RunStatus.FAILED, since=created)
    assert (await world.store.glances(since)).elements == glances[:1]
    assert await world.store.glances(NewestIn(RunStatus.STOPPED)) == Slice()
    bare = await world.store.glances(NewestIn(RunStatus.FAILED, summaries=False))
    assert [(each.key, each.duration, each.summary) for each in bare.elements] == [
        (second, None, RunSummary()),
        (first, 50, RunSummary()),
    ]
    assert (await world.store.glances(RecentRuns(["wf"]))).elements == glances


@SUITE.check
async def children_are_found_by_their_attempt(world: World) -> None:
    await world.publish()
    first, second = [await world.start(parent=Parent(1, ABOVE)) for _ in range(2)]
    await world.start()
    page = await world.store.runs(ChildPage(ABOVE, Cut(most=1)))
    assert [each.key for each in page.elements] == [first]
    assert page.after
    rest = await world.store.runs(ChildPage(ABOVE, Cut(above=first)))
    assert [each.key for each in rest.elements] == [second]


@SUITE.check
async def attempts_are_found_one_by_one_and_newest_first(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first = await world.live(owner)
    records = (
        attempt_record(first, "a", 1, StepStatus.USER_FAILED, sequence=2),
        attempt_record(first, "a", 2, StepStatus.FATALLY_FAILED, sequence=2),
        attempt_record(first, "b", 1, StepStatus.SUCCEEDED, sequence=1),
    )
    record = ended((await world.row(first)).record, RunStatus.FAILED)
    await owner.decide(first, records=(*records, record))
    assert [each.record for each in await world.store.attempts(AttemptsOfStep(first, "a"))] == list(
        records[:2]
    )
    newest = await world.store.attempts(NewestAttempts((first,)))
    assert [each.key for each in newest] == [records[2].key, records[1].key]
    second = await world.restart(first)
    again = attempt_record(second, "a", 1, StepStatus.RUNNING, sequence=1)
    await owner.launch(second, records=(again,))
    over_all = await world.store.attempts(NewestInInstance("wf", first.instance_id))
    assert [each.key for each in over_all] == [again.key, records[2].key]
    only = await world.store.attempts(NewestInInstance("wf", first.instance_id, "b"))
    assert [each.key for each in only] == [records[2].key]
    runs = (second, first, RunKey("wf", 9, 1))
    of_step = await world.store.attempts(NewestAttempts(runs, "a"))
    assert {row.key.run: row.key for row in of_step} == {first: records[1].key, second: again.key}
    assert {row.key.run: row.record for row in of_step}[first] == records[1]
    assert await world.store.attempts(NewestAttempts((), "a")) == []
    of_all = await world.store.attempts(NewestAttempts(runs))
    assert [each.key for each in of_all] == [records[2].key, records[1].key, again.key]
    assert await world.store.attempts(NewestAttempts(())) == []
    keys = (again.key, records[0].key, AttemptKey(first, "z", 1))
    named = await world.store.attempts(NamedAttempts(keys))
    assert {each.key for each in named} == {again.key, records[0].key}
    assert await world.store.attempts(NamedAttempts(())) == []


@SUITE.check
async def states_of_steps_come_without_their_records(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first, second = await world.live(owner), await world.live(owner)
    child = RunKey("below", 7, 1)
    loop = attempt_record(
        first, "loop", 2, StepStatus.RUNNING, sequence=2, create_time=5, start_time=6, loop_total=9
    )
    ended_one = attempt_record(
        first, "a", 1, StepStatus.SUCCEEDED, sequence=1, create_time=3, start_time=4, end_time=8
    )
    earlier = attempt_record(first, "loop", 1, StepStatus.USER_FAILED, sequence=1)
    below = attempt_record(second, "sub", 1, StepStatus.RUNNING, child=child)
    counts = LoopRecord(
        key=loop.key,
        inline_id="maestro_foreach_1",
        run_id=1,
        ended={RunStatus.SUCCEEDED: 3, RunStatus.FAILED: 1, RunStatus.STOPPED: 0},
        apart={RunStatus.SUCCEEDED: 2},
    )
    await owner.decide(first, records=(earlier, ended_one, loop, counts))
    await owner.decide(second, records=(below,))
    states = await world.store.step_states([second, first, first, RunKey("wf", 99, 1)])
    assert states == {
        first: [
            StepState(
                key=ended_one.key,
                sequence=1,
                status=StepStatus.SUCCEEDED,
                create_time=3,
                start_time=4,
                end_time=8,
            ),
            StepState(
                key=loop.key,
                sequence=2,
                status=StepStatus.RUNNING,
                create_time=5,
                start_time=6,
                is_loop=True,
                total=9,
                ended={RunStatus.SUCCEEDED: 5, RunStatus.FAILED: 1},
            ),
        ],
        second: [
            StepState(
                key=below.key,
                sequence=below.sequence,
                status=StepStatus.RUNNING,
                create_time=below.create_time,
                start_time=below.start_time,
                child=child,
            )
        ],
    }


@SUITE.check
async def marks_of_steps_are_those_of_their_newest_attempts(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run, child = await world.live(owner), RunKey("child", 3, 1)
    records = (
        attempt_record(run, "a", 1, StepStatus.SUCCEEDED, start_time=4, end_time=8),
        attempt_record(run, "loop", 1, StepStatus.USER_FAILED),
        attempt_record(run, "loop", 2, StepStatus.RUNNING, start_time=6),
        LoopRecord(key=AttemptKey(run, "loop", 1), inline_id="maestro_foreach_1", run_id=1),
        LoopRecord(key=AttemptKey(run, "loop", 2), inline_id="maestro_foreach_1", run_id=1),
        attempt_record(run, "sub", 1, StepStatus.RUNNING, start_time=7, child=child),
    )
    await owner.decide(run, records=records)
    marks = await world.store.step_marks(run)
    assert {step: tuple(mark) for step, mark in marks.newest.items()} == {
        "a": ("a", 1, "SUCCEEDED", 4, 8, None),
        "loop": ("loop", 2, "RUNNING", 6, None, None),
        "sub": ("sub", 1, "RUNNING", 7, None, "child"),
    }
    states = {each.key.step_id: each for each in (await world.store.step_states([run]))[run]}
    assert marks.below == {"loop": states["loop"], "sub": states["sub"]}
    assert await world.store.step_marks(RunKey("wf", 99, 1)) == ({}, {})
