"""Start runs: one, a batch of them for one workflow, or those that are asked for at the same time."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.admission import Candidate, admit_all
from stretto.actions.parts.candidate import Sender, Target, candidate_of
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.start_response import NOT_HELD, look_at_held, response_of
from stretto.definition.required import required_by
from stretto.model.errors import InvalidRequest, StrettoError
from stretto.model.initiator import Initiator, ManualInitiator, UpstreamFields
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import WorkflowRow
from stretto.strategies import MOST_ADMITTED


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
    return Target(row, version_id, found.workflow, required_by(found).keys())


async def _candidate(store: Store, target: Target, pending: PendingStart, now: int) -> Candidate:
    caller, request, sender = pending.caller, pending.request, pending.sender
    missing = [f"[{name}]" for name in target.required if name not in (request.run_params or {})]
    if missing:
        message = f"Workflow [{target.row.workflow_id}] needs {' and '.join(missing)}"
        raise InvalidRequest(message, hint="bring a value in `run_params`")
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


MOST: Final = MOST_ADMITTED  # in one transaction: what is beyond that would be queued first, and logged
OVERTAKEN_AFTER: Final = 0.1  # seconds until the next batch of a workflow no longer waits for one before it


class Waiter(NamedTuple):
    """A request, and who waits for its answer."""

    pending: PendingStart
    answer: asyncio.Future[StartResponse]


class StartBatcher:
    """What comes while a batch of its workflow is under way makes the next one, whoever asks for it and for
    which version: users over HTTP, programs, and steps that start subworkflows. One for each store and event
    loop is best; several do no harm.

    A batch that takes long, because an expression or the database does, is overtaken by those behind it.
    """

    def __init__(self, store: Store, hints: Hints) -> None:
        self._store = store
        self._hints = hints
        self._waiting: dict[str, list[Waiter]] = {}  # by workflow
        self._queues: dict[str, asyncio.Task[None]] = {}  # of the workflows for which something waits
        self._batches: set[asyncio.Task[None]] = set()

    async def start(
        self,
        caller: Caller,
        workflow_id: str,
        version: str,
        request: StartRequest,
        *,
        sender: Sender | None = None,
        evaluate: Evaluator = evaluate_here,
        limits: ParamLimits = DEFAULT_LIMITS,
    ) -> StartResponse:
        """A new run; see `actions.start`."""
        answer: asyncio.Future[StartResponse] = asyncio.get_running_loop().create_future()
        pending = PendingStart(caller, version, request, sender, evaluate, limits)
        self._waiting.setdefault(workflow_id, []).append(Waiter(pending, answer))
        if workflow_id not in self._queues:
            self._queues[workflow_id] = asyncio.create_task(self._work_off(workflow_id))
        return await answer

    async def finish(self) -> None:
        """Until all that was asked for until now is answered."""
        waiting = [each.answer for waiters in self._waiting.values() for each in waiters]
        under_way: set[asyncio.Future[Any]] = {*waiting, *self._batches}
        if under_way:
            await asyncio.wait(under_way)

    async def _work_off(self, workflow_id: str) -> None:
        while batch := self._take(workflow_id):
            task = asyncio.create_task(self._carry_out(workflow_id, batch))
            self._batches.add(task)
            task.add_done_callback(self._batches.discard)
            await asyncio.wait({task}, timeout=OVERTAKEN_AFTER)
        del self._queues[workflow_id]

    def _take(self, workflow_id: str) -> list[Waiter]:
        """Some that wait, in their order."""
        waiting = self._waiting.pop(workflow_id, [])
        if waiting[MOST:]:
            self._waiting[workflow_id] = waiting[MOST:]
        return waiting[:MOST]

    async def _carry_out(self, workflow_id: str, batch: list[Waiter]) -> None:
        answers: list[StartResponse | StrettoError]
        try:
            pending = [each.pending for each in batch]
            answers = await start_batch(self._store, workflow_id, pending, hints=self._hints)
        except Exception as error:  # noqa: BLE001 - it is told to all who asked
            answers = [error] * len(batch)  # type: ignore[list-item]
        for each, answer in zip(batch, answers, strict=True):
            if each.answer.done():  # whoever asked has gone
                continue
            if isinstance(answer, StartResponse):
                each.answer.set_result(answer)
            else:
                each.answer.set_exception(answer)
