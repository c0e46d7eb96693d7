"""What steps ask people: found by everybody, by assignee and by workflow, as long as the attempt is kept."""

from typing import Any

from stretto.engine.records import AttemptKey, AttemptRecord, RunKey
from stretto.model.approval import Answer, Asked
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.approvals import ApprovalFilter, ApprovalRow
from stretto.ports.paging import Cut
from stretto.ports.run_snapshot import read_attempt
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, run_record

SUITE = Suite("approvals")
INSIDE = "maestro_foreach_Ib2_11_1"


def asking(run: RunKey, step_id: str, at: int, *assignees: str, **fields: Any) -> AttemptRecord:
    """An attempt that has begun to ask."""
    asks = Asked(prompt=f"{step_id}?", assignees=assignees)
    return attempt_record(run, step_id, asks=asks, execute_time=at, **fields)


async def found(world: World, **wanted: Any) -> list[str]:
    """The steps of those that are wanted."""
    page = await world.store.approvals(ApprovalFilter(**wanted), Cut())
    return [each.attempt.key.step_id for each in page.elements]


@SUITE.check
async def who_is_asked_finds_what_is_open(world: World) -> None:
    await world.publish()
    await world.publish("other")
    owner = await world.owner()
    run, other = await world.live(owner), await world.live(owner, "other")
    first, second = asking(run, "a", 10, "ann", "bob"), asking(run, "b", 20, "ann")
    await owner.decide(run, records=(first, second, attempt_record(run, "work")))
    await owner.decide(other, records=(asking(other, "c", 30),))
    assert await found(world) == ["c", "b", "a"]
    assert await found(world, assignee="ann") == ["b", "a"]
    assert await found(world, assignee="bob") == ["a"]
    assert await found(world, assignee="bob", workflow_id="other") == []
    assert await found(world, workflow_id="wf") == ["b", "a"]
    assert await found(world, is_open=False) == []
    page = await world.store.approvals(ApprovalFilter(assignee="bob"), Cut())
    row = await read_attempt(world.store, first.key)
    assert row is not None
    assert page.elements == (ApprovalRow(home="wf", asked_at=10, attempt=row),)
    assert row.record == first


@SUITE.check
async def an_answer_and_any_other_end_close_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    answered, stopped = asking(run, "a", 10, "ann"), asking(run, "b", 20, "ann")
    await owner.decide(run, records=(answered, stopped))
    answered.answer, answered.status = Answer(approved=True, time=25, user="ann"), StepStatus.FINISHING
    await owner.decide(run, records=(answered,))
    assert await found(world, assignee="ann") == ["b"]
    assert await found(world, assignee="ann", is_open=False) == ["a"]
    stopped.status = StepStatus.STOPPED
    await owner.decide(run, records=(stopped,))
    assert await found(world) == []
    assert await found(world, is_open=False, workflow_id="wf") == ["b", "a"]


@SUITE.check
async def what_is_asked_in_a_loop_belongs_to_the_workflow_around_it(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    inside = run_record(RunKey(INSIDE, 1, 1), "i1", status=RunStatus.IN_PROGRESS)
    await owner.decide(run, records=(inside, asking(inside.key, "deep", 10)))
    assert await found(world, workflow_id="wf") == ["deep"]
    assert await found(world, workflow_id=INSIDE) == []
    (row,) = (await world.store.approvals(ApprovalFilter(), Cut())).elements
    assert (row.home, row.attempt.key.run) == ("wf", inside.key)


@SUITE.check
async def open_questions_are_paged_by_when_they_were_asked(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    await owner.decide(run, records=tuple(asking(run, step, 10) for step in "cab"))
    await owner.decide(run, records=(asking(run, "d", 20),))
    wanted = ApprovalFilter(workflow_id="wf")
    page = await world.store.approvals(wanted, Cut(most=2))
    assert [each.attempt.key.step_id for each in page.elements] == ["d", "c"]
    assert (page.before, page.after) == (False, True)
    below = await world.store.approvals(wanted, Cut(most=2, below=(10, AttemptKey(run, "c", 1))))
    assert [each.attempt.key.step_id for each in below.elements] == ["b", "a"]
    assert (below.before, below.after) == (True, False)
    above = await world.store.approvals(wanted, Cut(most=1, above=(10, AttemptKey(run, "b", 1))))
    assert [each.attempt.key.step_id for each in above.elements] == ["c"]
    assert (above.before, above.after) == (True, True)


@SUITE.check
async def a_large_question_is_read_whole(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    large = attempt_record(run, "a", asks=Asked(prompt="long " * 100_000), execute_time=5)
    await owner.decide(run, records=(large,))
    (row,) = (await world.store.approvals(ApprovalFilter(), Cut())).elements
    assert row.attempt.record == large


@SUITE.check
async def a_question_goes_with_its_run(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    asked = asking(run, "a", 10, "ann")
    await owner.decide(run, records=(asked,))
    asked.status = StepStatus.TIMED_OUT
    await owner.end(run, records=(asked, attempt_record(run, "b", 1, StepStatus.SUCCEEDED)))
    assert await found(world, is_open=False, assignee="ann") == ["a"]
    assert await world.store.prune_runs("wf", await world.store.now() + 1) == 3
    assert await found(world, is_open=False) == await found(world, is_open=False, assignee="ann") == []
