"""Start several runs of a workflow at once."""

from collections.abc import Sequence

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.new_run import candidate_of
from stretto.actions.parts.start_response import look_at_held, response_of
from stretto.actions.start import Version, wanted_of
from stretto.model.errors import StrettoError
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.strategies import Refused


async def start_many(  # noqa: PLR0913 - as `start`
    store: Store,
    caller: Caller,
    workflow_id: str,
    version: str,
    requests: Sequence[StartRequest],
    *,
    hints: Hints = SILENT,
    evaluate: Evaluator = evaluate_here,
    limits: ParamLimits = DEFAULT_LIMITS,
) -> list[StartResponse | StrettoError]:
    """As `start`, for requests that come together: one transaction for all of them, and for each an answer,
    or why it is refused.
    """
    row = await find_workflow(store, workflow_id)
    check_may(caller, Right.RUN, workflow_id, row.properties)
    version_id, found = await find_version(store, row, version)
    chosen = Version(row, version_id, found.workflow)
    now = await store.now()
    answers: dict[int, StartResponse | StrettoError] = {}
    candidates: dict[int, Candidate] = {}
    for number, request in enumerate(requests):
        try:
            wanted = wanted_of(chosen, caller, request, evaluate=evaluate, limits=limits)
            candidates[number] = await candidate_of(store, wanted, now)
        except StrettoError as refusal:
            answers[number] = refusal
    if candidates:
        done = await admit_all(store, workflow_id, list(candidates.values()), hints=hints)
        held = await look_at_held(store, workflow_id, done)
        for number, answer in zip(candidates, done.answers, strict=True):
            own_id = requests[number].request_id is None
            one = msgspec.structs.replace(done, answers=(answer,))
            answers[number] = (
                answer.error()
                if isinstance(answer, Refused)
                else response_of(one, workflow_id, version_id, held, own_id=own_id)
            )
    return [answers[number] for number in range(len(requests))]
