"""How fast worker processes answer, what they weigh, and whether they grow, beside `concurrent.futures`.

python -m benchmarks workers
"""

import asyncio
import resource
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Final

from benchmarks.far import double
from benchmarks.row import Row
from stretto import Engine, step, workflow
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.param import ParamDefinition, Parameter, ParamType
from stretto.model.step import TypedStep
from stretto.ports.runtime import Continue, Done, Launch, StepContext, StepResult
from stretto.runtimes.python import PythonRuntime, Registry, function_of
from stretto.runtimes.workers.calls import WorkerProcesses
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import Call, Returned, Target
from stretto.runtimes.workers.pool import Workers
from stretto.runtimes.workers.targets import target_of

SIZE: Final = 2
CALLS: Final = 10_000
STEPS: Final = 3_000
AT_ONCE: Final = 8
WIDE: Final = 1_000
KB: Final = 1024


ADD: Final = function_of(double, isolation="process")


async def many(count: int, work: Callable[[int], Awaitable[None]]) -> float:
    """Seconds for so many calls, some of them at once."""
    numbers = iter(range(count))

    async def some() -> None:
        for number in numbers:
            await work(number)

    begun = perf_counter()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return perf_counter() - begun


def weight(pid: int, what: str) -> int:
    """Kilobytes of a process: `Rss` is all that it has in memory, `Private_Dirty` what nobody shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))


async def round_trips() -> list[Row]:
    """Calls through the pool alone."""
    workers = Workers({"default": WorkerLimits(size=SIZE, calls=None)})
    pool = workers.of(None)
    launch = Launch(AttemptKey(RunKey("bench", 1, 1), "step", 1), 1)
    target: Target = target_of(ADD)

    async def work(number: int) -> None:
        answer = await pool.call(Job(launch, Call(target, b'{"n": %d}' % number)))
        assert isinstance(answer, Returned)

    await many(1_000, work)
    before = {pid: weight(pid, "Rss") for pid in pool.pids}
    ours, cpu = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    took = await many(CALLS, work)
    cpu = process_time() - cpu
    grown = max(weight(pid, "Rss") - size for pid, size in before.items())
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - ours
    alone = max(weight(pid, "Private_Dirty") for pid in pool.pids)
    whole = max(weight(pid, "Rss") for pid in pool.pids)
    begun = perf_counter()
    fresh = Workers({"default": WorkerLimits(size=1, calls=1)})
    await fresh.of(None).call(Job(launch, Call(target, b'{"n": 1}')))
    first = perf_counter() - begun
    begun = perf_counter()
    for _ in range(100):
        await fresh.of(None).call(Job(launch, Call(target, b'{"n": 1}')))
    new = (perf_counter() - begun) / 100
    await fresh.close()
    await workers.close()
    plain = executor()
    return [
        Row(
            f"round trips, {SIZE} workers",
            CALLS / took,
            "1/s",
            3_000,
            CALLS / took / plain,
            "ProcessPoolExecutor",
        ),
        Row("processor time of the engine for one", cpu / CALLS * 1e6, "us", None, 1.0),
        Row("a worker: memory of its own", alone / KB, "MB", 20, 1.0),
        Row("a worker: memory, with what it shares", whole / KB, "MB", None, 1.0),
        Row(f"a worker has grown after {CALLS:,} calls by", grown / KB, "MB", 1, 1.0),
        Row(f"the engine has grown after {CALLS:,} calls by", ours / KB, "MB", 2, 1.0),
        Row("the first call of all", first * 1e3, "ms", None, 1.0),
        Row("a call in a new worker", new * 1e3, "ms", None, 1.0),
    ]


def executor() -> float:
    """The same with the standard library, whose processes can not be ended one by one."""
    with ProcessPoolExecutor(SIZE) as pool:
        list(pool.map(double, range(100)))
        begun = perf_counter()
        assert len(list(pool.map(double, range(3_000)))) == 3_000
        return 3_000 / (perf_counter() - begun)


async def steps() -> list[Row]:
    """Steps through the Python runtime."""
    processes = WorkerProcesses(Workers({"default": WorkerLimits(size=SIZE)}))
    runtime = PythonRuntime(Registry(ADD), now=lambda: 1_000, processes=processes)
    declared = ParamDefinition(type=ParamType.LONG, value=0)
    typed = TypedStep(id="step", type="Python", params={"result": declared})
    name = Parameter(type=ParamType.STRING, evaluated_result=ADD.name)

    async def work(number: int) -> None:
        said: asyncio.Queue[StepResult] = asyncio.Queue()
        key = AttemptKey(RunKey("bench", number, 1), "step", 1)
        params = {"function": name, "n": Parameter(type=ParamType.LONG, evaluated_result=number)}
        told = StepContext(launch=Launch(key, 1), step=typed, params=params, report=said.put)
        result = await runtime.start(told)
        while isinstance(result, Continue):
            result = await said.get()
        assert isinstance(result, Done)
        assert result.outputs["result"].evaluated_result == 2 * number

    await many(500, work)
    took = await many(STEPS, work)
    await runtime.close()
    return [Row(f"Python steps in {SIZE} workers", STEPS / took, "1/s", 500, 1.0)]


DOUBLE: Final = step(isolation="process")(double)


@workflow
def wide() -> None:
    """Steps beside each other."""
    for number in range(WIDE):
        DOUBLE(number)


async def engine(url: str) -> Row:
    """Steps of a workflow, through everything."""
    async with Engine(url, workers=SIZE) as opened:
        await opened.run(wide)
        times = []
        for _ in range(3):
            begun = perf_counter()
            await opened.run(wide)
            times.append(perf_counter() - begun)
    name = url.partition(":")[0]
    return Row(f"{WIDE:,} steps of a workflow, {SIZE} workers, {name}", WIDE / median(times), "1/s", 500, 1.0)


def engines() -> list[Row]:
    with TemporaryDirectory() as folder:
        return [asyncio.run(engine(url)) for url in ("memory:", f"sqlite:///{folder}/work.db")]


def run() -> list[Row]:
    """All measurements."""
    return [*asyncio.run(round_trips()), *asyncio.run(steps()), *engines()]
