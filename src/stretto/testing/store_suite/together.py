"""What is asked at the same moment is answered as if one had come after the other."""

import asyncio
from collections.abc import Callable
from typing import Any

from stretto.engine.records import RunKey
from stretto.model.errors import Conflict, NotFound, WrongState
from stretto.model.properties import RunStrategyRule
from stretto.model.runs import RunCounts
from stretto.model.status import FailureMark, RunStatus
from stretto.ports.admission import (
    NewRun,
    RequestKey,
    SnapshotDetail,
    TransactionResult,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.failures import Fenced
from stretto.ports.places import group_of_run
from stretto.ports.rows import Lease, Phase
from stretto.ports.run_snapshot import read_run
from stretto.ports.workflows import read_workflow
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, run_record

SUITE = Suite("together")
MOST = 51


def front(_strategy: object) -> SnapshotDetail:
    return SnapshotDetail(queue=MOST)


def everybody(_strategy: object) -> SnapshotDetail:
    return SnapshotDetail(queue=None, running=True)


class Request:
    """A request to start: as a run strategy with so many slots would decide it, and what it found."""

    def __init__(self, request_id: str, slots: int = 2, lease: Lease | None = None) -> None:
        self.request_id = request_id
        self.slots = slots
        self.lease = lease
        self.decide: Callable[[WorkflowSnapshot], WorkflowDecision[RunKey]] = self.receive
        self.found: WorkflowSnapshot | None = None

    def receive(self, found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
        self.found = found
        if found.fenced:
            raise Fenced({group_of_run(RunKey("wf", 1, 1))})
        if self.request_id in found.known:
            return WorkflowDecision(answer=found.known[self.request_id])
        key = RunKey("wf", found.next_instance_id, 1)
        new = NewRun(record=run_record(key, self.request_id, create_time=found.now))
        free = max(0, self.slots - found.counts.running)
        queue = (*found.queue, key)
        return WorkflowDecision(answer=key, spent=1, created=(new,), admitted=queue[:free])


async def ask(
    world: World, *requests: Request, detail: Callable[[Any], SnapshotDetail] = front
) -> list[TransactionResult[RunKey] | BaseException]:
    """All at once."""
    return await asyncio.gather(
        *(
            world.store.transact(
                "wf",
                TransactionScope(requests=(RequestKey(each.request_id, each.lease),), detail=detail),
                each.decide,
            )
            for each in requests
        ),
        return_exceptions=True,
    )


def place(request: Request) -> int:
    """The place of a request in the order in which the workflow was locked."""
    return 0 if request.found is None else request.found.next_instance_id


def runs_of(answers: list[TransactionResult[RunKey] | BaseException]) -> list[RunKey]:
    return [each.answer for each in answers if isinstance(each, TransactionResult)]


async def phases(world: World, runs: list[RunKey]) -> list[Phase]:
    return [(await world.row(run)).phase for run in runs]


@SUITE.check
async def each_finds_what_those_before_it_left(world: World) -> None:
    await world.publish()
    requests = [Request(f"r{number}") for number in range(4)]
    answers = await ask(world, *requests)
    requests.sort(key=place)
    runs = sorted(runs_of(answers))
    assert runs == [RunKey("wf", number, 1) for number in (1, 2, 3, 4)]
    assert await phases(world, runs) == [Phase.ADMITTED, Phase.ADMITTED, Phase.QUEUED, Phase.QUEUED]
    found = [each.found for each in requests if each.found is not None]
    assert [each.counts for each in found] == [
        RunCounts(*each, 0) for each in ((0, 0), (0, 1), (0, 2), (1, 2))
    ]
    assert [each.queue for each in found] == [(), (), (), (runs[2],)]
    for answer in answers:
        assert isinstance(answer, TransactionResult)
        assert group_of_run(answer.answer) in answer.hints
    look = await world.store.look_at_queue("wf")
    assert look is not None
    assert look[1] == RunCounts(2, 2, 0)
    assert await world.start() == RunKey("wf", 5, 1)


@SUITE.check
async def who_waits_is_admitted_by_who_comes_later(world: World) -> None:
    await world.publish()
    waiting = await world.start(admit=False)
    in_turn = (Request("a", 0), Request("b", 2), Request("c", 9))
    answers = [answer for each in in_turn for answer in await ask(world, each)]
    runs = runs_of(answers)
    assert await phases(world, [waiting, *runs]) == [Phase.ADMITTED] * 4
    second = answers[1]
    assert isinstance(second, TransactionResult)
    assert {group_of_run(waiting), group_of_run(runs[0]), group_of_run(runs[1])} <= second.hints


@SUITE.check
async def many_make_many_runs(world: World) -> None:
    await world.publish()
    runs = runs_of(await ask(world, *(Request(f"r{number}", 1_000) for number in range(250))))
    assert sorted(run.instance_id for run in runs) == list(range(1, 251))


@SUITE.check
async def a_request_that_comes_twice_at_once_makes_one_run(world: World) -> None:
    await world.publish()
    runs = runs_of(await ask(world, Request("once"), Request("other"), Request("once")))
    assert runs[0] == runs[2]
    assert {*runs} == {RunKey("wf", 1, 1), RunKey("wf", 2, 1)}


@SUITE.check
async def what_one_raises_concerns_nobody_else(world: World) -> None:
    await world.publish()
    owner = await world.owner(most=1)
    (lease,) = owner.leases.values()
    late = Request("late", lease=Lease(lease.group, lease.generation - 1))
    angry = Request("angry")

    def refuse(_found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
        raise WrongState("not now")

    angry.decide = refuse
    for number, other in enumerate((angry, late)):
        ours = Request(f"ours {number}", lease=lease)
        answers = await ask(world, Request(f"a {number}"), ours, other, Request(f"b {number}"))
        runs = sorted(runs_of(answers))
        assert runs == [RunKey("wf", 3 * number + each, 1) for each in (1, 2, 3)]
        assert isinstance(answers[2], (WrongState, Fenced)[number])


@SUITE.check
async def who_is_late_with_a_request_spoils_it_for_nobody(world: World) -> None:
    await world.publish()
    owner = await world.owner(most=1)
    (lease,) = owner.leases.values()
    late = Request("same", lease=Lease(lease.group, lease.generation - 1))
    answers = await ask(world, late, Request("same", lease=lease))
    assert runs_of(answers) == [RunKey("wf", 1, 1)]
    assert isinstance(answers[0], Fenced)


@SUITE.check
async def a_row_that_is_there_hurts_only_who_makes_it_again(world: World) -> None:
    await world.publish()
    await world.start(request_id="taken")
    bold = Request("bold")

    def again(found: WorkflowSnapshot) -> WorkflowDecision[RunKey]:
        key = RunKey("wf", found.next_instance_id, 1)
        new = NewRun(record=run_record(key, "taken"))
        return WorkflowDecision(answer=key, spent=1, created=(new,))

    bold.decide = again
    answers = await ask(world, Request("a"), bold, Request("b"))
    assert sorted(runs_of(answers)) == [RunKey("wf", 2, 1), RunKey("wf", 3, 1)]
    assert isinstance(answers[1], Conflict)


@SUITE.check
async def an_unknown_workflow_is_refused_to_all(world: World) -> None:
    answers = await ask(world, Request("a"), Request("b"))
    assert [type(each) for each in answers] == [NotFound, NotFound]


@SUITE.check
async def runs_that_end_at_birth_come_together_too(world: World) -> None:
    await world.publish()
    starts = [world.start(status=status) for status in (RunStatus.FAILED, RunStatus.CREATED)]
    runs = await asyncio.gather(*starts)
    assert await phases(world, runs) == [Phase.ENDED, Phase.ADMITTED]
    assert (await world.row(runs[0])).failure is FailureMark.STANDING


@SUITE.check
async def rules_that_look_at_everybody_see_everybody(world: World) -> None:
    await world.publish(rule=RunStrategyRule.LAST_ONLY)
    requests = [Request(f"r{number}", 1) for number in range(3)]
    runs = sorted(runs_of(await ask(world, *requests, detail=everybody)))
    found = sorted(
        (each.found for each in requests if each.found is not None), key=lambda each: each.next_instance_id
    )
    assert [each.running for each in found] == [(), (runs[0],), (runs[0],)]
    assert [each.queue for each in found] == [(), (), (runs[1],)]


@SUITE.check
async def of_a_long_queue_nobody_is_passed_over(world: World) -> None:
    await world.publish()
    waiting = runs_of(await ask(world, *(Request(f"w{number}", 0) for number in range(MOST + 5))))
    runs = runs_of(await ask(world, *(Request(f"r{number}", 0) for number in range(2))))
    assert await phases(world, runs) == [Phase.QUEUED] * 2
    await ask(world, *(Request(f"late{number}", MOST * 2) for number in range(2)))
    admitted = [run for run in waiting if (await world.row(run)).phase is Phase.ADMITTED]
    assert admitted == waiting


@SUITE.check
async def workflows_are_read_together(world: World) -> None:
    await world.publish("one")
    await world.publish("two")
    await world.publish("two")
    store = world.store
    rows = await asyncio.gather(*(read_workflow(store, each) for each in ("two", "nowhere", "one", "two")))
    assert [None if row is None else row.workflow_id for row in rows] == ["two", None, "one", "two"]
    keys = [("two", 2), ("two", 3), ("one", 1), ("nowhere", 1), ("two", 1), ("two", 2)]
    versions = await asyncio.gather(*(store.version(*key) for key in keys))
    names = [None if each is None else (each.workflow.id, each.workflow.name) for each in versions]
    assert names == [("two", "v2"), None, ("one", "v1"), None, ("two", "v1"), ("two", "v2")]


@SUITE.check
async def runs_are_read_together_and_each_reader_has_its_own(world: World) -> None:
    await world.publish()
    keys = [await world.start() for _ in range(6)]
    unknown = RunKey("wf", 99, 1)
    for asked in ([keys[0], keys[0], unknown], [*keys, keys[0], unknown]):
        *rows, missing = await asyncio.gather(*(read_run(world.store, key) for key in asked))
        assert missing is None
        assert [None if row is None else row.key for row in rows] == asked[:-1]
        records = [row.record for row in rows if row is not None]
        assert len({id(each) for each in records}) == len(rows)


@SUITE.check
async def who_does_not_wait_any_more_is_passed_over(world: World) -> None:
    await world.publish()
    gone = asyncio.ensure_future(world.start())
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert await world.start() is not None
