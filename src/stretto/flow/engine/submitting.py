"""Requests that come together are put to the store together: one transaction instead of many."""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from stretto.actions.caller import Caller
from stretto.actions.start import Asked
from stretto.actions.start_many import start_many
from stretto.model.param import Params
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.ports.hints import Hints
from stretto.ports.store import Store

MOST: Final = 100  # in one transaction, during which the workflow is locked

Version = tuple[str, int]


class Waiting(NamedTuple):
    """A request, and who waits for its answer."""

    asked: Asked
    answer: asyncio.Future[StartResponse]


class Submitting:
    """What comes while a transaction is under way makes the next one, for each version of a workflow."""

    def __init__(self, store: Store, caller: Caller, hints: Hints) -> None:
        self._store = store
        self._caller = caller
        self._hints = hints
        self._queues: dict[Version, list[Waiting]] = {}
        self._tasks: dict[Version, asyncio.Task[None]] = {}

    async def start(
        self, version: Version, request: StartRequest, step_run_params: Mapping[str, Params]
    ) -> StartResponse:
        """A new run; see `actions.start`."""
        answer: asyncio.Future[StartResponse] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(version, []).append(Waiting(Asked(request, step_run_params), answer))
        if version not in self._tasks:
            self._tasks[version] = asyncio.create_task(self._carry_out(version))
        return await answer

    async def finish(self) -> None:
        """Until all that was asked for is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _carry_out(self, version: Version) -> None:
        while batch := self._take(version):
            try:
                answers = await start_many(
                    self._store,
                    self._caller,
                    version[0],
                    str(version[1]),
                    [each.asked for each in batch],
                    hints=self._hints,
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
        del self._tasks[version]

    def _take(self, version: Version) -> list[Waiting]:
        """Some that wait, in their order."""
        queue = self._queues.pop(version, [])
        if queue[MOST:]:
            self._queues[version] = queue[MOST:]
        return queue[:MOST]
