"""Pools of workers to be tried, and ways to see what is left of their processes."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests import waiting
from tests.waiting import until

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import Answer, Call, Raised, Returned, Scene, Target, Told
from stretto.runtimes.workers.pool import Workers

MODULE = "tests.unit.runtimes.workers.functions"
LAUNCH = Launch(AttemptKey(RunKey("etl", 12, 2), "load", 1), 3, 0)
SCENE = Scene(("etl", 12, 2), "load", 1, 3, 0)
PATIENCE = 60.0  # seconds; a machine may be busy


class Kept:
    """A sink that keeps all."""

    def __init__(self) -> None:
        self.stdout = b""
        self.stderr = b""

    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        assert launch == LAUNCH
        setattr(self, stream, getattr(self, stream) + data)

    def end(self, launch: Launch) -> None:
        """The runtime of the step tells that, not its worker."""


class Heard:
    """A listener that keeps all."""

    def __init__(self) -> None:
        self.said: list[Told] = []
        self.begins = 0

    def begun(self) -> None:
        self.begins += 1

    def hear(self, said: Told) -> None:
        self.said.append(said)


def target(name: str, module: str = MODULE) -> Target:
    return Target(module, name)


def job(name: str, listener: Heard | None = None, *, module: str = MODULE, **args: Any) -> Job:
    return Job(LAUNCH, Call(target(name, module), json.dumps(args).encode()), listener)


def with_context(name: str, listener: Heard | None = None, level: int = 20, **args: Any) -> Job:
    return Job(LAUNCH, Call(target(name), json.dumps(args).encode(), SCENE, level), listener)


def with_workers(
    work: Callable[[Workers], Awaitable[Any]], *, sink: Kept | None = None, size: int = 1, **limits: Any
) -> Any:
    """Do something with workers, after which nothing may be left of them."""

    async def run() -> Any:
        workers = Workers({"default": WorkerLimits(size=size, **limits)}, sink=sink or Kept())
        try:
            return await work(workers)
        finally:
            server = workers._server.pid
            pids = workers.pids
            await workers.close()
            assert server is None or not lives(server)
            assert not [pid for pid in pids if lives(pid)]

    return asyncio.run(run())


def answer_of(asked: Job, **options: Any) -> Answer:
    answer: Answer = with_workers(lambda workers: workers.of(None).call(asked), **options)
    return answer


def value_of(answer: Answer) -> Any:
    assert isinstance(answer, Returned), answer
    return json.loads(answer.value)


def failure_of(answer: Answer) -> tuple[str, str]:
    assert isinstance(answer, Raised), answer
    return answer.kind, answer.message


# ------------------------------------------------------------------------------------------------ processes
def stat(pid: int) -> tuple[str, int]:
    """The state of a process, and its group."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[2])


def lives(pid: int) -> bool:
    """A zombie does not."""
    try:
        return stat(pid)[0] not in "ZX"
    except (OSError, IndexError):
        return False


def in_group(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, its = stat(int(entry.name))
            except (OSError, IndexError):
                continue
            if its == group and state not in "ZX":
                found.append(int(entry.name))
    return found


async def pids_in(file: Path) -> list[int]:
    """The processes that a function tells of, once it runs; the first is the worker's own."""
    return await until(lambda: read(file), f"the first line of {file.name}")


def read(file: Path) -> list[int]:
    return [int(each) for each in file.read_text().split()] if file.exists() else []


wait_until = waiting.wait_until
