"""Pools of workers: a call waits for a worker, has it for itself, and can be ended."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Final

from stretto.model.errors import InvalidRequest
from stretto.ports.logs import LogSink
from stretto.runtimes.workers.job import Job
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.messages import PLATFORM, Answer, Raised
from stretto.runtimes.workers.process import WorkerProcess
from stretto.runtimes.workers.server import Server
from stretto.runtimes.workers.sink import Terminal

DEFAULT: Final = "default"
RETIRE_WITHIN: Final = 2.0  # seconds for an idle worker to end by itself
GRACE: Final = 10.0  # seconds for a function to end, once it is told to
CLOSED: Final = "the worker processes are closed"


class Pool:
    """Some workers, all alike. They are started when they are needed, and used again."""

    def __init__(
        self, name: str, limits: WorkerLimits, server: Server, sink: LogSink, numbers: "count[int]"
    ) -> None:
        self.name = name
        self.limits = limits
        self._server = server
        self._sink = sink
        self._numbers = numbers
        self._workers: set[WorkerProcess] = set()
        self._leaving: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._line: deque[asyncio.Future[None]] = deque()
        self._closed = False

    @property
    def is_full(self) -> bool:
        """Whether a call would have to wait."""
        return not self._idle and len(self._workers) >= self.limits.size

    @property
    def pids(self) -> list[int]:
        """The processes that there are."""
        return [each.pid for each in (*self._workers, *self._leaving) if each.pid is not None]

    def warm(self) -> None:
        """Have all workers started before they are needed."""
        while len(self._workers) < self.limits.size:
            self._idle.append(self._new())

    async def call(self, job: Job, grace: Callable[[], float] = lambda: GRACE) -> Answer:
        """Have a function called. If the caller is cancelled, the function is told to end, and its worker is
        killed after so many seconds, or when the caller is cancelled again; when this returns, nothing of it
        is left.
        """
        worker = await self._taken()
        if isinstance(worker, Raised):
            return worker
        try:
            worker.begin(job, self._sink)
            answer = await asyncio.shield(job.answer)
            if answer.left:  # what it left behind must not meet what comes next
                worker.kill()
                await worker.ended.wait()
            return answer
        except asyncio.CancelledError:
            await self._end(worker, job, grace())
            raise
        finally:
            self._give_back(worker)

    # ------------------------------------------------------------------------------------------------ workers
    async def _taken(self) -> WorkerProcess | Raised:
        while not self._closed:
            while self._idle:
                worker = self._idle.pop()
                if not worker.is_worn_out:
                    return worker
                self._retire(worker)
            if len(self._workers) < self.limits.size:
                try:
                    return self._new()
                except OSError as error:
                    return Raised(PLATFORM, f"no worker process can be started: {error}")
            turn = asyncio.get_running_loop().create_future()
            self._line.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # its turn had come: the next may have it
                    self._let_in()
                raise
        return Raised(PLATFORM, CLOSED)

    def _new(self) -> WorkerProcess:
        worker = WorkerProcess(next(self._numbers), self._server, self.limits, self._gone)
        self._workers.add(worker)
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        if not worker.is_worn_out and not self._closed:
            self._idle.append(worker)
            self._let_in()
        elif not worker.is_gone:
            if worker.is_spoiled:
                worker.kill()
            else:
                self._retire(worker)
                self._let_in()

    def _retire(self, worker: WorkerProcess) -> None:
        """It does nothing any more, so another one may take its place at once."""
        self._workers.discard(worker)
        self._leaving.add(worker)
        worker.retire(RETIRE_WITHIN)

    def _gone(self, worker: WorkerProcess) -> None:
        self._workers.discard(worker)
        self._leaving.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        self._let_in()

    def _let_in(self) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    # ---------------------------------------------------------------------------------------------------- end
    async def _end(self, worker: WorkerProcess, job: Job, grace: float) -> None:
        """Until nothing of it is left. Whoever cancels this again has no more patience."""
        ending = asyncio.create_task(self._ended(worker, job, grace))
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                worker.kill()

    async def _ended(self, worker: WorkerProcess, job: Job, grace: float) -> None:
        if grace > 0 and worker.pid is not None:  # before that nothing was called that could clean up
            worker.ask()
            await asyncio.wait({job.answer}, timeout=grace)
        worker.kill()
        await worker.ended.wait()

    async def close(self) -> None:
        """End all workers. Calls that go on fail. Idempotent."""
        self._closed = True
        while self._line:
            self._let_in()
        while self._idle:
            self._retire(self._idle.pop())
        for worker in self._workers:
            worker.kill()
        for worker in [*self._workers, *self._leaving]:
            await worker.ended.wait()


class Workers:
    """The pools of an engine, by name, and the fork server behind them. Used in one event loop.

    `services`: those that functions may ask for, by name; `module:function` is what makes one, in each worker
    that needs it.
    """

    def __init__(
        self,
        pools: Mapping[str, WorkerLimits] | None = None,
        *,
        sink: LogSink | None = None,
        services: Mapping[str, str] | None = None,
    ) -> None:
        self._server = Server()
        self._limits = {DEFAULT: WorkerLimits(), **(pools or {})}
        self._sink = sink or Terminal()
        self._numbers = count(1)
        self._pools: dict[str, Pool] = {}
        self.services = dict(services or {})
        for name, factory in self.services.items():
            if not all(factory.partition(":")):
                raise InvalidRequest(f"the service `{name}` is made by `module:function`, not by `{factory}`")

    def of(self, name: str | None) -> Pool:
        """The pool of a name; the default one if there is no such pool of workers."""
        known = name if name is not None and name in self._limits else DEFAULT
        if known not in self._pools:
            self._pools[known] = Pool(known, self._limits[known], self._server, self._sink, self._numbers)
        return self._pools[known]

    @property
    def pids(self) -> list[int]:
        """The processes of all workers."""
        return [pid for pool in self._pools.values() for pid in pool.pids]

    async def close(self) -> None:
        """End everything. Idempotent."""
        for pool in self._pools.values():
            await pool.close()
        await self._server.close()
