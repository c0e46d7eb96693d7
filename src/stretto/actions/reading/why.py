"""Why a run or a step waits, since when, and what would move it."""

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.verdicts import place_of
from stretto.actions.reading.aggregation import aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.flows import flow_of
from stretto.engine.flow import Flow
from stretto.engine.loading import load_flow
from stretto.engine.records import RunKey
from stretto.engine.why import Why, why
from stretto.model.errors import NotFound
from stretto.model.status import RunStatus
from stretto.ports.admission import Question, Reading, Standing, Verdict
from stretto.ports.rows import Phase, RunRow
from stretto.ports.store import Store
from stretto.strategies import explain


class WhyRun(msgspec.Struct, frozen=True, kw_only=True):
    """The newest run of an instance: why it is queued, or what each of its unfinished steps waits for."""

    workflow_id: str
    workflow_instance_id: int
    workflow_run_id: int
    status: RunStatus
    text: str
    steps: tuple[Why, ...] = ()


async def why_run(store: Store, caller: Caller, workflow_id: str, instance_id: int) -> WhyRun:
    """Why a run has not ended."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    steps: tuple[Why, ...] = ()
    if row.phase is Phase.QUEUED:
        text = await _why_queued(store, row.key)
    elif row.phase is Phase.ENDED:
        text = f"run {row.key} has ended {row.record.status}{_cause(row)}"
    else:
        flow = await _flow(store, row)
        answers = (why(flow, step.id) for step in flow.plan.steps)
        steps = tuple(each for each in answers if each is not None and each.status.is_wakeable)
        text = f"{len(steps)} steps of run {row.key} have not ended"
    return WhyRun(
        workflow_id=workflow_id,
        workflow_instance_id=instance_id,
        workflow_run_id=row.key.run_id,
        status=row.record.status,
        text=text,
        steps=steps,
    )


def _cause(row: RunRow) -> str:
    """What made a run end badly: the step that failed first, or whoever asked for it."""
    error, said = row.summary.first_error, row.record.ended_by
    if error is not None:
        said = ": ".join(filter(None, (f"step [{error.step_id}] is {error.status}", error.text)))
    return f": {said}" if said and row.record.status is not RunStatus.SUCCEEDED else ""


async def why_step(store: Store, caller: Caller, workflow_id: str, instance_id: int, step_id: str) -> Why:
    """Why a step of the newest run is where it is."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    found = why(await _flow(store, row), step_id)
    if found is None:
        raise NotFound(f"Run {row.key} has no step [{step_id}]")
    return found


async def _why_queued(store: Store, run: RunKey) -> str:
    """Asked under the workflow's lock, so that queue and runs belong together; nothing is written."""
    everything = Reading(queue=None, running=True, failed=True)
    question = Question(reading=lambda _strategy: everything)
    done = await store.transact(run.workflow_id, question, lambda standing: _explained(standing, run))
    return done.answer


def _explained(standing: Standing, run: RunKey) -> Verdict[str]:
    if run not in standing.queue:
        return Verdict(answer=f"run {run} has just left the queue")
    queue, running, failed = (
        [place_of(each) for each in runs] for runs in (standing.queue, standing.running, standing.failed)
    )
    return Verdict(answer=explain(standing.strategy, place_of(run), queue, running, failed).sentence)


async def _flow(store: Store, row: RunRow) -> Flow:
    """The run as its owner has it, with everything that is alive in it; one that has ended alone."""
    if row.phase is Phase.ENDED:
        return await _opened(store, row, load=True)
    (rows,) = await store.load_flows([row.root])
    root = await _opened(store, rows.run)
    for loop in rows.loops:
        loop.ended = dict(rows.ended[loop.key])
    iterations = (each.record for each in rows.iterations)
    load_flow(root, iterations, (each.record for each in rows.attempts), rows.loops)
    return root.tree.live[row.key]


async def _opened(store: Store, row: RunRow, *, load: bool = False) -> Flow:
    workflow = await definition_of(store, row)
    return flow_of(await aggregate(store, workflow, row), workflow, load=load)
