"""The engine for programs without an event loop: the same one, in a thread with a loop of its own.

    with Engine("sqlite:///runs.db").sync() as engine:
        print(engine.run(etl, day="2026-11-15"))

Every method blocks until the answer is there. Functions that are `async` run in that loop, others in threads
of the pools; never in the thread of the program.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, overload

import msgspec

from stretto.actions.reading.why import WhyRun
from stretto.engine.records import RunKey
from stretto.flow.engine import library
from stretto.flow.engine.approvals import Approval
from stretto.flow.engine.errors import EngineStopped
from stretto.flow.engine.handlers import Handler
from stretto.flow.engine.inner import Place
from stretto.flow.engine.moments import RunEvent
from stretto.flow.engine.progress import Progress
from stretto.flow.engine.result import RunResult, StepOutcome
from stretto.flow.engine.run import Run
from stretto.flow.steps import StepFunction
from stretto.flow.workflow import Bound, Flow
from stretto.model.errors import InvalidRequest
from stretto.model.response import Queued
from stretto.model.status import RunStatus
from stretto.model.workflow import Definition, Workflow
from stretto.ports.functions import FunctionRecord
from stretto.runtimes.python.pools import PoolStatus

if TYPE_CHECKING:
    from stretto.flow.engine.engine import Engine

T = TypeVar("T")
A = TypeVar("A")

LOG = logging.getLogger(__name__)

MOST_RUNS: Final = 100
Given = library.Given | Bound[Any]


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="stretto-engine", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._is_closing:
            try:
                self._loop.run_forever()
            except (KeyboardInterrupt, SystemExit) as error:
                # A task that a function has started raised it. Whoever awaits that task gets it, too.
                LOG.warning("a task in the engine's event loop raised %s", type(error).__name__)

    def call(self, work: Coroutine[Any, Any, A]) -> A:
        """Run something there, and wait for it. Who is interrupted meanwhile interrupts it."""
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidRequest(
                "a blocking call would stop the engine here, because this is its own event loop",
                hint="use the async methods in async functions, or a plain function",
            )
        future: Future[A] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end(self) -> None:
        self._is_closing = True
        self._loop.stop()

    def close(self) -> None:
        """Also where another event loop runs in this thread, as in a notebook: it is used for nothing."""
        asyncio.run_coroutine_threadsafe(self._loop.shutdown_asyncgens(), self._loop).result()
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join()
        self._loop.close()


class SyncRun(Generic[T]):
    """One run; see `Run`, whose methods these are."""

    def __init__(self, run: Run[T], loop: Loop) -> None:
        self._run = run
        self._call = loop.call
        self._loop = loop

    def __repr__(self) -> str:
        return f"<SyncRun {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SyncRun) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> RunKey:
        return self._run.key

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def workflow_id(self) -> str:
        return self.key.workflow_id

    @property
    def instance_id(self) -> int:
        return self.key.instance_id

    @property
    def run_id(self) -> int:
        return self.key.run_id

    @property
    def queued(self) -> Queued | None:
        return self._run.queued

    @property
    def detail(self) -> str | None:
        return self._run.detail

    def status(self) -> RunStatus:
        return self._call(self._run.status())

    def look(self) -> RunResult[T]:
        return self._call(self._run.look())

    def steps(self) -> Mapping[str, StepOutcome]:
        return self._call(self._run.steps())

    def inside(self, step_id: str) -> "list[SyncRun[Any]]":
        return [SyncRun(each, self._loop) for each in self._call(self._run.inside(step_id))]

    def progress(self) -> Progress:
        return self._call(self._run.progress())

    def place(self) -> Place:
        return self._call(self._run.place())

    def why(self) -> WhyRun:
        return self._call(self._run.why())

    def wait(self, timeout: float | None = None) -> RunResult[T]:
        return self._call(self._run.wait(timeout))

    def result(self, timeout: float | None = None) -> T:
        return self._call(self._run.result(timeout))

    def ended(self, timeout: float | None = None) -> RunStatus:
        return self._call(self._run.ended(timeout))

    def events(self) -> Iterator[RunEvent]:
        """Each event as it comes."""
        events = self._run.events()
        try:
            while (event := self._call(anext(events, None))) is not None:
                yield event
        finally:
            self._call(events.aclose())

    def pause(self) -> None:
        self._call(self._run.pause())

    def resume(self) -> None:
        self._call(self._run.resume())

    def terminate(self, reason: str = "") -> None:
        self._call(self._run.terminate(reason))

    def kill(self, reason: str = "") -> None:
        self._call(self._run.kill(reason))

    def restart(
        self,
        *,
        from_beginning: bool = False,
        from_step: str | None = None,
        step_params: Mapping[str, Mapping[str, Any]] | None = None,
        **params: Any,
    ) -> "SyncRun[T]":
        again = self._run.restart(
            from_beginning=from_beginning, from_step=from_step, step_params=step_params, **params
        )
        return SyncRun(self._call(again), self._loop)

    def skip(self, step_id: str) -> None:
        self._call(self._run.skip(step_id))

    def answer(
        self,
        step_id: str,
        *,
        approved: bool = True,
        message: str = "",
        request_id: str | None = None,
        **outputs: Any,
    ) -> None:
        self._call(
            self._run.answer(step_id, approved=approved, message=message, request_id=request_id, **outputs)
        )


class SyncEngine:
    """An engine whose methods block; see `Engine`, whose methods these are."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._loop: Loop | None = None

    # ------------------------------------------------------------------------------------- from start to stop
    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """`stop` must follow."""
        if self._loop is not None:
            raise InvalidRequest("the engine runs already: open it once, and share it")
        loop = Loop()
        try:
            loop.call(self._engine.start())
        except BaseException:
            loop.close()
            raise
        self._loop = loop

    def stop(self) -> None:
        """Idempotent."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        try:
            loop.call(self._engine.stop())
        finally:
            loop.close()

    @property
    def url(self) -> str:
        return self._engine.url

    @property
    def is_open(self) -> bool:
        return self._loop is not None

    # ------------------------------------------------------------------------------------------------ knowing
    def register(self, *given: Any) -> None:
        self._engine.register(*given)

    def on(self, *statuses: str) -> Callable[[Handler], Handler]:
        return self._engine.on(*statuses)

    def functions(self) -> Sequence[FunctionRecord]:
        return self._call(self._engine.functions())

    def resize_pool(self, name: str, size: int) -> None:
        async def resize() -> None:
            self._engine.resize_pool(name, size)

        self._call(resize())

    def pool_status(self, name: str | None = None) -> list[PoolStatus]:
        async def look() -> list[PoolStatus]:
            return self._engine.pool_status(name)

        return self._call(look())

    # ------------------------------------------------------------------------------------------------ running
    def publish(self, flow: library.Given) -> int:
        return self._call(self._engine.publish(flow))

    @overload
    def submit(
        self, flow: Flow[..., T] | Bound[T] | StepFunction[..., T], /, **values: Any
    ) -> SyncRun[T]: ...
    @overload
    def submit(self, flow: Definition | Workflow | str, /, **values: Any) -> SyncRun[Any]: ...

    def submit(self, flow: Given, /, **values: Any) -> SyncRun[Any]:
        """Takes what `Engine.submit` takes."""
        return self._held(self._call(self._engine.submit(flow, **values)))

    @overload
    def run(self, flow: Flow[..., T] | Bound[T] | StepFunction[..., T], /, **values: Any) -> T: ...
    @overload
    def run(self, flow: Definition | Workflow | str, /, **values: Any) -> Any: ...

    def run(self, flow: Given, /, **values: Any) -> Any:
        return self._call(self._engine.run(flow, **values))

    def get(
        self,
        workflow: library.Named,
        instance_id: int | None = None,
        run_id: int | None = None,
        *,
        request_id: str | None = None,
    ) -> SyncRun[Any]:
        found = self._engine.get(workflow, instance_id, run_id, request_id=request_id)
        return self._held(self._call(found))

    def approvals(
        self,
        workflow: library.Named | None = None,
        *,
        assignee: str | None = None,
        limit: int = MOST_RUNS,
    ) -> list[Approval]:
        found = self._call(self._engine.approvals(workflow, assignee=assignee, limit=limit))
        return [msgspec.structs.replace(each, run=self._held(each.run)) for each in found]

    def runs(
        self,
        workflow: library.Named | None = None,
        *,
        status: str | Collection[str] = (),
        limit: int = MOST_RUNS,
    ) -> list[SyncRun[Any]]:
        found = self._call(self._engine.runs(workflow, status=status, limit=limit))
        return [self._held(each) for each in found]

    def wait_all(self, runs: Iterable[SyncRun[Any]], timeout: float | None = None) -> None:
        self._call(self._engine.wait_all([each._run for each in runs], timeout))  # noqa: SLF001 - of our own kind

    # -------------------------------------------------------------------------------------------------- parts
    def _call(self, work: Coroutine[Any, Any, A]) -> A:
        if self._loop is None:
            work.close()
            raise EngineStopped
        return self._loop.call(work)

    def _held(self, run: Run[T]) -> SyncRun[T]:
        assert self._loop is not None  # noqa: S101 - it has just answered
        return SyncRun(run, self._loop)
