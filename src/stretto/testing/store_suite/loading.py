"""What an owner reads after a claim."""

from stretto.engine.permits import granted
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.commit import PermitAsk
from stretto.ports.history import QuarantinedRuns
from stretto.ports.messages import Log
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId, Phase
from stretto.ports.suspicion import DEATHS_TO_BE_GUILTY, Suspect
from stretto.ports.work import Work
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import event
from stretto.testing.store_suite.world import World, attempt_record, ended, run_record

SUITE = Suite("loading")
LOOP = "maestro_foreach_1_11_abc"


@SUITE.check
async def a_group_lists_what_is_admitted_or_live(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    admitted = await world.start()
    live = await world.start()
    inside = run_record(RunKey(LOOP, 1, 1), "i1", status=RunStatus.IN_PROGRESS)
    await owner.launch(live, due_at=99, records=(inside,))  # it is loaded with the run around it
    await world.start(admit=False)
    await owner.end(await world.live(owner))
    found = {}
    for group, rows in enumerate(await world.store.load_groups(range(GROUPS))):
        found.update({each.key: (each.phase, each.due_at, group) for each in rows.runs})
    assert found == {
        admitted: (Phase.ADMITTED, None, await owner.group_of(admitted)),
        live: (Phase.LIVE, 99, await owner.group_of(live)),
    }


@SUITE.check
async def a_group_knows_its_last_seq_and_its_work(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    other = (group + 1) % GROUPS
    (empty,) = await world.store.load_groups([group])
    assert (empty.seq, empty.work) == (0, ())
    work = Work(attempt=AttemptKey(run, "s", 1), launch=3, pool="gpu", group=group)
    await owner.decide(run, work=(work,), events=(event("a"),))
    await owner.decide(run, events=(event("b"),))
    beside, full = await world.store.load_groups([other, group])  # in the order that was asked for
    assert (beside.runs, beside.seq, beside.work) == ((), 0, ())
    assert full.seq == 2
    (found,) = full.work
    assert (found.attempt, found.launch, found.take, found.taken_by) == (work.attempt, 3, 0, None)


@SUITE.check
async def a_flow_has_the_newest_attempts_and_live_iterations(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    old = attempt_record(run, "a", 1, StepStatus.USER_FAILED)
    new = attempt_record(run, "a", 2)
    loop = attempt_record(run, "loop")
    over = attempt_record(run, "over", 1, StepStatus.SUCCEEDED)
    loops = [
        LoopRecord(key=loop.key, inline_id=LOOP, run_id=1, ended={RunStatus.SUCCEEDED: 7}),
        LoopRecord(key=over.key, inline_id="maestro_foreach_over", run_id=1),
    ]
    inside = run_record(RunKey(LOOP, 1, 1), "i1", status=RunStatus.IN_PROGRESS)
    deep = attempt_record(inside.key, "deep")
    gone = ended(run_record(RunKey(LOOP, 2, 1), "i2"))
    bad = ended(run_record(RunKey(LOOP, 3, 1), "i3"), RunStatus.FAILED)
    other_run = ended(run_record(RunKey(LOOP, 2, 2), "i2-2"))
    records = (old, new, loop, over, *loops, inside, deep, gone, bad, other_run)
    await owner.decide(run, records=records, runs_on={new.key: owner.node})
    (flow,) = await world.store.load_flows([run, RunKey("unknown", 1, 1)])
    assert flow.run == await world.row(run)
    assert [each.key for each in flow.iterations] == [inside.key]
    assert {each.key for each in flow.attempts} == {new.key, loop.key, over.key, deep.key}
    assert {each.key: each.runs_on for each in flow.attempts}[new.key] == owner.node
    assert list(flow.loops) == [loops[0]]  # the other loop is over
    assert dict(flow.ended[loop.key]) == {RunStatus.SUCCEEDED: 1, RunStatus.FAILED: 1}
    assert flow.granted == frozenset()


@SUITE.check
async def a_flow_knows_which_attempts_hold_their_permits(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    first, second, third = [attempt_record(run, step) for step in "abc"]
    asks = (
        PermitAsk(attempt=first.key, limits={"x": 1, "y": 5}, since=1),
        PermitAsk(attempt=second.key, limits={"x": 1, "y": 5}, since=2),
    )
    await owner.decide(run, records=(first, second, third), permits=asks)
    assert (await world.store.grant(["x"], granted)).attempts == [first.key]
    (flow,) = await world.store.load_flows([run])
    assert flow.granted == {first.key}


@SUITE.check
async def a_run_in_quarantine_is_left_alone_until_released(world: World) -> None:
    await world.publish()
    owner = await world.owner("node-a")
    run = await world.live(owner)
    group = await owner.group_of(run)
    for death in range(DEATHS_TO_BE_GUILTY):
        owner = owner if not death else await world.owner(f"node-{death}")
        await world.store.note_suspects({owner.leases[group]: [Suspect(what=run)]})
        await world.store.bury(owner.node, 1, expired=False)
    page = await world.store.runs(QuarantinedRuns(Cut()))
    assert [each.key for each in page.elements] == [run]
    assert [each.runs for each in await world.store.load_groups([group])] == [()]
    assert await world.store.release_run(run)
    assert not await world.store.release_run(run)
    assert not await world.store.release_run(RunKey("unknown", 1, 1))
    assert (await world.store.runs(QuarantinedRuns(Cut()))).elements == ()
    assert [each.key for rows in await world.store.load_groups([group]) for each in rows.runs] == [run]
    mail = await world.store.fetch(NodeId("b"), [group])  # its owner is told to look; nothing has changed
    logs = [each.body for each in mail.messages if isinstance(each.body, Log)]
    assert [(each.run, each.status) for each in logs] == [(run, None)]
