"""Many runs at once for live views."""

from stretto.engine.records import RunKey, RunRecord
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.history import LongestRuns
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import RunGlance, RunSummary
from stretto.ports.run_snapshot import InstancePage, NamedRuns
from stretto.ports.views import EndedSince, RunsByNumber
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, ended, run_record

SUITE = Suite("views")


def keys(page: Slice[RunGlance]) -> list[tuple[int, int]]:
    return [each.key[1:] for each in page.elements]


def by_key(page: Slice[RunGlance]) -> dict[RunKey, RunGlance]:
    return {each.key: each for each in page.elements}


@SUITE.check
async def runs_are_seen_at_a_glance(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    begun, queued = await world.live(owner), await world.start(admit=False)
    record = ended((await world.row(begun)).record, RunStatus.FAILED, at=9)
    record.start_time = 5
    summary = RunSummary(counts={StepStatus.SUCCEEDED: 2, StepStatus.FATALLY_FAILED: 1})
    await owner.decide(begun, records=(record,), summaries={begun: summary})
    found = by_key(await world.store.glances(NamedRuns((queued, begun, RunKey("wf", 99, 1)))))
    assert found == {
        begun: RunGlance(
            key=begun,
            version_id=1,
            status=RunStatus.FAILED,
            create_time=record.create_time,
            start_time=5,
            end_time=9,
            summary=summary,
        ),
        queued: RunGlance(
            key=queued,
            version_id=1,
            status=RunStatus.CREATED,
            create_time=(await world.row(queued)).record.create_time,
        ),
    }
    assert await world.store.glances(NamedRuns(())) == Slice()


@SUITE.check
async def glances_are_paged_by_instance_and_run(world: World) -> None:
    await world.publish()
    await world.publish("other")
    first = await world.start(status=RunStatus.STOPPED)
    await world.start("other")
    await world.start()
    await world.restart(first)
    page = await world.store.glances(RunsByNumber("wf", Cut(most=2)))
    assert keys(page) == [(2, 1), (1, 2)]
    assert (page.before, page.after) == (False, True)
    rest = await world.store.glances(RunsByNumber("wf", Cut(below=(1, 2))))
    assert keys(rest) == [(1, 1)]
    assert (rest.before, rest.after) == (True, False)
    assert keys(await world.store.glances(RunsByNumber("wf", Cut(above=(1, 1))))) == [(2, 1), (1, 2)]
    assert await world.store.glances(RunsByNumber("nobody", Cut())) == Slice()
    newest = await world.store.glances(InstancePage("wf", Cut(most=1)))
    assert (keys(newest), newest.after) == ([(2, 1)], True)
    assert keys(await world.store.glances(InstancePage("wf", Cut(below=2)))) == [(1, 2)]
    assert keys(await world.store.glances(InstancePage("wf", Cut(above=0)))) == [(2, 1), (1, 2)]


@SUITE.check
async def statuses_are_those_of_the_newest_attempts(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first, second, empty = [await world.live(owner) for _ in range(3)]
    attempts = (
        attempt_record(first, "a", 1, StepStatus.USER_FAILED),
        attempt_record(first, "a", 2, StepStatus.SUCCEEDED),
        attempt_record(first, "b", 1, StepStatus.RUNNING),
    )
    await owner.decide(first, records=attempts)
    await owner.decide(second, records=(attempt_record(second, "a", 1, StepStatus.STOPPED),))
    times = await world.store.step_times([second, first, first, empty])
    assert {run: {each.step_id: each.status for each in steps} for run, steps in times.items()} == {
        first: {"a": StepStatus.SUCCEEDED, "b": StepStatus.RUNNING},
        second: {"a": StepStatus.STOPPED},
    }
    assert await world.store.step_times([]) == {}
    assert await world.store.status_counts([second, first, first, empty]) == {
        first: {StepStatus.SUCCEEDED: 1, StepStatus.RUNNING: 1},
        second: {StepStatus.STOPPED: 1},
    }
    assert await world.store.status_counts([]) == {}


@SUITE.check
async def iterations_are_glanced_at_under_their_loop(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    iterations = [
        run_record(RunKey("maestro_foreach_1", number, 1), f"i{number}", status=RunStatus.IN_PROGRESS)
        for number in (1, 2)
    ]
    await owner.decide(run, records=tuple(iterations))
    assert keys(await world.store.glances(RunsByNumber("maestro_foreach_1", Cut()))) == [(2, 1), (1, 1)]


@SUITE.check
async def iterations_are_counted_in_buckets(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)

    def iteration(number: int, run_id: int, status: RunStatus) -> RunRecord:
        return run_record(RunKey("maestro_foreach_1", number, run_id), f"i{number}/{run_id}", status=status)

    records = [iteration(number, 1, RunStatus.SUCCEEDED) for number in range(1, 8)]
    records[3] = iteration(4, 1, RunStatus.FAILED)
    await owner.decide(run, records=tuple(records))
    counts = world.store.iteration_counts
    good, bad = RunStatus.SUCCEEDED, RunStatus.FAILED
    found = [(1, good, 3), (4, bad, 1), (4, good, 2), (7, good, 1)]
    assert await counts("maestro_foreach_1", 3) == found
    assert await counts("maestro_foreach_1", 3, run_id=1) == found
    await owner.decide(run, records=(iteration(4, 2, RunStatus.IN_PROGRESS),))
    again = [(1, good, 6), (1, RunStatus.IN_PROGRESS, 1)]
    assert sorted(await counts("maestro_foreach_1", 100)) == sorted(again)
    assert await counts("nobody", 3) == []


@SUITE.check
async def iterations_that_took_longest_come_first(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)

    def iteration(number: int, run_id: int, **times: int) -> RunRecord:
        return run_record(RunKey("maestro_foreach_1", number, run_id), f"i{number}/{run_id}", **times)

    records = (
        iteration(1, 1, start_time=10, end_time=20),
        iteration(2, 1, start_time=10, end_time=90),
        iteration(2, 2, start_time=100, end_time=105),
        iteration(3, 1, start_time=10),
        iteration(4, 1, start_time=30, end_time=40),
        iteration(5, 1),
    )
    await owner.decide(run, records=records)
    page = await world.store.runs(LongestRuns("maestro_foreach_1", 50, Cut(most=2)))
    assert [each.key[1:] for each in page.elements] == [(3, 1), (4, 1)]
    assert (page.before, page.after) == (False, True)
    rest = await world.store.runs(LongestRuns("maestro_foreach_1", 50, Cut(below=(10, 4))))
    assert [each.key[1:] for each in rest.elements] == [(1, 1), (2, 2)]
    assert (rest.before, rest.after) == (True, False)
    assert rest.elements[0] == await world.row(RunKey("maestro_foreach_1", 1, 1))


@SUITE.check
async def runs_that_ended_since_a_time(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    runs = [await world.live(owner) for _ in range(4)]
    for run, at in zip(runs, (40, 20, 30), strict=False):
        record = ended((await world.row(run)).record, at=at)
        attempts = (
            attempt_record(run, "a", 1, StepStatus.USER_FAILED, start_time=1, end_time=2),
            attempt_record(run, "a", 2, StepStatus.SUCCEEDED, start_time=5, end_time=at),
            attempt_record(run, "b", 1, StepStatus.UNSATISFIED),
        )
        await owner.decide(run, records=(record, *attempts))
    for since, most, found in (
        (0, 9, [runs[0], runs[2], runs[1]]),
        (30, 9, [runs[0], runs[2]]),
        (0, 1, [runs[0]]),
    ):
        page = await world.store.glances(EndedSince("wf", since, most))
        assert [each.key for each in page.elements] == found
    assert await world.store.glances(EndedSince("nobody", 0, 9)) == Slice()
    by_run = await world.store.step_times([*runs[:2], runs[0], runs[3]])
    times = [each for steps in by_run.values() for each in steps]
    good, no = StepStatus.SUCCEEDED, StepStatus.UNSATISFIED
    assert sorted([each for each in times if each.step_id == "a"]) == [
        ("a", good, 15),
        ("a", good, 35),
    ]
    assert [each for each in times if each.step_id == "b"] == [("b", no, None)] * 2
    assert await world.store.step_times([]) == {}
