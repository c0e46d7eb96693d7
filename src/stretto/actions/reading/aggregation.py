"""An instance over all its runs, told from the rows: what each run covered, and what became of each step."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from stretto.actions.parts.offload import offload
from stretto.definition.graph import Graph, runtime_dag
from stretto.engine.aggregate import aggregated_info, aggregated_views
from stretto.engine.inline_ids import is_inline
from stretto.engine.live_rollup import left_under
from stretto.engine.opening import dag_of_run, restarted_step
from stretto.engine.records import RunKey, RunRecord
from stretto.engine.rollup import Rollup, rollup_of_earlier_runs
from stretto.model.aggregated import AggregatedInfo, StepAggregatedView
from stretto.model.run_config import RunPolicy
from stretto.model.status import StepStatus
from stretto.model.step import Transition
from stretto.model.workflow import Workflow
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import NewestAttempts, RunPage, RunReader


class Folded(NamedTuple):
    """An instance after some of its runs: what the last one covers, and what became of each step."""

    dag: dict[str, Transition]
    info: AggregatedInfo
    undone: frozenset[str]


class RunInInstance(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and its instance up to it."""

    row: RunRow
    dag: dict[str, Transition]  # of the steps that it covers, in their order
    attempts: list[AttemptRow]  # the newest of each step that was created
    info: AggregatedInfo
    undone: frozenset[str] = frozenset()  # steps whose success counts no more
    alone: bool  # there is no run before it
    under: Mapping[str, Rollup] = {}  # what ran in the loops and the children of steps, newest run first
    earlier: Rollup | None = None  # leaf steps of earlier runs that it does not cover

    @property
    def statuses(self) -> dict[str, StepStatus]:
        """The newest status of each step: where a restart begins. What was undone is as if it never ran."""
        return statuses_in(Folded(self.dag, self.info, self.undone))


class KnownInstances:
    """Instances up to a run, folded for one answer: the next run of an instance goes on from there."""

    def __init__(self) -> None:
        self._known: dict[RunKey, tuple[Workflow, RunInInstance]] = {}

    def get(self, workflow: Workflow, run: RunKey) -> RunInInstance | None:
        """The instance up to a run, if it was folded with the same steps."""
        folded_with, state = self._known.get(run, (None, None))
        return state if folded_with is not None and folded_with.steps is workflow.steps else None

    def note(self, workflow: Workflow, state: RunInInstance) -> None:
        self._known[state.row.key] = (workflow, state)


async def aggregate(
    reader: RunReader, workflow: Workflow, row: RunRow, known: KnownInstances | None = None
) -> RunInInstance:
    """A run with its instance up to it, as it is shown. One that undoes others has steps of its own."""
    if row.record.policy is RunPolicy.UNDO:
        return folded(workflow, row, await reader.attempts(NewestAttempts((row.key,))), None)
    return await aggregate_runs(reader, workflow, row, known)


async def aggregate_runs(
    reader: RunReader, workflow: Workflow, row: RunRow, known: KnownInstances | None = None
) -> RunInInstance:
    """Fold the runs of an instance, the oldest first, up to this one: where a restart begins."""
    known = known or KnownInstances()
    last: RunInInstance | None = None
    before = await runs_below(reader, row.key.workflow_id, row.key.instance_id, row.key.run_id)
    for each in (*before, row):
        state = known.get(workflow, each.key)
        if state is None:
            attempts = await reader.attempts(NewestAttempts((each.key,)))
            state = await offload(len(workflow.steps), folded, workflow, each, attempts, last)
            known.note(workflow, state)
        last = state
    assert last is not None  # noqa: S101 - there is at least the run itself
    return last


def folded(
    workflow: Workflow, row: RunRow, attempts: list[AttemptRow], last: RunInInstance | None
) -> RunInInstance:
    """The instance after one more run."""
    made = {each.key.step_id: _view(each) for each in attempts}
    before = None if last is None else Folded(last.dag, last.info, last.undone)
    dag, info, undone = after_run(workflow, row.record, made, before)
    under = {} if last is None else last.under
    return RunInInstance(
        row=row,
        dag=dag,
        attempts=attempts,
        info=info,
        undone=undone,
        alone=last is None,
        under={**under, **_under(attempts)},
        earlier=None if last is None else _earlier(row, last, dag),
    )


def _under(attempts: list[AttemptRow]) -> dict[str, Rollup]:
    """Most steps have nothing under them."""
    found: dict[str, Rollup] = {}
    for each in attempts:
        under = left_under(each.record, subworkflow=each.record.child is not None)
        if under is not None and under.total:
            found[each.key.step_id] = under
    return found


def _earlier(row: RunRow, last: RunInInstance, dag: Collection[str]) -> Rollup:
    workflow_id, instance_id, _run = row.key
    views = last.info.step_aggregated_views
    return rollup_of_earlier_runs(workflow_id, instance_id, views, dag, last.under)


def after_run(
    workflow: Workflow,
    record: RunRecord,
    made: Mapping[str, StepAggregatedView],
    before: Folded | None,
) -> Folded:
    """What a run covers, and the instance after it; `made` are the steps that it created."""
    if record.policy is RunPolicy.UNDO and before is not None:
        made = {}  # its steps are not those of the instance
    dag = _dag(workflow, record, before)
    specific = record.policy is RunPolicy.RESTART_FROM_SPECIFIC
    views = aggregated_views(
        [step.id for step in workflow.steps],
        made,
        Graph({step: edges.successors for step, edges in dag.items()}),
        before=None if before is None else before.info.step_aggregated_views,
        restarted=restarted_step(record.restart) if specific else None,
    )
    status = None if before is None else before.info.workflow_instance_status
    undone = frozenset() if before is None else before.undone - made.keys()
    info = aggregated_info(record.status, views, status, follows_maestro=workflow.follows_maestro)
    return Folded(dag, info, undone | record.undone.keys())


def _dag(workflow: Workflow, record: RunRecord, before: Folded | None) -> dict[str, Transition]:
    """The steps of a run. An iteration says it itself, as what was restarted is around it."""
    if record.policy is RunPolicy.UNDO:
        return runtime_dag(workflow.steps, None if before is None else ())
    if is_inline(record.key.workflow_id):
        return runtime_dag(workflow.steps, record.covers)
    statuses = None if before is None else statuses_in(before)
    return dag_of_run(workflow, record.policy, statuses, record.restart)


def statuses_in(folded: Folded) -> dict[str, StepStatus]:
    """The newest status of each step: where a restart begins."""
    views = folded.info.step_aggregated_views
    return {
        step: StepStatus.NOT_CREATED if step in folded.undone else view.status for step, view in views.items()
    }


def _view(row: AttemptRow) -> StepAggregatedView:
    record = row.record
    return StepAggregatedView(
        workflow_run_id=row.key.run.run_id,
        status=record.status,
        start_time=record.start_time,
        end_time=record.end_time,
    )


async def runs_below(
    reader: RunReader, workflow_id: str, instance_id: int, below: int | None = None
) -> list[RunRow]:
    """The runs of an instance that are older than one, or all of them, the oldest first."""
    found: list[RunRow] = []
    while below is None or below > 1:
        page = await reader.runs(RunPage(workflow_id, instance_id, Cut(below=below)))
        found += page.elements
        if not page.after:
            break
        below = page.elements[-1].key.run_id
    return found[::-1]
