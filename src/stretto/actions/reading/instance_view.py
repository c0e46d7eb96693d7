"""A run as surfaces show it."""

import msgspec

from stretto.actions.reading.aggregation import RunInInstance, aggregate
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields, only, wants
from stretto.actions.reading.flows import flow_of
from stretto.actions.reading.run_properties import run_properties
from stretto.actions.reading.status_lines import with_run_statuses
from stretto.actions.reading.timeouts import shown_timeout
from stretto.engine.live_rollup import rollup_of_rows
from stretto.engine.overview import runtime_overview
from stretto.engine.records import RunRecord
from stretto.engine.rollup import Rollup
from stretto.model.aggregated import AggregatedInfo
from stretto.model.initiator import UpstreamFields
from stretto.model.instance import WorkflowInstance
from stretto.model.param import Params, ParamSource
from stretto.model.properties import PropertiesSnapshot
from stretto.model.rollup import RuntimeOverview
from stretto.model.run_config import RunConfig
from stretto.model.status import InstanceStatus
from stretto.model.workflow import Workflow
from stretto.params.literals import definition_of as definition_of_param
from stretto.params.literals import literal_of
from stretto.ports.paging import Cut
from stretto.ports.rows import Phase, RunRow
from stretto.ports.store import Store


async def instance_view(
    store: Store, row: RunRow, *, enriched: bool = True, aggregated: bool = True, fields: Fields = None
) -> WorkflowInstance:
    """Everything about a run, or these fields of it. `enriched`: the times of its statuses are on the
    timeline, too; `aggregated`: with the newest state of each step over all runs.
    """
    workflow = await definition_of(store, row)
    by_steps = row.key.run_id > 1 or wants(fields, "runtime_dag", "runtime_overview", "aggregated_info")
    state = await aggregate(store, workflow, row) if by_steps else _head(row)
    known = await store.workflow(row.root.workflow_id)
    view = _view(state, workflow, None if known is None else known.internal_id)
    view.run_properties = run_properties(row.record, await _snapshot(store, row))
    if enriched:
        view.timeline = with_run_statuses(row.record)
    if aggregated:
        view.aggregated_info = state.info
    return only(view, fields)


def _head(row: RunRow) -> RunInInstance:
    """A first run without its steps, which may be many: nothing but they say is asked for."""
    info = AggregatedInfo(workflow_instance_status=InstanceStatus(row.record.status))
    return RunInInstance(row=row, dag={}, attempts=[], info=info, alone=True)


async def _snapshot(store: Store, row: RunRow) -> PropertiesSnapshot | None:
    """The properties that held when the run was made; an iteration goes by those of the run around it."""
    root = row if row.root == row.key else await store.run(row.root)
    at = None if root is None else root.record.properties_at
    if at is None:
        return None
    page = await store.properties_history(row.root.workflow_id, Cut(most=1, below=at + 1))
    return next((each for each in page.elements if each.create_time == at), None)


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
        execution_id=record.uuid if _was_admitted(row) else None,
        run_config=RunConfig(
            runtime_tags=record.runtime_tags or None,
            correlation_id=record.correlation_id,
            policy=record.policy,
            restart_config=record.restart,
        ),
        run_params=_run_params(record),
        step_run_params={step: dict(params) for step, params in record.step_run_params.items()} or None,
        runtime_workflow=msgspec.structs.replace(workflow, tags=record.tags or None),
        runtime_dag=state.dag,
        timeout_in_millis=shown_timeout(
            workflow.timeout, record, lambda: flow_of(state, workflow, load=False)
        ),
        params=dict(record.params),
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


def _was_admitted(row: RunRow) -> bool:
    """Whether the engine was given the run; what was ended in the queue never was."""
    ended_in_queue = row.phase is Phase.ENDED and row.record.start_time is None
    return row.phase is not Phase.QUEUED and not ended_in_queue


def _run_params(record: RunRecord) -> Params | None:
    """What the run was started with. What a step handed down is not kept twice: it is told by its source,
    which the values of a loop do not have.
    """
    if not isinstance(record.initiator, UpstreamFields):
        return dict(record.run_params) or None
    source = ParamSource(str(type(record.initiator).__struct_config__.tag))
    handed = {name: param for name, param in record.params.items() if param.source in {source, None}}
    return {name: definition_of_param(literal_of(param)) for name, param in handed.items()} or None


def overview_of(state: RunInInstance) -> RuntimeOverview | None:
    """None before the run has begun; its own status only where the instance has another."""
    record = state.row.record
    if record.start_time is None:
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
