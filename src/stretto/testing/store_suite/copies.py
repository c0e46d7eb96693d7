"""Nobody shares a record with the store, and what is loaded is what was in memory."""

from stretto.definition.parse import Options, load
from stretto.engine import effects, events
from stretto.engine.decide import Decision, decide
from stretto.engine.flow import Flow, Tree
from stretto.engine.plan import Plan
from stretto.engine.records import RunKey
from stretto.engine.settings import EngineSettings
from stretto.model.permit import TagPermit
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.admission import NewRun, TransactionScope, WorkflowDecision
from stretto.ports.run_snapshot import NewestAttempts, read_attempt
from stretto.testing.store_suite.check import Suite
from stretto.testing.store_suite.world import World, attempt_record, run_record

SUITE = Suite("copies")

DIAMOND = """
workflow:
  id: diamond
  steps:
    - {step: {id: a, type: NoOp, transition: {successors: {b: "true", c: "true"}}}}
    - {step: {id: b, type: Shell, transition: {successors: {d: "true"}}}}
    - {step: {id: c, type: NoOp, transition: {successors: {d: "true"}}}}
    - {step: {id: d, type: NoOp}}
"""


@SUITE.check
async def a_committed_record_is_not_the_callers(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    record = attempt_record(run, "s")
    await owner.decide(run, records=(record,))
    record.status = StepStatus.SUCCEEDED
    row = await read_attempt(world.store, record.key)
    assert row is not None
    assert row.record.status is StepStatus.RUNNING
    assert row.record is not record
    last = await owner.end(run)
    last.status = RunStatus.FAILED
    assert (await world.row(run)).record.status is RunStatus.SUCCEEDED


@SUITE.check
async def a_loaded_record_is_not_the_stores(world: World) -> None:
    await world.publish()
    owner = await world.owner()
    run = await world.live(owner)
    await owner.decide(run, records=(attempt_record(run, "s"),))
    for _ in range(2):
        (flow,) = await world.store.load_flows([run])
        assert flow.run.record.status is RunStatus.IN_PROGRESS
        assert flow.attempts[0].record.status is StepStatus.RUNNING
        flow.run.record.status = RunStatus.FAILED
        flow.attempts[0].record.status = StepStatus.STOPPED
    row = await world.row(run)
    row.record.status = RunStatus.FAILED
    assert (await world.row(run)).record.status is RunStatus.IN_PROGRESS
    assert (await world.store.attempts(NewestAttempts((run,))))[0].record.status is StepStatus.RUNNING


@SUITE.check
async def a_started_record_is_not_the_callers(world: World) -> None:
    await world.publish()
    mine = run_record(RunKey("wf", 1, 1), "request")
    decision: WorkflowDecision[None] = WorkflowDecision(answer=None, spent=1, created=(NewRun(record=mine),))
    await world.store.transact("wf", TransactionScope(), lambda _found: decision)
    mine.paused = True
    theirs = await world.row(mine.key)
    assert not theirs.record.paused
    theirs.record.paused = True
    assert not (await world.row(mine.key)).record.paused


@SUITE.check
async def a_tag_is_not_the_callers(world: World) -> None:
    mine = TagPermit(tag="x", max_allowed=1)
    await world.store.change_tag("x", lambda _before: mine)
    mine.max_allowed = 5
    theirs = await world.store.tag("x")
    assert theirs is not None
    assert theirs.max_allowed == 1
    theirs.max_allowed = 7
    again = await world.store.tag("x")
    assert again is not None
    assert again.max_allowed == 1


@SUITE.check
async def a_loaded_flow_is_the_flow_in_memory(world: World) -> None:
    (definition,) = load(DIAMOND, Options())
    workflow = definition.workflow
    await world.publish(workflow.id)
    owner = await world.owner()
    run = await world.start(workflow.id)
    tree = Tree(workflow, EngineSettings())
    flow = Flow((await world.row(run)).record, Plan(workflow.steps), tree)

    async def apply(decision: Decision, *, launch: bool = False) -> None:
        await owner.decide(run, launch=launch, records=tuple(decision.changes))
        await _same(world, flow, run)

    decision = decide(flow, events.Launched(run=run), await world.store.now())
    await apply(decision, launch=True)
    starts = [each for each in decision.effects if isinstance(each, effects.StartWork)]
    (start,) = starts
    done = events.Reported(attempt=start.attempt, launch=start.launch, state=events.ResultState.DONE)
    await apply(decide(flow, done, await world.store.now()))
    assert flow.is_over
    assert (await world.row(run)).record.status is RunStatus.SUCCEEDED


async def _same(world: World, flow: Flow, run: RunKey) -> None:
    """Loading the rows gives the flow in memory."""
    (rows,) = await world.store.load_flows([run])
    loaded = Flow(rows.run.record, flow.plan, Tree(flow.tree.workflow, flow.tree.settings))
    loaded.load((each.record for each in rows.attempts), rows.loops)
    assert loaded.run == flow.run
    assert loaded.attempts == flow.attempts
    assert all(one is not other for one, other in zip(loaded.attempts, flow.attempts, strict=True) if one)
    assert (loaded.waiting, loaded.satisfied) == (flow.waiting, flow.satisfied)
    assert loaded.active == flow.active
    assert {key: n for key, n in loaded.counts.items() if n} == {
        key: n for key, n in flow.counts.items() if n
    }
