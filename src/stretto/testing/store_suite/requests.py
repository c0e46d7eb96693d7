"""Starts and restarts: ids, requests that come twice, and what a transaction finds."""

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict, NotFound, WrongState
from stretto.model.properties import RunStrategyRule
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.ports.admission import (
    NewRun,
    RequestKey,
    SnapshotDetail,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.messages import ChildEnd, Log
from stretto.ports.places import group_of_run
from stretto.ports.rows import Lease, NodeId, Parent, Phase
from stretto.ports.run_snapshot import read_run
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, near, refusal, run_record

SUITE = Suite("requests")
HERE = NodeId("reader")


async def snapshot(world: World, scope: TransactionScope, workflow_id: str = "wf") -> WorkflowSnapshot:
    """What a transaction finds that writes nothing."""
    answer = await world.store.transact(workflow_id, scope, lambda found: WorkflowDecision(answer=found))
    return answer.answer


@SUITE.check
async def instance_ids_grow_and_gaps_stay(world: World) -> None:
    await world.publish()
    assert await world.start() == RunKey("wf", 1, 1)
    spend = await world.store.transact(
        "wf", TransactionScope(), lambda found: WorkflowDecision(answer=found, spent=3)
    )
    assert spend.answer.next_instance_id == 2
    assert await world.start() == RunKey("wf", 5, 1)


@SUITE.check
async def an_unknown_workflow_is_refused(world: World) -> None:
    error = await refusal(NotFound, world.start("nowhere"))
    assert "nowhere" in error.message


@SUITE.check
async def a_run_lives_in_the_group_of_its_key(world: World) -> None:
    await world.publish()
    for _ in range(5):
        run = await world.start()
        row = await world.row(run)
        assert row.group == group_of_run(run)
        assert (row.phase, row.root, row.failure, row.quarantined) == (Phase.ADMITTED, run, None, None)


@SUITE.check
async def a_request_that_is_known_is_found(world: World) -> None:
    await world.publish()
    await world.publish("other")
    run = await world.start(request_id="once")
    found = await snapshot(world, TransactionScope(requests=(RequestKey("once"), RequestKey("never"))))
    assert dict(found.known) == {"once": run}
    elsewhere = await snapshot(world, TransactionScope(requests=(RequestKey("once"),)), "other")
    assert dict(elsewhere.known) == {}
    assert await world.store.run_of_request("wf", "once") == run
    assert await world.store.run_of_request("other", "once") is None


@SUITE.check
async def a_request_id_makes_one_run_only(world: World) -> None:
    await world.publish()
    run = await world.start(request_id="once")
    await refusal(Conflict, world.start(request_id="once"))
    assert await read_run(world.store, RunKey("wf", 2, 1)) is None
    again = NewRun(record=run_record(run, "another"))
    await refusal(
        Conflict,
        world.store.transact(
            "wf", TransactionScope(), lambda _found: WorkflowDecision(answer=None, created=(again,))
        ),
    )


@SUITE.check
async def a_request_of_a_step_is_fenced(world: World) -> None:
    await world.publish()
    owner = await world.owner(most=2)
    current, other = owner.leases.values()
    old = Lease(other.group, other.generation - 1)
    scope = TransactionScope(
        requests=(RequestKey("ours", current), RequestKey("late", old), RequestKey("user's"))
    )
    found = await snapshot(world, scope)
    assert found.fenced == {RequestKey("late", old)}


@SUITE.check
async def counts_and_lists_are_of_one_moment(world: World) -> None:
    await world.publish(rule=RunStrategyRule.LAST_ONLY, slots=1)
    owner = await world.owner()
    live = await world.live(owner)
    admitted = await world.start()
    queued = [await world.start(admit=False) for _ in range(3)]
    failed = await world.start(status=RunStatus.FAILED)
    await world.start(status=RunStatus.STOPPED)
    plain = await snapshot(world, TransactionScope())
    assert plain.counts == RunCounts(3, 2, 1)
    assert (plain.queue, plain.running, plain.failed) == ((), (), ())
    assert plain.strategy.rule is RunStrategyRule.LAST_ONLY
    assert near(plain.now, await world.store.now())
    full = await snapshot(
        world, TransactionScope(detail=lambda _s: SnapshotDetail(queue=None, running=True, failed=True))
    )
    assert full.queue == tuple(queued)
    assert full.running == tuple(sorted((live, admitted)))
    assert full.failed == (failed,)
    front = await snapshot(world, TransactionScope(detail=lambda _s: SnapshotDetail(queue=2)))
    assert front.queue == tuple(queued[:2])
    some = SnapshotDetail(queue=1, running=True, failed=True, most=1)
    oldest = await snapshot(world, TransactionScope(detail=lambda _s: some))
    assert (oldest.queue, oldest.running, oldest.failed) == ((queued[0],), (min(live, admitted),), (failed,))
    look = await world.store.look_at_queue("wf")
    assert look == (plain.strategy, plain.counts)
    assert await world.store.look_at_queue("unknown") is None


@SUITE.check
async def the_queue_is_by_instance_then_run(world: World) -> None:
    await world.publish()
    old = await world.start(status=RunStatus.STOPPED)
    young = await world.start(admit=False)
    again = await world.restart(old, admit=False)
    found = await snapshot(world, TransactionScope(detail=lambda _s: SnapshotDetail(queue=None)))
    assert found.queue == (again, young)


@SUITE.check
async def the_states_asked_for_are_found(world: World) -> None:
    await world.publish()
    first = await world.start(status=RunStatus.FAILED)
    second = await world.restart(first, admit=False)
    unknown = RunKey("wf", 99, 1)
    found = await snapshot(world, TransactionScope(instances=(1, 99), runs=(first, unknown)))
    assert found.latest.keys() == {1}
    latest = found.latest[1]
    assert (latest.key, latest.phase, latest.status) == (second, Phase.QUEUED, RunStatus.CREATED)
    assert found.runs.keys() == {first}
    state = found.runs[first]
    assert (state.phase, state.status, state.failure) == (
        Phase.ENDED,
        RunStatus.FAILED,
        FailureMark.STANDING,
    )
    assert state.group == group_of_run(first)


@SUITE.check
async def a_new_run_that_waits_is_logged(world: World) -> None:
    await world.publish()
    admitted = await world.start()
    assert await _bodies(world, admitted) == []
    queued = await world.start(admit=False)
    (body,) = await _bodies(world, queued)
    assert isinstance(body, Log)
    assert (body.run, body.status) == (queued, RunStatus.CREATED)


@SUITE.check
async def a_run_that_ends_at_birth_tells_its_parent(world: World) -> None:
    await world.publish()
    attempt = AttemptKey(RunKey("above", 7, 1), "sub", 2)
    run = await world.start(status=RunStatus.STOPPED, parent=Parent(3, attempt))
    row = await world.row(run)
    assert (row.phase, row.parent) == (Phase.ENDED, Parent(3, attempt))
    mail = await world.store.fetch(HERE, range(128))
    ends = [each for each in mail.messages if isinstance(each.body, ChildEnd)]
    (end,) = ends
    assert end.to_group == 3
    assert isinstance(end.body, ChildEnd)
    assert (end.body.event.attempt, end.body.event.child) == (attempt, run)
    assert end.body.event.status is RunStatus.STOPPED
    (log,) = [each.body for each in mail.messages if isinstance(each.body, Log)]
    assert (log.run, log.status) == (run, RunStatus.STOPPED)


@SUITE.check
async def the_answer_names_the_groups_to_hint(world: World) -> None:
    await world.publish()
    parent = Parent(9, AttemptKey(RunKey("above", 7, 1), "sub", 2))
    keys = [RunKey("wf", number, 1) for number in (1, 2)]
    stopped = run_record(keys[1], "b", status=RunStatus.STOPPED)
    new = (NewRun(record=run_record(keys[0], "a")), NewRun(record=stopped, parent=parent))
    done = await world.store.transact(
        "wf",
        TransactionScope(),
        lambda _found: WorkflowDecision(answer=1, spent=2, created=new, admitted=(keys[0],)),
    )
    assert done.hints == {group_of_run(keys[0]), group_of_run(keys[1]), 9}
    assert done.to_launch == ()  # there is an end to be told of, too
    assert done.queued == 0


@SUITE.check
async def runs_are_named_if_there_is_nothing_else_to_look_for(world: World) -> None:
    await world.publish()
    queued, new = await world.start(admit=False), RunKey("wf", 2, 1)
    begins = WorkflowDecision(
        answer=1, spent=1, created=(NewRun(record=run_record(new, "b")),), admitted=(new,)
    )
    named = await world.store.transact("wf", TransactionScope(), lambda _found: begins)
    assert named.to_launch == (new,)
    goes_on = WorkflowDecision(answer=1, admitted=(queued,))
    named = await world.store.transact("wf", TransactionScope(), lambda _found: goes_on)
    assert named.to_launch == ()  # that it was queued is told first
    waits = WorkflowDecision(answer=1, spent=1, created=(NewRun(record=run_record(RunKey("wf", 3, 1), "c")),))
    named = await world.store.transact("wf", TransactionScope(), lambda _found: waits)
    assert named.to_launch == ()  # it stays in its queue, and that is told


@SUITE.check
async def what_the_decision_raises_undoes_all(world: World) -> None:
    await world.publish()
    run = await world.start(admit=False)

    def refuse(found: WorkflowSnapshot) -> WorkflowDecision[None]:
        raise WrongState(f"{found.counts.queued} is too many")

    (message,) = (await world.store.fetch(HERE, range(128))).messages
    await refusal(WrongState, world.store.transact("wf", TransactionScope(consumes=(message.id,)), refuse))
    assert (await world.store.fetch(HERE, range(128))).messages == (message,)
    assert (await world.row(run)).phase is Phase.QUEUED


async def _bodies(world: World, run: RunKey) -> list[object]:
    mail = await world.store.fetch(HERE, [group_of_run(run)])
    return [each.body for each in mail.messages]
