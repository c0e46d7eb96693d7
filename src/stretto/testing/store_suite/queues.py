"""Queued runs: admitted, ended, paused, marked; timers and messages that a transaction deals with."""

from stretto.engine.events import RunActed, RunAction
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.model.trigger import CronTrigger
from stretto.ports.admission import (
    QueuedEnd,
    QueuedPause,
    SnapshotDetail,
    TimerAdvance,
    TransactionScope,
    WorkflowDecision,
)
from stretto.ports.failures import Stale
from stretto.ports.messages import ChildEnd, Letter, Log, Stop
from stretto.ports.places import group_of_run, group_of_workflow
from stretto.ports.rows import NodeId, Parent, Phase
from stretto.ports.triggers import TimeTriggerRow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, line, near, refusal

SUITE = Suite("queues")
HERE = NodeId("reader")


async def write(world: World, scope: TransactionScope | None = None, **fields: object) -> int:
    """A transaction with this decision; returns how many are queued."""
    decision: WorkflowDecision[None] = WorkflowDecision(answer=None, **fields)  # type: ignore[arg-type]
    done = await world.store.transact("wf", scope or TransactionScope(), lambda _found: decision)
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


def pause(run: RunKey, text: str, *, paused: bool = False, held: bool = False) -> QueuedPause:
    return QueuedPause(run=run, paused=paused, held=held, event=line(text))


async def places(world: World) -> tuple[tuple[RunKey, ...], tuple[RunKey, ...]]:
    """The queue, and who is paused in it."""
    scope = TransactionScope(detail=lambda _strategy: SnapshotDetail(queue=None, paused=None))
    done = await world.store.transact("wf", scope, lambda standing: WorkflowDecision(answer=standing))
    look = await world.store.look_at_queue("wf")
    found = done.answer
    assert look is not None
    assert look[1] == found.counts == RunCounts(len(found.queue), 0, 0, len(found.paused))
    return found.queue, found.paused


@SUITE.check
async def a_run_that_is_paused_in_its_queue_is_apart_from_it(world: World) -> None:
    await world.publish()
    first, second = [await world.start(admit=False) for _ in range(2)]
    await write(world, paused=(pause(first, "paused", paused=True),))
    row = await world.row(first)
    assert (row.phase, row.record.status, row.record.paused) == (Phase.QUEUED, RunStatus.PAUSED, True)
    assert row.record.timeline == (line("paused"),)
    assert await places(world) == ((second,), (first,))
    assert (await world.store.unended(["wf"]))["wf"] == {RunStatus.PAUSED: 1, RunStatus.CREATED: 1}
    await write(world, paused=(pause(first, "resumed"),))
    row = await world.row(first)
    assert (row.record.status, row.record.paused) == (RunStatus.CREATED, False)
    assert await places(world) == ((first, second), ())  # in its place again
    await write(world, admitted=(first,))
    await refusal(Stale, write(world, paused=(pause(first, "late", paused=True),)))


@SUITE.check
async def who_pauses_a_queued_run_is_told_apart(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)

    async def state() -> tuple[bool, bool, RunStatus]:
        scope = TransactionScope(runs=(run,))
        done = await world.store.transact("wf", scope, lambda standing: WorkflowDecision(answer=standing))
        found = done.answer.runs[run]
        record = (await world.row(run)).record
        assert (found.paused, found.held, found.status) == (record.paused, record.held, record.status)
        return found.paused, found.held, found.status

    for paused, held in ((False, True), (True, True), (True, False), (False, False)):
        await write(world, paused=(pause(run, "changed", paused=paused, held=held),))
        status = RunStatus.PAUSED if paused or held else RunStatus.CREATED
        assert await state() == (paused, held, status)


@SUITE.check
async def the_change_log_is_told_of_a_pause_in_the_queue(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)
    group = group_of_run(run)
    changes = [pause(run, "paused", paused=True), pause(run, "held, too", paused=True, held=True)]
    changes += [pause(run, "resumed"), pause(run, "again", held=True)]
    for each in changes:
        await write(world, paused=(each,))
    end = QueuedEnd(run=run, status=RunStatus.STOPPED, event=line("stopped"))
    await write(world, ended=(end,))
    bodies = [each.body for each in (await world.store.fetch(HERE, [group])).messages]
    told = [(each.old, each.status) for each in bodies if isinstance(each, Log) and each.run == run]
    created, held, stopped = RunStatus.CREATED, RunStatus.PAUSED, RunStatus.STOPPED
    moves = [(created, held), (held, created), (created, held), (held, stopped)]
    assert told == [(created, created), *moves]


@SUITE.check
async def a_paused_run_that_ends_in_its_queue_leaves_nothing_behind(world: World) -> None:
    await world.publish()
    first, second = [await world.start(admit=False) for _ in range(2)]
    await write(world, paused=(pause(first, "paused", paused=True, held=True),))
    end = QueuedEnd(run=first, status=RunStatus.STOPPED, event=line("stopped"))
    assert await write(world, ended=(end,)) == 1  # the other one is still queued
    record = (await world.row(first)).record
    assert (record.status, record.paused, record.held) == (RunStatus.STOPPED, False, False)
    assert await places(world) == ((second,), ())


@SUITE.check
async def a_run_may_be_paused_from_birth(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False, status=RunStatus.PAUSED, held=True)
    assert await places(world) == ((), (run,))
    assert await world.store.with_queue(["wf"]) == []
    assert await write(world, paused=(pause(run, "goes on"),)) == 1
    assert await world.store.with_queue(["wf"]) == ["wf"]
    assert await places(world) == ((run,), ())


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
async def who_marks_a_failure_stands_on_its_timeline(world: World) -> None:
    await world.publish()
    first, second = [await world.start(status=RunStatus.FAILED) for _ in range(2)]
    before = (await world.row(second)).record.timeline
    await write(world, marks={first: FailureMark.UNBLOCKED}, mark_event=line("unblocked"))
    await write(world, marks={second: FailureMark.SUPERSEDED})
    row = await world.row(first)
    assert row.record.timeline == (*before, line("unblocked"))
    assert (row.phase, row.failure) == (Phase.ENDED, FailureMark.UNBLOCKED)
    assert row.record.params == (await world.row(second)).record.params
    assert (await world.row(second)).record.timeline == before


@SUITE.check
async def letters_of_a_verdict_are_sent_with_it(world: World) -> None:
    await world.publish()
    run = await world.start()
    event = RunActed(run=run, action=RunAction.STOP, user="strategy")
    letter = Letter(ref="stop", to_group=group_of_run(run), body=Stop(event=event))
    to_node = Letter(ref="stop", to_node=HERE, body=Stop(event=event))
    done = await world.store.transact(
        "wf", TransactionScope(), lambda _found: WorkflowDecision(answer=None, sent=(letter, to_node))
    )
    assert done.hints == {group_of_run(run)}
    assert len(done.sent) == 2
    mail = await world.store.fetch(NodeId("other"), [group_of_run(run)])
    assert [(each.id, each.body) for each in mail.messages] == [(done.sent[0], Stop(event=event))]
    bad = world.store.transact(
        "wf",
        TransactionScope(),
        lambda _found: WorkflowDecision(answer=None, sent=(letter,), admitted=(RunKey("wf", 9, 1),)),
    )
    await refusal(Stale, bad)
    assert len((await world.store.fetch(HERE, [group_of_run(run)])).messages) == 2


@SUITE.check
async def a_message_is_consumed_once(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)
    (log,) = (await world.store.fetch(HERE, [group_of_run(run)])).messages
    await write(world, TransactionScope(consumes=(log.id,)))
    assert (await world.store.fetch(HERE, [group_of_run(run)])).messages == ()
    await refusal(Stale, write(world, TransactionScope(consumes=(log.id,)), admitted=(run,)))
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
    await write(world, TransactionScope(timers=(TimerAdvance("t", 100, 200),)))
    assert await world.store.next_trigger_due(home) == 200
    await refusal(Stale, write(world, TransactionScope(timers=(TimerAdvance("t", 100, 300),)), spent=1))
    await refusal(Stale, write(world, TransactionScope(timers=(TimerAdvance("other", 100, 300),))))
    await write(world, TransactionScope(timers=(TimerAdvance("t", 200, None),)))
    assert await world.store.next_trigger_due(home) is None
