"""Requests that come together are put to the store together: one transaction instead of many."""

import asyncio
from typing import Final, NamedTuple

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.evaluation import Evaluator, evaluate_here
from stretto.actions.start_many import start_many
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.params import ParamLimits
from stretto.params.requests import DEFAULT_LIMITS
from stretto.ports.hints import Hints
from stretto.ports.store import Store
from stretto.strategies import MOST_ADMITTED

MOST: Final = MOST_ADMITTED  # in one transaction: what is beyond that would be queued first, and logged


class Kind(NamedTuple):
    """What requests that go together have in common."""

    workflow_id: str
    version: str
    user: str
    roles: frozenset[Role]
    reason: str


class Waiting(NamedTuple):
    """A request, and who waits for its answer."""

    caller: Caller
    request: StartRequest
    answer: asyncio.Future[StartResponse]


class Submitting:
    """What comes while a transaction is under way makes the next one, for each version of a workflow."""

    def __init__(
        self,
        store: Store,
        hints: Hints,
        *,
        evaluate: Evaluator = evaluate_here,
        limits: ParamLimits = DEFAULT_LIMITS,
    ) -> None:
        self._store = store
        self._hints = hints
        self._evaluate = evaluate
        self._limits = limits
        self._queues: dict[Kind, list[Waiting]] = {}
        self._tasks: dict[Kind, asyncio.Task[None]] = {}

    async def start(
        self, caller: Caller, workflow_id: str, version: str, request: StartRequest
    ) -> StartResponse:
        """A new run; see `actions.start`."""
        answer: asyncio.Future[StartResponse] = asyncio.get_running_loop().create_future()
        kind = Kind(workflow_id, version, caller.name, caller.roles, caller.reason)
        self._queues.setdefault(kind, []).append(Waiting(caller, request, answer))
        if kind not in self._tasks:
            self._tasks[kind] = asyncio.create_task(self._carry_out(kind))
        return await answer

    async def finish(self) -> None:
        """Until all that was asked for is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _carry_out(self, kind: Kind) -> None:
        while batch := self._take(kind):
            try:
                answers = await start_many(
                    self._store,
                    batch[0].caller,
                    kind.workflow_id,
                    kind.version,
                    [each.request for each in batch],
                    hints=self._hints,
                    evaluate=self._evaluate,
                    limits=self._limits,
                )
            except Exception as error:  # noqa: BLE001 - it is told to all who asked
                answers = [error] * len(batch)  # type: ignore[list-item]
            for each, answer in zip(batch, answers, strict=True):
                if each.answer.done():  # whoever asked has gone
                    continue
                if isinstance(answer, StartResponse):
                    each.answer.set_result(answer)
                else:
                    each.answer.set_exception(answer)
        del self._tasks[kind]

    def _take(self, kind: Kind) -> list[Waiting]:
        """Some that wait, in their order."""
        queue = self._queues.pop(kind, [])
        if queue[MOST:]:
            self._queues[kind] = queue[MOST:]
        return queue[:MOST]
