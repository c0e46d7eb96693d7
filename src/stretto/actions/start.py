"""Start runs: one, or a batch of them for one workflow.

    request --target, parameters--> candidate --the run strategy, under the workflow's lock--> run

`parts.start_batcher` makes batches of requests that come at the same time.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.candidate import Sender, Target, candidate_of
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.start_response import NOT_HELD, look_at_held, response_of
from stretto.model.errors import InvalidRequest, StrettoError
from stretto.model.initiator import Initiator, ManualInitiator, UpstreamFields
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow


class PendingStart(NamedTuple):
    """A request to start a run of a workflow: who asks for which version, and as which step, if one does."""

    caller: Caller
    version: str
    request: StartRequest
    sender: Sender | None = None
    evaluate: Evaluator = evaluate_here
    limits: ParamLimits = DEFAULT_LIMITS


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
    pending = PendingStart(caller, version, request, sender, evaluate, limits)
    (answer,) = await start_batch(store, workflow_id, [pending], hints=hints)
    if isinstance(answer, StartResponse):
        return answer
    raise answer


async def start_batch(
    store: Store, workflow_id: str, batch: Sequence[PendingStart], *, hints: Hints = SILENT
) -> list[StartResponse | StrettoError]:
    """As `start`, for requests that come together: one transaction for all of them, and for each an answer,
    or why it is refused.
    """
    row = await find_workflow(store, workflow_id)
    now = await store.now()
    answers: dict[int, StartResponse | StrettoError] = {}
    candidates: dict[int, Candidate] = {}
    targets: dict[str, Target] = {}  # by the version as it was asked for
    for number, pending in enumerate(batch):
        try:
            if pending.sender is None:  # what a step starts is its author's doing
                check_may(pending.caller, Right.RUN, workflow_id, row.properties)
            if pending.version not in targets:
                targets[pending.version] = await _target(store, row, pending.version)
            candidates[number] = await _candidate(store, targets[pending.version], pending, now)
        except StrettoError as refusal:
            answers[number] = refusal
    if candidates:
        done = await admit_all(store, workflow_id, list(candidates.values()), hints=hints)
        by_user = any(pending.sender is None for pending in batch)
        held = await look_at_held(store, workflow_id, done) if by_user else NOT_HELD  # no step looks at it
        for number, answer in zip(candidates, done.answers, strict=True):
            version_id = targets[batch[number].version].version_id
            own_id = batch[number].request.request_id is None
            one = msgspec.structs.replace(done, answers=(answer,))
            try:
                answers[number] = response_of(one, workflow_id, version_id, held, own_id=own_id)
            except StrettoError as refusal:
                answers[number] = refusal
    return [answers[number] for number in range(len(batch))]


async def _target(store: Store, row: WorkflowRow, version: str) -> Target:
    version_id, found = await find_version(store, row, version)
    return Target(row, version_id, found.workflow)


async def _candidate(store: Store, target: Target, pending: PendingStart, now: int) -> Candidate:
    caller, request, sender = pending.caller, pending.request, pending.sender
    whole = msgspec.structs.replace(
        request,
        initiator=_initiator(request, caller, sender),
        request_id=request.request_id or str(uuid4()),
    )
    return await candidate_of(
        store,
        target,
        whole,
        now,
        sender=sender,
        because=caller.because,
        evaluate=pending.evaluate,
        limits=pending.limits,
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
