"""An attempt as surfaces show it."""

from collections.abc import Mapping

import msgspec

from stretto.actions.reading.aggregation import RunInInstance
from stretto.actions.reading.flows import flow_of
from stretto.actions.reading.status_lines import STEP_TIMES, step_lines, with_step_statuses
from stretto.actions.reading.timeouts import shown_timeout
from stretto.engine.context import step_uuid
from stretto.engine.flow import Flow
from stretto.engine.policies import retries_for
from stretto.engine.records import AttemptRecord
from stretto.engine.retry import backoff_of
from stretto.model.param import Parameter, ParamType
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, FailureMode, Transition
from stretto.model.step_instance import StepInstance, StepRetry, StepRuntimeState, StepTransition
from stretto.model.user import User
from stretto.model.workflow import Workflow
from stretto.ports.rows import AttemptRow


def runtime_state(row: AttemptRow) -> StepRuntimeState:
    """The status of an attempt, and when it reached each one on the way."""
    record = row.record
    times = {field: getattr(record, field) for _status, field in STEP_TIMES}
    return StepRuntimeState(
        status=record.status, end_time=record.end_time, modify_time=row.modify_time, **times
    )


def step_view(
    row: AttemptRow, state: RunInInstance, workflow: Workflow, *, enriched: bool = True
) -> StepInstance:
    """Everything about an attempt of a step that its run covers."""
    record, run = row.record, state.row.record
    key = row.key
    flow = flow_of(state, workflow)
    plan = flow.plan.steps[flow.plan.numbers[key.step_id]]
    edges = state.dag[key.step_id]
    return StepInstance(
        workflow_id=key.run.workflow_id,
        workflow_instance_id=key.run.instance_id,
        workflow_run_id=key.run.run_id,
        step_id=key.step_id,
        step_attempt_id=key.number,
        workflow_uuid=run.uuid,
        step_uuid=step_uuid(flow.run.uuid, record.key),
        correlation_id=run.correlation_id,
        step_instance_id=record.sequence,
        workflow_version_id=run.version_id,
        group_info=state.row.group,
        owner=None if run.owner is None else User(name=run.owner),
        definition=_definition(plan.step, edges),
        tags=[*(plan.step.tags or ()), *run.tags],
        step_run_params=dict(record.step_run_params or run.step_run_params.get(key.step_id, {})) or None,
        restart_config=record.restart or run.restart,
        params=dict(record.params or {}),
        transition=_transition(record, edges),
        step_retry=_retry(flow, plan.index, record),
        timeout_in_millis=shown_timeout(plan.step.timeout, record, lambda: flow),
        runtime_state=runtime_state(row),
        signal_dependencies=record.signals,
        artifacts=record.artifacts,
        timeline=with_step_statuses(record) if enriched else step_lines(record),
    )


def _definition(step: AnyStep, edges: Transition) -> AnyStep:
    """As it was published, with what it leaves open filled in."""
    transition = msgspec.structs.replace(step.transition, predecessors=edges.predecessors)
    mode = step.failure_mode or FailureMode.FAIL_AFTER_RUNNING
    return msgspec.structs.replace(step, transition=transition, failure_mode=mode)


def _transition(record: AttemptRecord, edges: Transition) -> StepTransition:
    """The edges in this run; once the step is complete, with whether each was taken."""
    taken: Mapping[str, bool] = record.edges or {}
    return StepTransition(
        predecessors=list(edges.predecessors),
        successors={
            target: Parameter(
                type=ParamType.BOOLEAN,
                expression=condition,
                evaluated_result=taken.get(target),
                evaluated_time=record.end_time if target in taken else None,
            )
            for target, condition in edges.successors.items()
        },
    )


def _retry(flow: Flow, index: int, record: AttemptRecord) -> StepRetry:
    retries = retries_for(flow, flow.plan.steps[index], record.create_time or 0)
    return StepRetry(
        error_retries=record.error_retries,
        error_retry_limit=retries.user.limit,
        platform_retries=record.platform_retries,
        platform_retry_limit=retries.platform.limit,
        timeout_retries=record.timeout_retries,
        timeout_retry_limit=retries.timeout.limit,
        manual_retries=_manual_retries(record),
        retryable=not record.manual and record.status is not StepStatus.FATALLY_FAILED,
        backoff=backoff_of(retries),
    )


def _manual_retries(record: AttemptRecord) -> int:
    """The attempts of this run that users asked for: those that no failure has made."""
    made = record.error_retries + record.platform_retries + record.timeout_retries
    return record.key.number - 1 - made if record.manual else 0
