"""A run as surfaces show it."""

from stretto.actions.parts.offload import offload
from stretto.actions.reading.aggregation import KnownInstances, RunInInstance, aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields, only, wants
from stretto.actions.reading.flows import flow_of
from stretto.actions.reading.inherited_params import Starters, shown_params
from stretto.actions.reading.run_properties import run_properties
from stretto.actions.reading.runtime_workflow_view import runtime_tags_of, runtime_workflow
from stretto.actions.reading.status_lines import with_run_statuses
from stretto.actions.reading.timeouts import shown_timeout
from stretto.engine.live_rollup import rollup_of_rows
from stretto.engine.overview import runtime_overview
from stretto.engine.rollup import Rollup
from stretto.model.aggregated import AggregatedInfo
from stretto.model.instance import WorkflowInstance
from stretto.model.rollup import RuntimeOverview
from stretto.model.run_config import RunConfig
from stretto.model.status import InstanceStatus
from stretto.model.workflow import Workflow
from stretto.ports.rows import Phase, RunRow
from stretto.ports.run_snapshot import RunSnapshot, read_run


def shows_steps(fields: Fields) -> bool:
    """Whether these fields of a first run are told from its steps."""
    return wants(fields, "runtime_dag", "runtime_overview", "aggregated_info")


class InstanceViews:
    """The runs of one snapshot as they are shown. What several of them share is told once."""

    def __init__(self, snapshot: RunSnapshot) -> None:
        self._snapshot = snapshot
        self._starters = Starters(snapshot)
        self._known = KnownInstances()

    async def of(
        self, row: RunRow, *, enriched: bool = True, aggregated: bool = True, fields: Fields = None
    ) -> WorkflowInstance:
        """Everything about a run, or these fields of it. `enriched`: the times of its statuses are on the
        timeline, too; `aggregated`: with the newest state of each step over all runs.
        """
        workflow = await definition_of(self._snapshot, row)
        if row.key.run_id > 1 or shows_steps(fields):
            state = await aggregate(self._snapshot, workflow, row, self._known)
        else:
            state = _head(row)
        view = await self.of_state(state, workflow, enriched=enriched, aggregated=aggregated, fields=fields)
        return only(view, fields)

    async def of_state(
        self,
        state: RunInInstance,
        workflow: Workflow,
        *,
        enriched: bool,
        aggregated: bool,
        fields: Fields = None,
    ) -> WorkflowInstance:
        """The same of a run whose steps are told already; what is not in `fields` may be missing."""
        row, snapshot = state.row, self._snapshot
        internal_id = snapshot.internal_id(row.root.workflow_id)
        view = await offload(len(state.dag), _view, state, workflow, internal_id)
        root = row if row.root == row.key else await read_run(snapshot, row.root)
        properties = None if root is None else snapshot.properties_of(root)
        view.run_properties = run_properties(row.record, properties)
        view.quarantined = None if root is None else root.quarantined
        if wants(fields, "runtime_workflow"):
            view.runtime_workflow = await runtime_workflow(snapshot, row, workflow, properties)
        if wants(fields, "run_params"):
            view.run_params = await self._starters.run_params(row.record)
        if enriched:
            view.timeline = with_run_statuses(row.record)
        if aggregated:
            view.aggregated_info = state.info
        return view


def _head(row: RunRow) -> RunInInstance:
    """A first run without its steps, which may be many: nothing but they say is asked for."""
    info = AggregatedInfo(workflow_instance_status=InstanceStatus(row.record.status))
    return RunInInstance(row=row, dag={}, attempts=[], info=info, alone=True)


def _view(state: RunInInstance, workflow: Workflow, internal_id: int | None) -> WorkflowInstance:
    row, record = state.row, state.row.record
    began = record.start_time
    return WorkflowInstance(
        workflow_id=row.key.workflow_id,
        workflow_instance_id=row.key.instance_id,
        workflow_run_id=row.key.run_id,
        workflow_uuid=record.uuid,
        correlation_id=record.correlation_id,
        workflow_version_id=record.version_id,
        group_info=row.group,
        internal_id=internal_id,
        execution_id=record.uuid if _was_admitted(state) else None,
        run_config=RunConfig(
            runtime_tags=runtime_tags_of(record) or None,
            correlation_id=record.correlation_id,
            policy=record.policy,
            restart_config=record.restart,
        ),
        step_run_params={step: dict(params) for step, params in record.step_run_params.items()} or None,
        runtime_dag=state.dag,
        timeout_in_millis=shown_timeout(
            workflow.timeout,
            record.create_time if record.params else None,
            lambda: flow_of(state, workflow, load=False),
        ),
        params=shown_params(record) or None,
        initiator=record.initiator,
        status=state.info.workflow_instance_status,
        request_time=record.create_time if record.request_time is None else record.request_time,
        create_time=record.create_time,
        start_time=began,
        end_time=record.end_time,
        modify_time=row.modify_time,
        runtime_overview=overview_of(state),
        artifacts=record.artifacts,
        timeline=list(record.timeline),
    )


def _was_admitted(state: RunInInstance) -> bool:
    """Whether the engine was given the run: not what ended in the queue, or when it was created."""
    row, record = state.row, state.row.record
    if row.phase is not Phase.ENDED:
        return row.phase is not Phase.QUEUED
    at_once = record.start_time == record.end_time == record.create_time
    dropped = at_once and row.root == row.key and not (row.summary.counts or state.attempts)
    return record.start_time is not None and not dropped


def overview_of(state: RunInInstance) -> RuntimeOverview | None:
    """None for a run that has not begun, or was dropped; its own status only where the instance's differs."""
    record = state.row.record
    if record.start_time is None or not _was_admitted(state):
        return None
    steps = {each.key.step_id: each.record for each in state.attempts}
    instance = state.info.workflow_instance_status
    own = None if instance.value == record.status.value else record.status
    return runtime_overview(list(state.dag), steps, _rollup(state), own)


def _rollup(state: RunInInstance) -> Rollup:
    """The leaf steps of a run, with those of earlier runs that it does not cover. Of an iteration nobody
    keeps them.
    """
    kept = state.row.summary.rollup
    own = rollup_of_rows(each.record for each in state.attempts) if kept is None else Rollup.of(kept)
    return own if state.earlier is None else own.merge(state.earlier)
