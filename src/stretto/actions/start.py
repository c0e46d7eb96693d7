"""Start a run."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.admission import Admitted, admit_all
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.new_run import Sender, Wanted, candidate_of
from stretto.actions.parts.trigger_checks import check_trigger
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import Initiator, ManualInitiator, UpstreamFields
from stretto.model.param import Params
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, StartStatus
from stretto.model.timeline import LogEvent
from stretto.model.workflow import Workflow
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow
from stretto.strategies import Refused

NO_OVERRIDES: Final[Mapping[str, Params]] = {}


async def start(  # noqa: PLR0913 - a door gives five of them, the rest is for steps and nodes
    store: Store,
    caller: Caller,
    workflow_id: str,
    version: str,
    request: StartRequest,
    *,
    step_run_params: Mapping[str, Params] = NO_OVERRIDES,
    sender: Sender | None = None,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> StartResponse:
    """A new instance, as far as the run strategy lets it. The same request id never starts two: a repeated
    one is answered DUPLICATED, with the ids of what the first one made. Only a `sender` may start as a step.
    """
    row = await find_workflow(store, workflow_id)
    if sender is None:  # what a step starts is its author's doing
        check_may(caller, Right.RUN, workflow_id, row.properties)
    version_id, found = await find_version(store, row, version)
    asked = Asked(request, step_run_params)
    version_of = Version(row, version_id, found.workflow)
    wanted = wanted_of(version_of, caller, asked, sender=sender, evaluate=evaluate, limits=limits)
    done = await admit_all(store, workflow_id, [await candidate_of(store, wanted)], hints=hints)
    return response_of(done, workflow_id, version_id, own_id=request.request_id is None)


class Version(NamedTuple):
    """What is to be run."""

    row: WorkflowRow
    version_id: int
    workflow: Workflow


class Asked(NamedTuple):
    """A request, and parameters of single steps for it."""

    request: StartRequest
    step_run_params: Mapping[str, Params] = NO_OVERRIDES


def wanted_of(
    version: Version,
    caller: Caller,
    asked: Asked,
    *,
    sender: Sender | None = None,
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> Wanted:
    """A request, checked, as far as that needs no parameter."""
    request = asked.request
    initiator = _initiator(request, caller, sender)
    check_trigger(initiator, version.row, version.version_id, version.workflow)
    return Wanted(
        row=version.row,
        version_id=version.version_id,
        workflow=version.workflow,
        initiator=initiator,
        request=request,
        request_id=request.request_id or str(uuid4()),
        overrides=asked.step_run_params,
        sender=sender,
        because=caller.because,
        evaluate=evaluate,
        limits=limits,
    )


def _initiator(request: StartRequest, caller: Caller, sender: Sender | None) -> Initiator:
    """A user is who calls, whatever the request says."""
    initiator = request.initiator
    if isinstance(initiator, ManualInitiator):
        return msgspec.structs.replace(initiator, user=caller.user)
    if isinstance(initiator, UpstreamFields) and sender is None:
        kind = type(initiator).__struct_config__.tag
        raise InvalidRequest(f"User [{caller.name}] can not start a run as a step: initiator [{kind}]")
    return initiator


def response_of(done: Admitted, workflow_id: str, version_id: int, *, own_id: bool) -> StartResponse:
    """The answer to the only request. Who got its request id from us can only have repeated itself."""
    (answer,) = done.answers
    if isinstance(answer, Refused):
        raise answer.error()
    status = answer.start_status
    if status is StartStatus.DUPLICATED and own_id:
        status = StartStatus.CREATED
    message = f"Run [{workflow_id}][{answer.run.instance_id}][{answer.run.run_id}]: {status.value.lower()}"
    return StartResponse(
        workflow_id=workflow_id,
        workflow_version_id=version_id,
        workflow_instance_id=answer.run.instance_id,
        workflow_run_id=answer.run.run_id,
        workflow_uuid=answer.request_id,
        status=status,
        timeline_event=LogEvent(timestamp=done.now, message=message),
    )
