"""How fast Shell steps are beside plain `subprocess`, and what much output costs.

python -m benchmarks shell
"""

import asyncio
import resource
import subprocess
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import perf_counter
from typing import Any, Final

from benchmarks.row import Row
from benchmarks.workers import weight
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.param import Parameter, ParamType
from stretto.model.step import TypedStep
from stretto.ports.runtime import Continue, Done, Launch, StepContext, StepResult
from stretto.runtimes.command import usual_shell
from stretto.runtimes.shell import ShellRuntime

STEPS: Final = 500
ROUNDS: Final = 3
AT_ONCE: Final = 16
PAUSE: Final = 0.001
MUCH: Final = 1_000_000_000
STEP: Final = TypedStep(id="step", type="Shell")
NUMBERS: Final = count(1)
Params = dict[str, Parameter]


def text(value: str) -> Parameter:
    return Parameter(type=ParamType.STRING, evaluated_result=value)


NOTHING: Final[Params] = {"command": text("true")}
WORDS: Final[Params] = {"command": Parameter(type=ParamType.STRING_ARRAY, evaluated_result=("true",))}


async def step(runtime: ShellRuntime, params: Params) -> Done:
    """One step, from its start to its report."""
    said: asyncio.Queue[StepResult] = asyncio.Queue()
    key = AttemptKey(RunKey("bench", next(NUMBERS), 1), "step", 1)
    ctx = StepContext(launch=Launch(key, 1), step=STEP, params=params, report=said.put)
    result = await runtime.start(ctx)
    while isinstance(result, Continue):
        result = await said.get()
    assert isinstance(result, Done), result
    return result


async def rate(at_once: int, work: Callable[[], Awaitable[Any]]) -> float:
    """How many in a second: the best of some rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        left = iter(range(STEPS))

        async def some(left: Any = left) -> None:
            for _ in left:
                await work()

        begun = perf_counter()
        await asyncio.gather(*(some() for _ in range(at_once)))
        best = max(best, STEPS / (perf_counter() - begun))
    return best


def plain(words: list[str], at_once: int) -> float:
    """The same with the standard library, whose processes nobody ends."""

    def one(_number: int) -> None:
        subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    best = 0.0
    with ThreadPoolExecutor(at_once) as threads:
        for _ in range(ROUNDS):
            begun = perf_counter()
            list(threads.map(one, range(STEPS)))
            best = max(best, STEPS / (perf_counter() - begun))
    return best


async def steps() -> list[Row]:
    runtime = ShellRuntime(lambda: 1_000, at_once=AT_ONCE)
    begun = perf_counter()
    await step(runtime, NOTHING)
    first = perf_counter() - begun
    found: list[tuple[str, float, list[str], int]] = []
    shell = [usual_shell("/usr/bin:/bin"), "-c", "true"]
    for name, params, words in (("a text for the shell", NOTHING, shell), ("a program", WORDS, ["true"])):
        for at_once in (1, AT_ONCE):
            per_second = await rate(at_once, lambda params=params: step(runtime, params))  # type: ignore[misc]
            found.append((f"steps, {name}, {at_once} at once", per_second, words, at_once))
    parent = await step(runtime, {"command": text("echo $PPID")})
    printed = parent.artifacts["shell"]
    assert isinstance(printed, DefaultArtifact)
    memory = weight(int(printed.data["stdout"]), "Private_Dirty") / 1024
    await runtime.close()
    rows = [
        Row("the first step of all", first * 1e3, "ms", None, 1.0),
        Row("what looks after a command: memory of its own", memory, "MB", 10, 1.0),
    ]
    for name, per_second, words, at_once in found:
        beside = await asyncio.to_thread(plain, words, at_once)
        rows.append(Row(name, per_second, "1/s", None, per_second / beside, "subprocess"))
    return rows


async def much() -> list[Row]:
    """A command that prints without measure, beside a loop that has other things to do."""
    runtime = ShellRuntime(lambda: 1_000)
    await step(runtime, NOTHING)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = perf_counter()
    work = asyncio.create_task(step(runtime, {"command": text(f"yes | head -c {MUCH}")}))
    slowest = 0.0
    while not work.done():
        at = perf_counter()
        await asyncio.sleep(PAUSE)
        slowest = max(slowest, perf_counter() - at - PAUSE)
    took = perf_counter() - begun
    await work
    await runtime.close()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return [
        Row("output of 1 GB", MUCH / took / 1e6, "MB/s", None, 1.0),
        Row("the engine has grown meanwhile by", grown / 1024, "MB", 5, 1.0),
        Row("the longest that the loop was busy", slowest * 1e3, "ms", 100, 1.0),
    ]


def run() -> list[Row]:
    """All measurements."""
    return [*asyncio.run(steps()), *asyncio.run(much())]
