"""Starts that are asked for at the same time make one transaction instead of many."""

import asyncio
from typing import Any, Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.parts.candidate import Sender
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.start import PendingStart, start_batch
from stretto.model.errors import StrettoError
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import Hints
from stretto.ports.store import Store
from stretto.strategies import MOST_ADMITTED

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
