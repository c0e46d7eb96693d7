"""The group commit: messages are consumed exactly, all parts are written together, waits come and go."""

from stretto.engine.events import RunActed, RunAction
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.errors import NotFound
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.commit import Decided, PermitAsk
from stretto.ports.failures import Stale
from stretto.ports.messages import Act, FanOut, Letter, Log, Outcome
from stretto.ports.paging import Cut
from stretto.ports.permits import LineFor
from stretto.ports.rows import FirstError, NodeId, RunSummary, Wait
from stretto.ports.run_snapshot import NewestAttempts, read_attempt, read_run
from stretto.ports.signals import SignalWait
from stretto.ports.work import Work, WorkPage
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.fences import two_runs
from stretto.testing.store_suite.owner import event
from stretto.testing.store_suite.world import World, attempt_record, near, refusal, run_record

SUITE = Suite("commits")
HERE = NodeId("reader")


@SUITE.check
async def a_message_goes_with_its_effect(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    message = await world.store.send(Letter(ref="m", to_group=group, body=Log(at=1)))
    record = attempt_record(run, "step")
    await owner.decide(run, records=(record,), consumed=(message,))
    assert (await world.store.fetch(HERE, [group])).messages == ()
    row = await read_attempt(world.store, record.key)
    assert row is not None
    assert row.record == record
    assert near(row.modify_time, await world.store.now())


@SUITE.check
async def a_message_that_is_gone_undoes_the_whole_batch(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    good, bad = await two_runs(world, owner)
    groups = [await owner.group_of(run) for run in (good, bad)]
    message = await world.store.send(Letter(ref="m", to_group=groups[0], body=Log(at=1)))
    record = attempt_record(good, "step")
    for fields in ({"consumed": (999,)}, {"answered": {999: Outcome(applied=True)}}):
        parts = [
            owner.part(
                groups[0],
                Decided(root=good, records=(record,), consumed=(message,), events=(event("x"),)),
            ),
            owner.part(groups[1], Decided(root=bad, **fields)),
        ]
        error = await refusal(Stale, world.store.commit(owner.node, parts))
        assert error.groups == {groups[1]}
        assert await read_attempt(world.store, record.key) is None
        assert len((await world.store.fetch(HERE, [groups[0]])).messages) == 1
        assert (await world.store.newest_seqs())[groups[0]] == 0


@SUITE.check
async def a_message_is_consumed_by_one_commit_only(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    message = await world.store.send(Letter(ref="m", to_group=group, body=Log(at=1)))
    await owner.decide(run, consumed=(message,))
    await refusal(Stale, owner.decide(run, consumed=(message,)))
    continued = owner.decide(run, continued={message: FanOut(name="s", seq=1)})
    await refusal(Stale, continued)


@SUITE.check
async def an_action_keeps_its_outcome_for_the_caller(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    act = Act(run=RunActed(run=run, action=RunAction.PAUSE, user="alice"))
    message = await world.store.send(Letter(ref="action-1", to_group=group, body=act))
    assert await world.store.outcome(message) is None
    outcome = Outcome(applied=False, message="it has ended")
    await owner.decide(run, answered={message: outcome})
    assert await world.store.outcome(message) == outcome
    assert (await world.store.fetch(HERE, [group])).messages == ()  # nobody has to decide it again


@SUITE.check
async def an_action_for_one_node_is_decided_once_and_goes_with_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    act = Act(run=RunActed(run=run, action=RunAction.PAUSE, user="alice"))
    decided, waiting = [
        await world.store.send(Letter(ref=ref, to_node=HERE, body=act)) for ref in ("first", "second")
    ]
    await owner.decide(run, answered={decided: Outcome(applied=True)})
    assert [each.id for each in (await world.store.fetch(HERE, [])).messages] == [waiting]
    await world.store.join(HERE)
    await world.store.leave(HERE)
    for number in (decided, waiting):
        await refusal(NotFound, world.store.outcome(number))


@SUITE.check
async def a_message_that_is_not_done_keeps_its_place(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    after = (AttemptKey(RunKey("wf", 1, 1), "s", 1), 0)
    message = await world.store.send(Letter(ref="f", to_group=7, body=FanOut(name="s", seq=1)))
    await owner.commit(7, Decided(continued={message: FanOut(name="s", seq=1, after=after)}))
    (found,) = (await world.store.fetch(HERE, [7])).messages
    assert found.id == message
    assert found.body == FanOut(name="s", seq=1, after=after)


@SUITE.check
async def sent_letters_and_events_are_there_after_the_commit(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    letters = (
        Letter(ref="to group", to_group=3, body=Log(at=1)),
        Letter(ref="to node", to_node=HERE, body=Log(at=2)),
    )
    one = Decided(root=run, sent=letters, events=(event("a"), event("b")))
    two = Decided(root=run, events=(event("c"),))
    await owner.commit(group, one, two)
    mail = await world.store.fetch(HERE, [3])
    assert sorted(each.ref for each in mail.messages) == ["to group", "to node"]
    (row,) = await world.store.read_log({group: 0})
    assert (row.group, row.seq) == (group, 1)
    assert row.events == (event("a"), event("b"), event("c"))
    assert near(row.at, await world.store.now())


@SUITE.check
async def a_seq_is_used_once(world: World) -> None:
    owner = await world.owner()
    await owner.commit(4, Decided(events=(event("a"),)))
    owner.seqs[4] = 0
    error = await refusal(Stale, owner.commit(4, Decided(events=(event("b"),))))
    assert error.groups == {4}
    owner.seqs[4] = 1
    await owner.commit(4, Decided())  # no events, no row
    await owner.commit(4, Decided(events=(event("c"),)))
    rows = await world.store.read_log({4: 0})
    assert [each.seq for each in rows] == [1, 2]


@SUITE.check
async def attempts_say_where_they_run(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    local, outside = attempt_record(run, "local"), attempt_record(run, "outside")
    await owner.decide(run, records=(local, outside), runs_on={local.key: owner.node})
    await owner.decide(run, records=(local,))  # it is not said again
    rows = {each.key: each.runs_on for each in await world.store.attempts(NewestAttempts((run,)))}
    assert rows == {local.key: owner.node, outside.key: None}
    await owner.decide(run, records=(local, outside), runs_on={outside.key: HERE})
    await owner.decide(run, records=(local,), runs_on={local.key: None})
    rows = {each.key: each.runs_on for each in await world.store.attempts(NewestAttempts((run,)))}
    assert rows == {local.key: None, outside.key: HERE}


@SUITE.check
async def a_summary_stays_until_there_is_a_newer_one(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.start()
    summary = RunSummary(
        counts={StepStatus.RUNNING: 2},
        first_error=FirstError(step_id="s", status=StepStatus.USER_FAILED, text="no"),
        wait=Wait(kind="permit", ref="gpu", since=5),
    )
    await owner.launch(run, summaries={run: summary})
    assert (await world.row(run)).summary == summary
    await owner.end(run)
    assert (await world.row(run)).summary == summary


@SUITE.check
async def what_an_attempt_waits_for_goes_with_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    group = await owner.group_of(run)
    first, second = attempt_record(run, "a").key, attempt_record(run, "b").key
    for attempt in (first, second):
        await owner.decide(
            run,
            permits=(PermitAsk(attempt=attempt, limits={"x": 1, "y": None}, since=1),),
            waits=tuple(
                SignalWait(name=f"s{index}", attempt=attempt, index=index, group=group) for index in (0, 1)
            ),
            work=(Work(attempt=attempt, launch=1, pool="p", group=group),),
        )
    assert [each.attempt for each in (await world.store.permits(LineFor("x", Cut()))).elements] == [
        first,
        second,
    ]
    await owner.decide(run, matched=((first, 1),))
    assert [each.attempt for each in await world.store.signal_waits("s1", after=None, most=9)] == [second]
    assert len(await world.store.signal_waits("s0", after=None, most=9)) == 2  # that one still waits
    await owner.release(first)
    assert [each.attempt for each in (await world.store.permits(LineFor("x", Cut()))).elements] == [second]
    assert [each.attempt for each in (await world.store.permits(LineFor("y", Cut()))).elements] == [second]
    assert [each.attempt for each in await world.store.signal_waits("s0", after=None, most=9)] == [second]
    assert [each.attempt for each in (await world.store.pool_work(WorkPage("p", Cut()))).elements] == [second]
    await owner.release(first)  # there is nothing left


@SUITE.check
async def loops_are_rows_like_any_other(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    attempt = attempt_record(run, "loop")
    loop = LoopRecord(key=attempt.key, inline_id="maestro_foreach_1", run_id=1, total=3)
    await owner.decide(run, records=(attempt, loop))
    assert await world.store.loops(run) == [loop]
    loop.next_index = 2
    assert (await world.store.loops(run))[0].next_index == 0
    await owner.decide(run, records=(loop,))
    assert await world.store.loops(run) == [loop]


@SUITE.check
async def a_record_needs_a_run_that_it_belongs_to(world: World) -> None:
    owner = await world.owner()
    lost = run_record(RunKey("maestro_foreach_1", 1, 1), "u", status=RunStatus.IN_PROGRESS)
    attempt = attempt_record(lost.key, "s")
    for record in (lost, attempt):
        await refusal(Stale, owner.commit(1, Decided(records=(record,))))
    assert await read_run(world.store, lost.key) is None
    assert await read_attempt(world.store, attempt.key) is None
