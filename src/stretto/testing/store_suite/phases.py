"""How runs come, begin and end: each phase is left in one way only."""

import msgspec

from stretto.engine.records import RunKey
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.ports.commit import Decided
from stretto.ports.failures import Stale
from stretto.ports.rows import Phase
from stretto.ports.run_snapshot import read_run
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, ended, refusal, run_record

SUITE = Suite("phases")
EMPTY = Decided()


@SUITE.check
async def a_run_is_launched_once(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.start()
    await owner.launch(run, due_at=50)
    row = await world.row(run)
    assert (row.phase, row.due_at, row.record.status) == (Phase.LIVE, 50, RunStatus.IN_PROGRESS)
    await refusal(Stale, owner.launch(run))


@SUITE.check
async def a_queued_or_unknown_run_is_not_launched(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    queued = await world.start(admit=False)
    error = await refusal(Stale, owner.launch(queued))
    assert error.groups == {await owner.group_of(queued)}
    record = run_record(RunKey("wf", 9, 1), "u", status=RunStatus.IN_PROGRESS)
    for launch in (True, False):
        decided = owner.part(
            0, msgspec.structs.replace(EMPTY, root=record.key, launch=launch, records=(record,))
        )
        await refusal(Stale, world.store.commit(owner.node, [decided]))
    assert await read_run(world.store, record.key) is None


@SUITE.check
async def an_admitted_run_is_not_written_without_a_launch(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.start()
    await refusal(Stale, owner.decide(run, records=(attempt_record(run, "s"),)))
    assert (await world.row(run)).phase is Phase.ADMITTED


@SUITE.check
async def a_run_may_end_with_its_launch(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.start()
    record = ended((await world.row(run)).record, RunStatus.FAILED)
    await owner.decide(run, launch=True, records=(record,))
    row = await world.row(run)
    assert (row.phase, row.failure) == (Phase.ENDED, FailureMark.STANDING)


@SUITE.check
async def nothing_leaves_the_end(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    record = await owner.end(run)
    row = await world.row(run)
    assert (row.phase, row.failure, row.record) == (Phase.ENDED, None, record)
    late = msgspec.structs.replace(record, status=RunStatus.IN_PROGRESS)
    await refusal(Stale, owner.decide(run, records=(late,)))
    await refusal(Stale, owner.decide(run, records=(attempt_record(run, "s"),)))
    await refusal(Stale, owner.launch(run))
    assert (await world.row(run)).record == record


@SUITE.check
async def a_message_for_an_ended_or_unknown_run_is_just_consumed(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    await owner.end(run)
    before = await world.row(run)
    await owner.decide(run, due_at=7)
    assert await world.row(run) == before
    group = await owner.group_of(run)
    await owner.commit(group, msgspec.structs.replace(EMPTY, root=RunKey("nowhere", 1, 1)))


@SUITE.check
async def the_due_time_is_kept_with_or_without_records(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    assert (await world.row(run)).due_at is None
    for due in (0, 12_345, None):
        await owner.decide(run, due_at=due)
        row = await world.row(run)
        assert (row.due_at, row.phase) == (due, Phase.LIVE)
    before = await world.row(run)
    await owner.decide(run, due_at=1, keeps_due=True)
    assert await world.row(run) == before


@SUITE.check
async def iterations_live_and_end_with_the_run_around_them(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    records = [
        run_record(RunKey("maestro_foreach_1", number, 1), f"i{number}", status=RunStatus.IN_PROGRESS)
        for number in (1, 2)
    ]
    await owner.decide(run, records=(records[0], ended(records[1], RunStatus.FAILED)))
    first, second = [await world.row(each.key) for each in records]
    assert (first.phase, first.root, first.group, first.failure) == (Phase.LIVE, run, group, None)
    assert (second.phase, second.root) == (Phase.ENDED, run)
    assert await world.store.run_of_request("maestro_foreach_1", "i1") == records[0].key
    await refusal(Stale, owner.decide(run, records=(records[1],)))
    await owner.decide(run, records=(ended(records[0]),))
    assert (await world.row(records[0].key)).phase is Phase.ENDED
    hour = await world.store.outcomes(["maestro_foreach_1"], since=0)
    assert hour == []  # they are counted by their loop


@SUITE.check
async def a_run_that_ended_frees_its_place(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    look = await world.store.look_at_queue("wf")
    assert look is not None
    assert look[1] == RunCounts(0, 1, 0)
    await owner.end(run, RunStatus.FAILED)
    look = await world.store.look_at_queue("wf")
    assert look is not None
    assert look[1] == RunCounts(0, 0, 1)  # one statement sees it live or failed, never neither
