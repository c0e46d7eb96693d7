"""What a restart takes over, told from the rows. Owners fetch it, each under the key that the engine gave."""

from typing import Final

from stretto.actions.reading.aggregation import RunInInstance, folded, runs_below
from stretto.actions.reading.definitions import definition_of
from stretto.engine.context import step_facts
from stretto.engine.earlier import EarlierLoop, EarlierRun
from stretto.engine.flow import Flow, Tree
from stretto.engine.intervals import Intervals
from stretto.engine.live_rollup import leaves_of
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord, RunKey, RunRecord
from stretto.engine.settings import EngineSettings
from stretto.model.status import RunStatus
from stretto.model.workflow import Workflow
from stretto.params import StepFacts
from stretto.ports.paging import Cut
from stretto.ports.store import Store

PAGE: Final = 1_000  # iterations that are read at once


async def earlier_run(
    store: Store, workflow_id: str, instance_id: int, below: int | None = None
) -> EarlierRun | None:
    """An instance over its runs below one, or over all that it has; None: there is none. The answer to
    `engine.earlier.earlier_key`.
    """
    rows = await runs_below(store, workflow_id, instance_id, below)
    if not rows:
        return None
    workflow = await definition_of(store, rows[-1])
    state: RunInInstance | None = None
    newest: dict[str, tuple[RunRecord, AttemptRecord]] = {}
    loop_runs: dict[str, int] = {}
    children: dict[str, RunKey] = {}
    for row in rows:
        state = folded(workflow, row, await store.newest_attempts(row.key), state)
        for step_id in state.dag:  # what a run covers begins anew with it
            newest.pop(step_id, None)
        for record in (each.record for each in state.attempts):
            step_id = record.key.step_id
            newest[step_id] = (row.record, record)
            if record.loop_run is not None:
                loop_runs[step_id] = max(record.loop_run, loop_runs.get(step_id, 0))
            child = record.child or record.earlier_child
            if child is not None:
                children[step_id] = child
    assert state is not None  # noqa: S101 - there is a run
    last = rows[-1].record
    return EarlierRun(
        statuses=state.statuses,
        steps=_complete(workflow, newest),
        loop_runs=loop_runs,
        children=children,
        run_id=last.key.run_id,
        status=last.status,
        params=last.params,
        leaves=leaves_of(each.record for each in state.attempts),
    )


def _complete(workflow: Workflow, newest: dict[str, tuple[RunRecord, AttemptRecord]]) -> dict[str, StepFacts]:
    """The steps that are complete, as expressions see them."""
    tree, plan = Tree(workflow, EngineSettings()), Plan(workflow.steps)
    return {
        step_id: step_facts(Flow(run, plan, tree), record)
        for step_id, (run, record) in newest.items()
        if record.status.is_complete and step_id in plan.numbers
    }


async def earlier_loop(store: Store, inline_id: str) -> EarlierLoop:
    """How the newest run of each iteration of a loop has ended. The answer to
    `engine.earlier.iterations_key`, which names the loop by its inline id.
    """
    found: dict[RunStatus, Intervals] = {}
    below: int | None = None
    while True:
        page = await store.instances(inline_id, Cut(most=PAGE, below=below))
        for row in page.elements:
            found.setdefault(row.record.status, Intervals()).add(row.key.instance_id)
        if not page.after:
            return EarlierLoop(rows={status: tuple(rows.rows()) for status, rows in found.items()})
        below = page.elements[-1].key.instance_id
