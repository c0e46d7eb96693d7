"""Retention: what may go goes in small steps, and nothing else does."""

from asyncio import gather

from stretto.engine.events import Granted, RunActed, RunAction
from stretto.engine.records import AttemptKey, LoopRecord, RunKey
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.properties import RunStrategyRule
from stretto.model.status import FailureMark, RunStatus, StepStatus
from stretto.model.timeline import WorkflowChange
from stretto.ports.admission import (
    NewRun,
    QueuedEnd,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.breakpoints import BreakpointPage
from stretto.ports.commit import PermitAsk
from stretto.ports.history import AttemptsOfStep
from stretto.ports.messages import Act, AnyBody, Grant, Letter, Log, Stop
from stretto.ports.paging import Cut
from stretto.ports.rows import Parent
from stretto.ports.run_snapshot import read_newest_run, read_run
from stretto.ports.signals import SignalWait
from stretto.ports.work import Work
from stretto.ports.workflows import read_workflow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.workflows import gone
from stretto.testing.store_suite.world import ALICE, World, attempt_record, ended, line, run_record

SUITE = Suite("retention")


async def over(world: World, owner: Owner, workflow_id: str = "wf", **fields: object) -> RunKey:
    """A run that has ended, with nothing left to tell."""
    run = await world.live(owner, workflow_id, **fields)
    await owner.end(run, records=(attempt_record(run, "s", 1, StepStatus.SUCCEEDED),))
    return run


async def prune(world: World, workflow_id: str = "wf", most: int = 500) -> int:
    """Everything that ended until now."""
    return await world.store.prune_runs(workflow_id, await world.store.now() + 1, most=most)


async def latest(world: World, run: RunKey) -> RunKey | None:
    """The newest run of an instance, as a restart meets it."""

    def decide(found: WorkflowSnapshot) -> WorkflowDecision[RunKey | None]:
        state = found.latest.get(run.instance_id)
        return WorkflowDecision(answer=None if state is None else state.key)

    return (await world.store.transact("wf", TransactionScope(instances=(run.instance_id,)), decide)).answer


@SUITE.check
async def old_instances_go_with_all_their_rows(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    old = await over(world, owner)
    limit = await world.store.now() + 1
    await world.advance(10)
    young = await over(world, owner)
    assert await world.store.prunable(limit) == ["wf"]
    assert await world.store.prunable(limit, after="wf") == []
    assert await world.store.prunable(0) == []
    assert await world.store.prune_runs("wf", limit) == 2
    assert await world.store.prune_runs("wf", limit) == 0
    assert await world.store.prune_runs("unknown", limit) == 0
    assert await read_run(world.store, old) is None
    assert await world.store.attempts(AttemptsOfStep(old, "s")) == []
    assert await read_newest_run(world.store, "wf", old.instance_id) is None
    assert await read_run(world.store, young) is not None
    assert await world.store.instance_ids("wf") == (2, 2)
    assert await world.start(request_id=f"request-{1}") == RunKey("wf", 3, 1)  # request ids live as long


@SUITE.check
async def what_has_not_ended_stays(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    await world.live(owner)
    await world.start()
    assert await prune(world) == 0
    first = await over(world, owner)
    await world.restart(first)  # a newer run of the instance has not ended
    assert await prune(world) == 0


@SUITE.check
async def an_instance_goes_with_all_its_runs(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first = await over(world, owner)
    second = await world.restart(first)
    await owner.launch(second)
    await owner.end(second)
    assert await prune(world, most=1) == 1
    assert await prune(world, most=1) == 1
    assert await read_run(world.store, first) is None
    assert await read_run(world.store, second) is not None
    assert await prune(world) == 1
    assert await read_newest_run(world.store, "wf", first.instance_id) is None


@SUITE.check
async def a_large_instance_goes_in_steps_with_its_own_row_last(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    attempt = attempt_record(run, "loop", 1, StepStatus.SUCCEEDED)
    loop = LoopRecord(key=attempt.key, inline_id="maestro_foreach_1", run_id=1)
    iterations = [
        ended(run_record(RunKey("maestro_foreach_1", number, 1), f"i{number}")) for number in range(1, 6)
    ]
    inside = [attempt_record(each.key, "s", 1, StepStatus.SUCCEEDED) for each in iterations]
    await owner.end(run, records=(attempt, loop, *iterations, *inside))
    total = 0
    while count := await prune(world, most=3):
        assert count <= 3
        total += count
        if await read_run(world.store, run) is None:
            assert all([await read_run(world.store, each.key) is None for each in iterations])
    assert total == 13
    assert await read_run(world.store, run) is None
    assert await world.store.loops(run) == []


@SUITE.check
async def a_child_goes_with_the_instance_above_it(world: World) -> None:
    await world.publish()
    await world.publish("below")
    owner = await world.owner()
    run = await world.live(owner)
    attempt = attempt_record(run, "sub", 1, StepStatus.SUCCEEDED)
    parent = Parent(await owner.group_of(run), attempt.key)
    child = await over(world, owner, "below", parent=parent)
    alone = await over(world, owner, "below")
    assert await prune(world, "below") == 2  # the one that nobody waited for
    assert await read_run(world.store, alone) is None
    assert await read_run(world.store, child) is not None
    unfinished = await world.live(owner, "below", parent=parent)
    await owner.end(run, records=(attempt,))
    assert await prune(world) == 0  # a descendant has not ended
    await owner.end(unfinished)
    assert await prune(world) == 5
    assert await read_run(world.store, child) is None


@SUITE.check
async def a_failure_that_blocks_a_strict_queue_stays(world: World) -> None:
    await world.publish(rule=RunStrategyRule.STRICT_SEQUENTIAL, slots=1)
    owner = await world.owner()
    run = await world.live(owner)
    await owner.end(run, RunStatus.FAILED)
    assert await prune(world) == 0
    await world.publish(rule=RunStrategyRule.SEQUENTIAL, slots=1)
    assert await prune(world) == 1


@SUITE.check
async def a_failure_that_blocks_the_queue_of_a_child_keeps_all_above_it(world: World) -> None:
    await world.publish()
    await world.publish("middle")
    await world.publish("strict", rule=RunStrategyRule.STRICT_SEQUENTIAL, slots=1)
    owner = await world.owner()
    run = await world.live(owner)
    iterations = [run_record(RunKey("maestro_foreach_1", number, 1), f"i{number}") for number in (1, 2, 3)]
    inside = [attempt_record(each.key, "sub", 1, StepStatus.SUCCEEDED) for each in iterations]
    over_all = (*(ended(each) for each in iterations), *inside)
    group = await owner.group_of(run)
    middle = await over(world, owner, "middle", parent=Parent(group, inside[2].key))
    below = Parent(await owner.group_of(middle), AttemptKey(middle, "s", 1))
    failed = await world.live(owner, "strict", parent=below)
    await owner.end(failed, RunStatus.FAILED)
    await owner.end(run, records=over_all)
    for most in (1, 5, 500):  # not even a part of the instance goes
        assert await prune(world, most=most) == 0
    assert await latest(world, run) == run
    unblocked = WorkflowDecision(answer=None, marks={failed: FailureMark.UNBLOCKED})
    await world.store.transact("strict", TransactionScope(), lambda _found: unblocked)
    assert await prune(world, most=4) == 4
    assert await prune(world) == 6
    assert await read_run(world.store, failed) is None


@SUITE.check
async def what_is_being_forgotten_can_not_be_restarted(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    first = await over(world, owner)
    second = await world.restart(first)
    await owner.launch(second)
    await owner.end(second)
    other = await over(world, owner)
    assert await latest(world, first) == second
    for _ in range(2):  # the rows of the first run; then the second is left
        assert await prune(world, most=1) == 1
        assert await latest(world, first) is None
        assert await read_newest_run(world.store, "wf", first.instance_id) is None
        assert await latest(world, other) == other
    assert await read_run(world.store, second) is not None
    assert await prune(world, most=1) == 1
    assert await read_run(world.store, second) is None
    assert await prune(world) == 2


@SUITE.check
async def who_restarts_meets_all_of_an_instance_or_nothing(world: World) -> None:
    await world.publish()
    owner, store = await world.owner(), await world.another()
    for _ in range(10):
        run = await over(world, owner)
        key, limit = RunKey("wf", run.instance_id, 2), await world.store.now() + 1
        new = NewRun(record=run_record(key, f"again {run}"))

        def decide(found: WorkflowSnapshot, new: NewRun = new) -> WorkflowDecision[bool]:
            known = new.record.key.instance_id in found.latest
            return WorkflowDecision(answer=known, created=(new,) if known else ())

        begun, gone = await gather(
            world.store.transact("wf", TransactionScope(instances=(run.instance_id,)), decide),
            store.prune_runs("wf", limit, most=1),
        )
        assert (begun.answer, gone) in {(True, 0), (False, 1)}
        assert len(await world.store.attempts(AttemptsOfStep(run, "s"))) == 1 - gone
        assert await prune(world) == gone


@SUITE.check
async def what_somebody_still_names_stays(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await over(world, owner)
    attempt = AttemptKey(run, "s", 1)
    act = RunActed(run=run, action=RunAction.STOP, user="alice")
    bodies: tuple[AnyBody, ...] = (
        Act(run=act),
        Stop(event=act),
        Grant(event=Granted(attempt=attempt)),
        Log(run=run, at=1),
    )
    for body in bodies:
        number = await world.store.send(Letter(ref="x", to_group=1, body=body))
        assert await prune(world) == 0
        await world.store.withdraw(number)
    holds = (
        {"permits": (PermitAsk(attempt=attempt, limits={"x": 1}, since=1),)},
        {"waits": (SignalWait(name="a", attempt=attempt, index=0, group=1),)},
        {"work": (Work(attempt=attempt, launch=1, pool="p", group=1),)},
    )
    for hold in holds:
        await owner.decide(run, **hold)
        assert await prune(world) == 0
        await owner.release(attempt)
    assert await prune(world) == 2


@SUITE.check
async def a_deleted_workflow_is_purged_in_steps(world: World) -> None:
    await world.publish(timeline=(WorkflowChange(author=ALICE, log="made", timestamp=1),))
    await world.publish("kept")
    owner = await world.owner()
    run = await world.live(owner)
    iteration = ended(run_record(RunKey("maestro_foreach_x", 1, 1), "i"))
    inside = attempt_record(iteration.key, "s", 1, StepStatus.SUCCEEDED)
    await owner.end(run, records=(iteration, inside))
    await over(world, owner)
    for workflow_id in ("wf", "kept"):
        await world.store.set_breakpoint(StepBreakpoint(workflow_id=workflow_id, step_id="s"))
    assert await world.store.purge("wf") == 0  # it is not deleted
    assert await world.store.purge("unknown") == 0
    await world.store.delete_workflow("wf", gone)
    assert await world.store.purgeable() == ["wf"]
    total = 0
    while count := await world.store.purge("wf", most=7):
        assert count <= 7
        total += count
    # version, properties, timeline, outcomes, breakpoint; iteration, its attempt, run; run, attempt; workflow
    assert total == 11
    assert await world.store.purgeable() == []
    assert await read_run(world.store, run) is None
    assert await read_run(world.store, iteration.key) is None
    assert await world.store.outcomes(["wf"], since=0) == []
    assert [each.workflow_id for each in (await world.store.breakpoints(BreakpointPage(Cut()))).elements] == [
        "kept"
    ]
    assert await read_workflow(world.store, "kept") is not None


@SUITE.check
async def a_run_that_never_began_is_old_by_its_end(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)
    await world.advance(5_000)
    end = QueuedEnd(run=run, status=RunStatus.STOPPED, event=line("dropped"))
    await world.store.transact(
        "wf", TransactionScope(), lambda _found: WorkflowDecision(answer=None, ended=(end,))
    )
    limit = (await world.row(run)).record.end_time or 0
    assert await world.store.prune_runs("wf", limit + 1) == 0  # its end has not been told
    for message in (await world.store.fetch((await world.owner()).node, range(128))).messages:
        await world.store.withdraw(message.id)
    assert await world.store.prune_runs("wf", limit) == 0
    assert await world.store.prune_runs("wf", limit + 1) == 1
