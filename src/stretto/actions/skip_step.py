"""Skip a step."""

from uuid import uuid4

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.asking import ask_for_step
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.messages import Patience
from stretto.actions.parts.restarting import Again
from stretto.actions.parts.step_attempt import newest_attempt_of, status_of
from stretto.actions.restart_step import config_of, restarted
from stretto.engine.skips import SkipRoute, route_skip
from stretto.model.actions import StepAction
from stretto.model.request import StepRestartRequest
from stretto.model.response import StepActionResponse
from stretto.model.run_config import RunPolicy
from stretto.model.status import InstanceStatus
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store


async def skip_step(  # noqa: PLR0913 - five that name the step, and how to wait, hint and evaluate
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
) -> StepActionResponse:
    """The step ends SKIPPED and what follows it goes on: on the spot while it has not ended, by a new attempt
    while its run goes on, and else by a new run that begins with it.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    newest = await newest_attempt_of(store, row, step_id)
    instance = InstanceStatus(row.record.status)
    route = route_skip(instance, status_of(newest), workflow_id, instance_id, step_id)
    if route is not SkipRoute.RUN and newest is not None:
        return await ask_for_step(store, caller, (row, newest.key), StepAction.SKIP, patience, hints)
    request = StepRestartRequest(restart_policy=RunPolicy.RESTART_FROM_INCOMPLETE)
    again = Again(
        row=row,
        policy=RunPolicy.RESTART_FROM_SPECIFIC,
        config=config_of(row, step_id, request, skip=(step_id,)),
        caller=caller,
        request_id=str(uuid4()),
        hints=hints,
        evaluate=evaluate,
    )
    done = await restarted(store, again, patience, own_id=True)
    return StepActionResponse(
        workflow_id=done.workflow_id,
        workflow_instance_id=done.workflow_instance_id,
        workflow_run_id=done.workflow_run_id,
        step_id=step_id,
        step_attempt_id=done.step_attempt_id,
        timeline_event=done.timeline_event,
    )
