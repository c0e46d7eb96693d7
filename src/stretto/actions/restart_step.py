"""Restart a step: a new attempt in a run that goes on, or a new run that begins there."""

from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.messages import Patience
from stretto.actions.parts.restart_above import restart_step_above
from stretto.actions.parts.restarting import Again, checked, climb_up, next_run
from stretto.actions.parts.start_response import look_at_held, response_of
from stretto.actions.parts.step_attempt import newest_attempt_of, status_of
from stretto.actions.restart import POLICIES
from stretto.engine.restart_path import from_inline_root
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.initiator import UpstreamFields
from stretto.model.request import StepRestartRequest, UpstreamRestartMode
from stretto.model.response import StartStatus, StepRestartResponse
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.model.status import InstanceStatus, StepStatus
from stretto.params import check_request
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


async def restart_step(  # noqa: PLR0913 - five that name the step, and how to wait and hint
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    request: StepRestartRequest,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
) -> StepRestartResponse:
    """In a run that goes on a step that ended badly gets another attempt. In one that has ended, a new run
    begins at the step; the policy of the request is that of what comes after it.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    status = status_of(await newest_attempt_of(store, row, step_id))
    again = Again(
        row=row,
        policy=RunPolicy.RESTART_FROM_SPECIFIC,
        config=config_of(row, step_id, request),
        caller=caller,
        request_id=request.request_id or str(uuid4()),
        request_time=request.request_time,
        hints=hints,
        evaluate=evaluate,
    )
    if request.upstream_restart_mode is UpstreamRestartMode.RESTART_FROM_INLINE_ROOT:
        again = await _from_inline_root(store, again, status, request.restart_policy)
    elif again.goes_on:
        check_restartable_now(again, step_id, status)
    elif StepAction.RESTART not in STEP_ACTIONS.get(status, ()):
        raise WrongState(f"Cannot restart step [{workflow_id}][{instance_id}][{step_id}]: it is {status}")
    again = await checked(store, again)
    return await restarted(store, again, patience, own_id=request.request_id is None)


async def restarted(
    store: Store, again: Again, patience: Patience | None, *, own_id: bool
) -> StepRestartResponse:
    """Carry out the restart of a step, wherever it has to begin."""
    again = await climb_up(store, again)
    version_id = again.row.record.version_id
    if again.goes_on:
        attempt, event = await restart_step_above(store, again, patience)
        return StepRestartResponse(
            workflow_id=attempt.run.workflow_id,
            workflow_version_id=version_id,
            workflow_instance_id=attempt.run.instance_id,
            workflow_run_id=attempt.run.run_id,
            step_id=attempt.step_id,
            step_attempt_id=attempt.number,
            status=StartStatus.CREATED,
            timeline_event=event,
        )
    workflow_id = again.row.key.workflow_id
    admitted = await next_run(store, again)
    held = await look_at_held(store, workflow_id, admitted)
    done = response_of(admitted, workflow_id, version_id, held, own_id=own_id)
    return StepRestartResponse(
        workflow_id=done.workflow_id,
        workflow_version_id=done.workflow_version_id,
        workflow_instance_id=done.workflow_instance_id,
        workflow_run_id=done.workflow_run_id,
        step_id=again.config.restart_path[-1].step_id,
        status=done.status,
        detail=done.detail,
        queued=done.queued,
        timeline_event=done.timeline_event,
    )


def config_of(
    row: RunRow, step_id: str, request: StepRestartRequest, skip: tuple[str, ...] | None = None
) -> RestartConfig:
    """The request as a restart of one step."""
    key, policy = row.key, request.restart_policy
    if policy not in POLICIES:
        raise InvalidRequest(
            f"Cannot restart step [{key.workflow_id}][{key.instance_id}][{step_id}] with policy [{policy}]",
            hint=f"one of {', '.join(POLICIES)}",
        )
    check_request(request.run_params or {})
    node = RestartNode(workflow_id=key.workflow_id, instance_id=key.instance_id, step_id=step_id)
    return RestartConfig(
        restart_path=(node,),
        restart_policy=RunPolicy.RESTART_FROM_SPECIFIC,
        downstream_policy=policy,
        restart_params=request.run_params,
        step_restart_params={step_id: request.step_run_params or {}},
        skip_steps=skip,
    )


def check_restartable_now(again: Again, step_id: str, status: StepStatus) -> None:
    """In the same run only what ended badly for good can be restarted; what waits for its retry, or has not
    ended, is under way. A root that waits for a user has no status yet. The owner looks at it once more.
    """
    if not status.is_restartable and status is not StepStatus.NOT_CREATED:
        key = again.row.key
        raise WrongState(
            f"Cannot restart step [{key.workflow_id}][{key.instance_id}][{step_id}] in run {key}:"
            f" it is {status}, and only one that failed can be restarted while its run goes on"
        )


async def _from_inline_root(store: Store, again: Again, status: StepStatus, policy: RunPolicy) -> Again:
    """The whole workflow around the loops, with parameters for the step in all iterations."""
    record = again.row.record
    above = record.initiator.ancestors if isinstance(record.initiator, UpstreamFields) else ()
    config = from_inline_root(again.config, above, InstanceStatus(record.status), status)
    node = config.restart_path[-1]
    row = await find_newest_run(store, node.workflow_id, node.instance_id)
    config = msgspec.structs.replace(config, restart_policy=policy)
    return msgspec.structs.replace(again, row=row, policy=policy, config=config)
