"""A run as surfaces show it."""

import msgspec

from stretto.actions.reading.aggregation import RunInInstance, aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.status_lines import with_run_statuses
from stretto.engine.overview import runtime_overview
from stretto.engine.rollup import Rollup
from stretto.model.instance import RunProperties, WorkflowInstance
from stretto.model.rollup import RuntimeOverview
from stretto.model.run_config import RunConfig
from stretto.model.user import User
from stretto.model.workflow import Workflow
from stretto.ports.rows import Phase, RunRow
from stretto.ports.store import Store


async def instance_view(
    store: Store, row: RunRow, *, enriched: bool = True, aggregated: bool = True
) -> WorkflowInstance:
    """Everything about a run. `enriched`: the times of its statuses are on the timeline, too; `aggregated`:
    with the newest state of each step over all runs.
    """
    workflow = await definition_of(store, row)
    state = await aggregate(store, workflow, row)
    known = await store.workflow(row.root.workflow_id)
    view = _view(state, workflow, None if known is None else known.internal_id)
    if enriched:
        view.timeline = with_run_statuses(row.record)
    if aggregated:
        view.aggregated_info = state.info
    return view


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
        execution_id=None if row.phase is Phase.QUEUED else record.uuid,
        run_config=RunConfig(
            correlation_id=record.correlation_id, policy=record.policy, restart_config=record.restart
        ),
        step_run_params={step: dict(params) for step, params in record.step_run_params.items()} or None,
        run_properties=RunProperties(owner=None if record.owner is None else User(name=record.owner)),
        runtime_workflow=msgspec.structs.replace(workflow, tags=record.tags or None),
        runtime_dag=state.dag,
        timeout_in_millis=None if record.timeout_at is None or began is None else record.timeout_at - began,
        params=dict(record.params),
        initiator=record.initiator,
        status=state.info.workflow_instance_status,
        request_time=record.create_time,
        create_time=record.create_time,
        start_time=began,
        end_time=record.end_time,
        modify_time=row.modify_time,
        runtime_overview=_overview(state),
        timeline=list(record.timeline),
    )


def _overview(state: RunInInstance) -> RuntimeOverview | None:
    """None before the run has begun; its own status only where the instance has another."""
    record = state.row.record
    if record.start_time is None:
        return None
    steps = {each.key.step_id: each.record for each in state.attempts}
    instance = state.info.workflow_instance_status
    own = None if instance.value == record.status.value else record.status
    return runtime_overview(list(state.dag), steps, Rollup.of(state.row.summary.rollup), own)
