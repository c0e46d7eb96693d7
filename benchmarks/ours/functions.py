"""Python steps: functions that do nothing, through the embedded engine."""

import asyncio
from time import perf_counter, sleep, thread_time
from typing import Any, Final

from benchmarks.harness.protocol import Answer
from benchmarks.ours.shapes import AT_ONCE, ITERATIONS_AT_ONCE, SHORT, dealt
from stretto import Engine, Flow, step, workflow

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


def chain(name: str, body: Any, length: int) -> Flow[..., Any]:
    @workflow(id=name, run_strategy=AT_ONCE)
    def made() -> int:
        last = 0
        for _ in range(length):
            last = body(last)
        return last

    return made


def wide(name: str, body: Any, width: int) -> Flow[..., Any]:
    @workflow(id=name, run_strategy="parallel")
    def made() -> None:
        arms = [body(number) for number in range(width)]
        join().after(*arms)  # type: ignore[attr-defined]

    return made


def items(name: str, body: Any) -> Flow[..., Any]:
    @workflow(id=name, run_strategy="parallel")
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

    async def many(self, workload: str, runs: int) -> Answer:
        """Runs that are submitted at once."""
        flows = [self._flow(workload, count, place) for place, count in enumerate(dealt(runs))]
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

    def _flow(self, workload: str, size: int, place: int = 0) -> Flow[..., Any]:
        name = f"{workload}_{self._kind}_{size}_{place}"
        if name not in self._made:
            body = BODIES[self._kind]
            match workload:
                case "W1":
                    self._made[name] = chain(name, body, size)
                case "W2":
                    self._made[name] = wide(name, body, size)
                case "W3":
                    self._made[name] = chain(name, body, SHORT)
                case _:
                    self._made[name] = items(name, body)
        return self._made[name]
