"""Restart an instance: a new run of it, or of what stands above it."""

from typing import Final
from uuid import uuid4

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.messages import Patience
from stretto.actions.parts.restart_above import restart_step_above
from stretto.actions.parts.restarting import Again, checked, climb_up, next_run
from stretto.actions.parts.start_response import look_at_held, response_of
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.request import InstanceRestartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.model.run_config import RestartConfig, RestartNode, RunPolicy
from stretto.params import check_request
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunRow
from stretto.ports.store import Store

POLICIES: Final = (RunPolicy.RESTART_FROM_INCOMPLETE, RunPolicy.RESTART_FROM_BEGINNING)


async def restart(  # noqa: PLR0913 - four that name the instance, and how to wait, hint and evaluate
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    request: InstanceRestartRequest,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
) -> StartResponse:
    """The answer is about the run with which the restart begins: where a step waits for the instance, that
    is the run around that step, or one still further up. Of two at once the second is refused.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    again = Again(
        row=row,
        policy=request.restart_policy,
        config=config_of(row, request),
        caller=caller,
        request_id=request.request_id or str(uuid4()),
        request_time=request.request_time,
        hints=hints,
        evaluate=evaluate,
    )
    again = await climb_up(store, await checked(store, again))
    version_id = again.row.record.version_id
    if again.goes_on:
        attempt, event = await restart_step_above(store, again, patience)
        return StartResponse(
            workflow_id=attempt.run.workflow_id,
            workflow_version_id=version_id,
            workflow_instance_id=attempt.run.instance_id,
            workflow_run_id=attempt.run.run_id,
            workflow_uuid=again.row.record.uuid,
            status=StartStatus.CREATED,
            timeline_event=event,
        )
    done = await next_run(store, again)
    own_id, restarted_id = request.request_id is None, again.row.key.workflow_id
    held = await look_at_held(store, restarted_id, done)
    return response_of(done, restarted_id, version_id, held, own_id=own_id)


def config_of(row: RunRow, request: InstanceRestartRequest) -> RestartConfig:
    """The request as a restart of this instance; refused while it goes on."""
    key, policy = row.key, request.restart_policy
    if not row.record.status.is_terminal:
        raise WrongState(
            f"workflow instance [{key.workflow_id}][{key.instance_id}] does not support restart action"
            f" as it is in a non-terminal status [{row.record.status}]"
        )
    if policy not in POLICIES:
        raise InvalidRequest(
            f"Cannot restart instance [{key.workflow_id}][{key.instance_id}] with policy [{policy}]",
            hint=f"one of {', '.join(POLICIES)}",
        )
    check_request(request.run_params or {})
    node = RestartNode(workflow_id=key.workflow_id, instance_id=key.instance_id)
    return RestartConfig(
        restart_path=(node,),
        restart_policy=policy,
        downstream_policy=policy,
        restart_params=request.run_params or {},
        step_restart_params=request.step_run_params or None,
    )
