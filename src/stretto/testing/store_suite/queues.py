"""Queued runs: admitted, ended, paused, marked; timers and messages that a transaction deals with."""

from stretto.engine.events import RunActed, RunAction
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.status import RunStatus
from stretto.model.trigger import CronTrigger
from stretto.ports.admission import Question, QueuedEnd, QueuedPause, TimerAdvance, Verdict
from stretto.ports.failures import Stale
from stretto.ports.messages import ChildEnd, Letter, Stop
from stretto.ports.places import group_of_run, group_of_workflow
from stretto.ports.rows import FailureMark, NodeId, Parent, Phase
from stretto.ports.triggers import TimeTriggerRow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, line, near, refusal

SUITE = Suite("queues")
HERE = NodeId("reader")


async def write(world: World, question: Question | None = None, **fields: object) -> int:
    """A transaction with this verdict; returns how many are queued."""
    verdict: Verdict[None] = Verdict(answer=None, **fields)  # type: ignore[arg-type]
    done = await world.store.transact("wf", question or Question(), lambda _found: verdict)
    return done.queued


@SUITE.check
async def a_queued_run_is_admitted_once(world: World) -> None:
    await world.publish()
    first, second = [await world.start(admit=False) for _ in range(2)]
    assert await world.store.with_queue(["wf", "other"]) == ["wf"]
    assert await write(world, admitted=(first,)) == 1
    assert (await world.row(first)).phase is Phase.ADMITTED
    await refusal(Stale, write(world, admitted=(second, first)))
    assert (await world.row(second)).phase is Phase.QUEUED  # nothing of it happened
    assert await write(world, admitted=(second,)) == 0
    assert await world.store.with_queue(["wf"]) == []
    await refusal(Stale, write(world, admitted=(RunKey("wf", 9, 1),)))


@SUITE.check
async def a_queue_is_found_at_home(world: World) -> None:
    await world.publish()
    await world.publish("idle")
    await world.start(admit=False)
    home = group_of_workflow("wf")
    assert await world.store.queues_at_home([home]) == ["wf"]
    assert await world.store.queues_at_home([(home + 1) % 128]) == []


@SUITE.check
async def a_queued_run_ends_with_its_reason(world: World) -> None:
    await world.publish()
    parent = Parent(5, AttemptKey(RunKey("above", 1, 1), "sub", 1))
    run = await world.start(admit=False, parent=parent)
    end = QueuedEnd(run=run, status=RunStatus.FAILED, event=line("killed"))
    assert await write(world, ended=(end,)) == 0
    row = await world.row(run)
    assert (row.phase, row.failure) == (Phase.ENDED, FailureMark.STANDING)
    assert row.record.status is RunStatus.FAILED
    assert row.record.timeline == (line("killed"),)
    assert near(row.record.end_time, await world.store.now())
    assert row.record.start_time is None
    mail = await world.store.fetch(HERE, [5])
    assert [type(each.body) for each in mail.messages] == [ChildEnd]
    await refusal(Stale, write(world, ended=(end,)))


@SUITE.check
async def a_queued_run_is_paused_in_its_place(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)
    await write(world, paused=(QueuedPause(run=run, paused=True, event=line("paused")),))
    row = await world.row(run)
    assert row.record.paused
    assert (row.phase, row.record.status) == (Phase.QUEUED, RunStatus.CREATED)
    assert row.record.timeline == (line("paused"),)
    await write(world, paused=(QueuedPause(run=run, paused=False, event=line("resumed")),))
    assert not (await world.row(run)).record.paused
    await write(world, admitted=(run,))
    await refusal(Stale, write(world, paused=(QueuedPause(run=run, paused=True, event=line("late")),)))


@SUITE.check
async def a_failure_is_marked_while_it_stands(world: World) -> None:
    await world.publish()
    run = await world.start(status=RunStatus.FAILED)
    await write(world, marks={run: FailureMark.UNBLOCKED})
    row = await world.row(run)
    assert (row.failure, row.record.status) == (FailureMark.UNBLOCKED, RunStatus.FAILED)
    look = await world.store.look_at_queue("wf")
    assert look is not None
    assert look[1].failed == 0
    await refusal(Stale, write(world, marks={run: FailureMark.SUPERSEDED}))
    await refusal(Stale, write(world, marks={RunKey("wf", 9, 1): FailureMark.SUPERSEDED}))


@SUITE.check
async def letters_of_a_verdict_are_sent_with_it(world: World) -> None:
    await world.publish()
    run = await world.start()
    event = RunActed(run=run, action=RunAction.STOP, user="strategy")
    letter = Letter(ref="stop", to_group=group_of_run(run), body=Stop(event=event))
    to_node = Letter(ref="stop", to_node=HERE, body=Stop(event=event))
    done = await world.store.transact(
        "wf", Question(), lambda _found: Verdict(answer=None, sent=(letter, to_node))
    )
    assert done.hints == {group_of_run(run)}
    assert len(done.sent) == 2
    mail = await world.store.fetch(NodeId("other"), [group_of_run(run)])
    assert [(each.id, each.body) for each in mail.messages] == [(done.sent[0], Stop(event=event))]
    bad = world.store.transact(
        "wf",
        Question(),
        lambda _found: Verdict(answer=None, sent=(letter,), admitted=(RunKey("wf", 9, 1),)),
    )
    await refusal(Stale, bad)
    assert len((await world.store.fetch(HERE, [group_of_run(run)])).messages) == 2


@SUITE.check
async def a_message_is_consumed_once(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)
    (log,) = (await world.store.fetch(HERE, [group_of_run(run)])).messages
    await write(world, Question(consumes=(log.id,)))
    assert (await world.store.fetch(HERE, [group_of_run(run)])).messages == ()
    await refusal(Stale, write(world, Question(consumes=(log.id,)), admitted=(run,)))
    assert (await world.row(run)).phase is Phase.QUEUED


@SUITE.check
async def a_timer_moves_on_once_for_each_fire(world: World) -> None:
    trigger = TimeTriggerRow(
        trigger_id="t",
        workflow_id="wf",
        version_id=1,
        trigger=CronTrigger(cron="0 * * * *"),
        next_fire_at=100,
    )
    await world.publish(time_triggers=(trigger,))
    home = [group_of_workflow("wf")]
    await write(world, Question(timers=(TimerAdvance("t", 100, 200),)))
    assert await world.store.next_trigger_due(home) == 200
    await refusal(Stale, write(world, Question(timers=(TimerAdvance("t", 100, 300),)), spent=1))
    await refusal(Stale, write(world, Question(timers=(TimerAdvance("other", 100, 300),))))
    await write(world, Question(timers=(TimerAdvance("t", 200, None),)))
    assert await world.store.next_trigger_due(home) is None
