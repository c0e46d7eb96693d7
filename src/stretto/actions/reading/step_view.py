"""An attempt as surfaces show it."""

from collections.abc import Mapping
from typing import Final

import msgspec

from stretto.actions.reading.flows import LoadedRun
from stretto.actions.reading.status_lines import STEP_TIMES, step_lines, with_step_statuses
from stretto.actions.reading.step_params import shown_step_params
from stretto.actions.reading.timeouts import shown_timeout
from stretto.engine.context import step_uuid
from stretto.engine.flow import Flow
from stretto.engine.policies import policy_of
from stretto.engine.records import AttemptRecord, RunRecord
from stretto.engine.retry import backoff_of
from stretto.model.param import Parameter, Params, ParamType
from stretto.model.signal_instance import SignalOutputs
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep, FailureMode, Transition
from stretto.model.step_instance import StepInstance, StepRetry, StepRuntimeState, StepTransition
from stretto.model.user import User
from stretto.ports.rows import AttemptRow

# Ends that no retry follows: also a failure that is ignored was final.
NOT_RETRIED: Final = frozenset(
    {status for status in StepStatus if status.is_restartable} | {StepStatus.COMPLETED_WITH_ERROR}
)


def runtime_state(row: AttemptRow) -> StepRuntimeState:
    """The status of an attempt, and when it reached each one on the way."""
    record = row.record
    times = {field: getattr(record, field) for _status, field in STEP_TIMES}
    return StepRuntimeState(
        status=record.status, end_time=record.end_time, modify_time=row.modify_time, **times
    )


def step_view(row: AttemptRow, loaded: LoadedRun, *, enriched: bool = True) -> StepInstance:
    """Everything about an attempt of a step that its run covers."""
    state, flow = loaded.state, loaded.flow
    record, run = row.record, state.row.record
    key = row.key
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
        tags=list(plan.step.tags or ()),
        step_run_params=_step_run_params(run, record),
        restart_config=record.restart or run.restart,
        params=shown_step_params(flow, record),
        transition=_transition(record, edges),
        step_retry=_retry(flow, plan.index, record),
        timeout_in_millis=shown_timeout(plan.step.timeout, record.initialize_time, lambda: flow),
        runtime_state=runtime_state(row),
        signal_dependencies=record.signals,
        signal_outputs=_signal_outputs(plan.step, record),
        artifacts=record.artifacts,
        timeline=with_step_statuses(record) if enriched else step_lines(record),
    )


def _signal_outputs(step: AnyStep, record: AttemptRecord) -> SignalOutputs | None:
    """What an attempt announced: nothing, once it has come to the point of it and has nothing to announce."""
    if record.signal_outputs is not None:
        return record.signal_outputs
    decided_too_late = record.status is StepStatus.INTERNALLY_FAILED and record.finish_time is not None
    past = record.status is StepStatus.SUCCEEDED or (decided_too_late and not record.outputs)
    return SignalOutputs() if past and not step.signal_outputs else None


def _definition(step: AnyStep, edges: Transition) -> AnyStep:
    """As it was published, with what it leaves open filled in."""
    transition = msgspec.structs.replace(step.transition, predecessors=edges.predecessors)
    mode = step.failure_mode or FailureMode.FAIL_AFTER_RUNNING
    params = {} if step.params is None else step.params
    return msgspec.structs.replace(step, transition=transition, failure_mode=mode, params=params)


def _step_run_params(run: RunRecord, record: AttemptRecord) -> Params | None:
    """What the start of the run gives to the step. What a restart of the step gives is in its
    configuration, so that an attempt which such a restart made has none here.
    """
    if record.restart is not None:
        return {}
    return dict(run.step_run_params.get(record.key.step_id, {})) or None


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
    retries = policy_of(flow, flow.plan.steps[index], record.create_time or 0)
    return StepRetry(
        error_retries=record.error_retries,
        error_retry_limit=retries.user.limit,
        platform_retries=record.platform_retries,
        platform_retry_limit=retries.platform.limit,
        timeout_retries=record.timeout_retries,
        timeout_retry_limit=retries.timeout.limit,
        manual_retries=_manual_retries(record),
        retryable=not (record.manual or record.status in NOT_RETRIED),
        backoff=backoff_of(retries),
    )


def _manual_retries(record: AttemptRecord) -> int:
    """The attempts of this run that users asked for: those that no failure has made."""
    made = record.error_retries + record.platform_retries + record.timeout_retries
    return record.key.number - 1 - made if record.manual else 0
