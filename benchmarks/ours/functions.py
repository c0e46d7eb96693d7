"""Python steps: functions that do nothing, through the embedded engine."""

import asyncio
from time import perf_counter, sleep, thread_time
from typing import Any, Final

from benchmarks.harness.protocol import Answer
from benchmarks.ours.shapes import (
    AT_ONCE,
    ITERATIONS_AT_ONCE,
    LIMITED_TAG,
    OWNER,
    SHORT,
    STEPS_AT_ONCE,
    TAGS,
    TREE_AT_ONCE,
    Limit,
    dealt,
)
from stretto import Engine, Flow, step, workflow
from stretto.actions.caller import Caller
from stretto.actions.tag_permits import set_tag_permit
from stretto.actions.update_properties import update_properties
from stretto.model.permit import TagPermitRequest
from stretto.model.properties import PropertiesUpdate

ANN: Final = Caller(user=OWNER)
BEGUN: Final[list[float]] = []  # when `noted` was called


@step
async def nothing(number: int) -> int:
    return number


@step
def nothing_in_a_thread(number: int) -> int:
    return number


@step
async def busy(number: int) -> int:
    """Five milliseconds of a processor: then the database is not what is waited for."""
    end = thread_time() + 0.005
    while thread_time() < end:
        pass
    return number


@step
def waiting(number: int) -> int:
    """Fifty milliseconds in a thread, ten at once: neither the database nor the processors are the limit."""
    sleep(0.05)
    return number


@step
async def join() -> None:
    return None


@step
async def noted() -> None:
    BEGUN.append(perf_counter())


BODIES: Final = {"async": nothing, "sync": nothing_in_a_thread, "busy": busy, "waiting": waiting}
ALL: Final = (nothing, nothing_in_a_thread, busy, waiting, join, noted)


def concurrency(most: int | None) -> dict[str, Any]:
    """How many steps of a run go on at once, where that is limited."""
    return {} if most is None else {"concurrency": most}


def chain(name: str, body: Any, length: int, most: int | None = None) -> Flow[..., Any]:
    @workflow(id=name, run_strategy=AT_ONCE, **concurrency(most))
    def made() -> int:
        last = 0
        for _ in range(length):
            last = body(last)
        return last

    return made


def wide(name: str, body: Any, width: int, most: int | None = None) -> Flow[..., Any]:
    @workflow(id=name, run_strategy=AT_ONCE, **concurrency(most))
    def made() -> None:
        arms = [body(number) for number in range(width)]
        join().after(*arms)  # type: ignore[attr-defined]

    return made


def items(name: str, body: Any, most: int | None = None) -> Flow[..., Any]:
    @workflow(id=name, run_strategy=AT_ONCE, **concurrency(most))
    def made(numbers: list[int]) -> None:
        body.map(numbers, concurrency=ITERATIONS_AT_ONCE)

    return made


@workflow(id="first", run_strategy="parallel")
def first() -> None:
    noted()


class Functions:
    """The workloads on one engine, with one kind of function."""

    def __init__(self, engine: Engine, kind: str) -> None:
        self._engine = engine
        self._kind = kind
        self._made: dict[str, Flow[..., Any]] = {}

    async def one(self, workload: str, size: int) -> Answer:
        """One run."""
        flow = self._flow(workload, size)
        given = {"numbers": list(range(size))} if workload == "W4" else {}
        begun = perf_counter()
        await self._engine.run(flow, **given)
        return {"seconds": perf_counter() - begun}

    async def limited(self, workload: str, limit: Limit, runs: int, size: int) -> Answer:
        """Some runs at once, each of a workload with a limit that never binds."""
        if workload == "W3":
            return await self.many(workload, size, limit)
        flow = await self._limited(workload, size, limit)
        given = {"numbers": list(range(size))} if workload == "W4" else {}
        begun = perf_counter()
        await asyncio.gather(*(self._engine.run(flow, **given) for _ in range(runs)))
        return {"seconds": perf_counter() - begun}

    async def many(self, workload: str, runs: int, limit: Limit = Limit.NONE) -> Answer:
        """Runs that are submitted at once."""
        flows = [await self._limited(workload, each, limit, at) for at, each in enumerate(dealt(runs))]
        begun = perf_counter()

        async def each(flow: Flow[..., Any]) -> float:
            submitted = perf_counter()
            await (await self._engine.submit(flow)).result()
            return perf_counter() - submitted

        late = await asyncio.gather(
            *(each(flow) for flow, count in zip(flows, dealt(runs), strict=True) for _ in range(count))
        )
        return {"seconds": perf_counter() - begun, "late": late}

    async def starts(self, workload: str, times: int) -> Answer:  # noqa: ARG002 - there is but one
        """From the answer to the start until the function is called, one after the other."""
        late = []
        for _ in range(times):
            run = await self._engine.submit(first)
            answered = perf_counter()
            await run.result()
            late.append(max(0.0, BEGUN.pop() - answered))
        return {"late": late}

    async def _limited(self, workload: str, size: int, limit: Limit, place: int = 0) -> Flow[..., Any]:
        """The workflow, which is published with its limit before anything is measured."""
        name = f"{workload}_{self._kind}_{size}_{place}_{limit}"
        if name not in self._made:
            flow = self._flow(workload, size, place, limit)
            await self._engine.publish(flow)
            store = self._engine._opened().store  # noqa: SLF001 - what is set is not measured
            if limit is Limit.WORKFLOW:
                update = PropertiesUpdate(step_concurrency=STEPS_AT_ONCE)
                await update_properties(store, ANN, name, update)
            elif limit is Limit.TAG:
                request = TagPermitRequest(tag=LIMITED_TAG, max_allowed=1_000_000)
                await set_tag_permit(store, ANN, request)
        return self._made[name]

    def _flow(self, workload: str, size: int, place: int = 0, limit: Limit = Limit.NONE) -> Flow[..., Any]:
        name = f"{workload}_{self._kind}_{size}_{place}_{limit}"
        if name not in self._made:
            body = BODIES[self._kind]
            if limit in TAGS:
                body = body.with_options(tags=[TAGS[limit]])
            most = TREE_AT_ONCE if limit is Limit.INSTANCE else None
            match workload:
                case "W1":
                    self._made[name] = chain(name, body, size, most)
                case "W2":
                    self._made[name] = wide(name, body, size, most)
                case "W3":
                    self._made[name] = chain(name, body, SHORT, most)
                case _:
                    self._made[name] = items(name, body, most)
        return self._made[name]
