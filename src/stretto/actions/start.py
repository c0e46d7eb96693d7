"""Start a run."""

from typing import NamedTuple
from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.admission import admit_all
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.new_run import Sender, Wanted, candidate_of
from stretto.actions.parts.start_response import NOT_HELD, look_at_held, response_of
from stretto.actions.parts.trigger_checks import check_trigger
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import Initiator, ManualInitiator, UpstreamFields
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.model.workflow import Workflow
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow


async def start(  # noqa: PLR0913 - a door gives five of them, the rest is for steps and nodes
    store: Store,
    caller: Caller,
    workflow_id: str,
    version: str,
    request: StartRequest,
    *,
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
    version_of = Version(row, version_id, found.workflow)
    wanted = wanted_of(version_of, caller, request, sender=sender, evaluate=evaluate, limits=limits)
    done = await admit_all(store, workflow_id, [await candidate_of(store, wanted)], hints=hints)
    held = await look_at_held(store, workflow_id, done) if sender is None else NOT_HELD  # no step looks at it
    return response_of(done, workflow_id, version_id, held, own_id=request.request_id is None)


class Version(NamedTuple):
    """What is to be run."""

    row: WorkflowRow
    version_id: int
    workflow: Workflow


def wanted_of(
    version: Version,
    caller: Caller,
    request: StartRequest,
    *,
    sender: Sender | None = None,
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> Wanted:
    """A request, checked, as far as that needs no parameter."""
    initiator = _initiator(request, caller, sender)
    check_trigger(initiator, version.row, version.version_id, version.workflow)
    return Wanted(
        row=version.row,
        version_id=version.version_id,
        workflow=version.workflow,
        initiator=initiator,
        request=request,
        request_id=request.request_id or str(uuid4()),
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
