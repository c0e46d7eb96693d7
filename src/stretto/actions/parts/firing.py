"""A run that a trigger asks for: the active version, started by nobody but the trigger itself."""

from typing import Final

import msgspec

from stretto.actions.parts.admission import Admitted, Candidate
from stretto.actions.parts.candidate import Target, candidate_of
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.engine.records import RunKey
from stretto.model.errors import Conflict, InvalidRequest, NotFound, Unprocessable
from stretto.model.initiator import SignalInitiator, TimeInitiator
from stretto.model.param import Params
from stretto.model.request import StartRequest
from stretto.model.response import StartStatus
from stretto.ports.failures import Fenced
from stretto.ports.store import Store
from stretto.strategies import Refused

REFUSALS: Final = (Conflict, InvalidRequest, NotFound, Unprocessable)  # the trigger is not in force any more


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """The run that stands for a fire: new, kept out by its run strategy, or made by the same fire before."""

    run: RunKey
    status: StartStatus


async def find_target(store: Store, workflow_id: str) -> Target:
    row = await find_workflow(store, workflow_id)
    version_id, version = await find_version(store, row, "active")
    return Target(row, version_id, version.workflow)


async def candidate_for(
    store: Store,
    target: Target,
    initiator: TimeInitiator | SignalInitiator,
    request_id: str,
    run_params: Params,
    evaluate: Evaluator = evaluate_here,
) -> Candidate:
    """The run, ready to be put to the run strategy. One whose parameters can not be evaluated is kept as
    FAILED: nobody is there to be told.
    """
    request = StartRequest(
        initiator=initiator, request_id=request_id, run_params=run_params, persist_failed_run=True
    )
    return await candidate_of(store, target, request, await store.now(), evaluate=evaluate)


def fired_by(done: Admitted) -> list[Fired]:
    """What there is of runs; a fire that the strategy refuses has none."""
    return [
        Fired(run=answer.run, status=answer.start_status)
        for answer in done.answers
        if not isinstance(answer, Refused | Fenced)
    ]
