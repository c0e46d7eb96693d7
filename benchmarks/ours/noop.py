"""NoOp steps: definitions that are published on a store, and a node that looks after it."""

import asyncio
from collections.abc import Sequence
from time import perf_counter

from benchmarks.harness.protocol import Answer
from benchmarks.ours.shapes import LIMITED_TAG, OWNER, Limit, dealt, definition, steps_of
from stretto.actions.caller import Caller
from stretto.actions.publish import publish
from stretto.actions.tag_permits import set_tag_permit
from stretto.app import App
from stretto.model.event import InstanceStatusChanged, StepStatusChanged
from stretto.model.initiator import ManualInitiator
from stretto.model.permit import TagPermitRequest
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer

ANN = Caller(user=OWNER)
Instance = tuple[str, int]


class Moments(Observer):
    """When runs had ended, and when their first step was seen to have started."""

    def __init__(self) -> None:
        self._ended: dict[Instance, asyncio.Future[float]] = {}
        self._begun: dict[Instance, asyncio.Future[float]] = {}

    def committed(self, rows: Sequence[LogRow]) -> None:
        now = perf_counter()
        for row in rows:
            for event in row.events:
                if isinstance(event, InstanceStatusChanged) and event.new_status.is_terminal:
                    self._note(self._ended, (event.workflow_id, event.workflow_instance_id), now)
                elif isinstance(event, StepStatusChanged):
                    self._note(self._begun, (event.workflow_id, event.workflow_instance_id), now)

    def _note(self, known: dict[Instance, asyncio.Future[float]], key: Instance, now: float) -> None:
        if not (found := self._moment(known, key)).done():
            found.set_result(now)

    def _moment(self, known: dict[Instance, asyncio.Future[float]], key: Instance) -> asyncio.Future[float]:
        return known.setdefault(key, asyncio.get_running_loop().create_future())

    def ended(self, key: Instance) -> asyncio.Future[float]:
        return self._moment(self._ended, key)

    def begun(self, key: Instance) -> asyncio.Future[float]:
        return self._moment(self._begun, key)


class NoOps:
    """The workloads on one node."""

    def __init__(self, app: App, moments: Moments) -> None:
        self._app = app
        self._moments = moments
        self._starts = app.starts
        self._published: set[str] = set()
        self._has_limit = False

    async def limited(self, workload: str, limit: Limit, runs: int, size: int) -> Answer:
        """Some runs at once, each of a workload with a limit that never binds."""
        request = TagPermitRequest(tag=LIMITED_TAG, max_allowed=1_000_000)
        if limit is Limit.TAG and not self._has_limit:
            await set_tag_permit(self._app.store, ANN, request, hints=self._app.hints)
            self._has_limit = True
        if workload == "W3":
            return await self.many(workload, size, limit)
        name = await self._publish(workload, size, limit=limit)
        begun = perf_counter()

        async def each() -> None:
            await self._moments.ended(_instance(await self._submit(name)))

        await asyncio.gather(*(each() for _ in range(runs)))
        return {"seconds": perf_counter() - begun}

    async def one(self, workload: str, size: int) -> Answer:
        """One run."""
        name = await self._publish(workload, size)
        begun = perf_counter()
        made = await self._submit(name)
        return {"seconds": await self._moments.ended(_instance(made)) - begun}

    async def many(self, workload: str, runs: int, limit: Limit = Limit.NONE) -> Answer:
        """Runs that are submitted at once."""
        names = [
            await self._publish(workload, count, place, limit) for place, count in enumerate(dealt(runs))
        ]
        begun = perf_counter()

        async def each(name: str) -> float:
            submitted = perf_counter()
            return await self._moments.ended(_instance(await self._submit(name))) - submitted

        late = await asyncio.gather(
            *(each(name) for name, count in zip(names, dealt(runs), strict=True) for _ in range(count))
        )
        return {"seconds": perf_counter() - begun, "late": late}

    async def starts(self, workload: str, times: int) -> Answer:
        """From the answer to the start until the first step is known to have started, one after the other."""
        name = await self._publish(workload, 1)
        late = []
        for _ in range(times):
            made = await self._submit(name)
            answered = perf_counter()
            late.append(max(0.0, await self._moments.begun(_instance(made)) - answered))
            await self._moments.ended(_instance(made))
        return {"late": late}

    async def _submit(self, name: str) -> StartResponse:
        asked = StartRequest(initiator=ManualInitiator())
        return await self._starts.start(ANN, name, "1", asked)

    async def _publish(self, workload: str, size: int, place: int = 0, limit: Limit = Limit.NONE) -> str:
        name = f"{workload}_{size}_{place}_{limit}"
        if name not in self._published:
            made = definition(name, steps_of(workload, size), limit)
            await publish(self._app.store, ANN, made, hints=self._app.hints)
            self._published.add(name)
        return name


def _instance(made: StartResponse) -> Instance:
    return made.workflow_id, made.workflow_instance_id
