"""The embedded engine: a node inside of a program, and all that the program asks of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from stretto.actions.caller import Caller
from stretto.actions.parts.repeated_start import check_repeated_start
from stretto.actions.release import release_flow
from stretto.app import App, Connection, connection, running
from stretto.config import Config
from stretto.engine.records import RunKey
from stretto.flow.engine.approvals import Approval, open_approvals
from stretto.flow.engine.errors import EngineStopped
from stretto.flow.engine.finding import ProgramRegistry, known_in
from stretto.flow.engine.handlers import Handler, Handlers
from stretto.flow.engine.host import Host, guard
from stretto.flow.engine.library import Given, Library, Named, id_of, run_params
from stretto.flow.engine.library import step_params as encoded_steps
from stretto.flow.engine.listing import key_of, newest_keys
from stretto.flow.engine.options import OnStop, Place, Recover, place_of, user_name, word
from stretto.flow.engine.preparing import make_tables
from stretto.flow.engine.run import Run
from stretto.flow.engine.starting import find_functions, record_functions, resume_paused
from stretto.flow.engine.stopping import stop_runs
from stretto.flow.engine.watching import Watch
from stretto.flow.steps import StepFunction
from stretto.flow.workflow import Bound, Flow
from stretto.model.errors import Internal, InvalidRequest, PreconditionFailed
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.response import StartStatus
from stretto.model.tag import Tag
from stretto.model.user import User
from stretto.model.workflow import Definition, Workflow
from stretto.ports.functions import FunctionRecord
from stretto.ports.observer import Observer
from stretto.ports.runtime import StepRuntime
from stretto.runtimes.python.output import routed_output
from stretto.runtimes.python.own_params import TYPE
from stretto.runtimes.python.pools import Pools, PoolStatus
from stretto.runtimes.python.runtime import PythonRuntime
from stretto.runtimes.python.services import Services
from stretto.runtimes.surroundings import Surroundings
from stretto.runtimes.workers.calls import worker_processes
from stretto.runtimes.workers.limits import WorkerLimits
from stretto.runtimes.workers.pool import DEFAULT, Workers
from stretto.runtimes.workers.sink import Both, Terminal

if TYPE_CHECKING:
    from stretto.flow.engine.sync import SyncEngine

T = TypeVar("T")

STOP_WITHIN: Final = 30.0
MOST_RUNS: Final = 100


class Engine:
    """Durable runs inside of this process, on a database that other processes may share.

        async with Engine("sqlite:///runs.db") as engine:
            run = await engine.submit(etl, day="2026-11-15")
            print(await run.result())

    url         the database; none: `stretto.db` beside the program. `memory` keeps nothing
    config      a `Config`, the name of a file of settings, or settings by name
    services    objects that functions may ask for, by type or name: a list, or a mapping of names
    pools       named pools and their sizes; `default` is that of functions that are not async
    workers     how many processes there are for functions with isolation="process", or pools of them with
                `WorkerLimits` by name; `worker_services` makes services there: `{"db": "shop.db:connect"}`
    filters     what is called around each function; `listeners` what is called after it
    observers   are told what the node does
    recover     "auto": runs that a graceful stop has paused go on; "manual": they wait for `run.resume()`
    on_stop     "pause", "finish" or "hand_over": what a graceful stop does with unfinished runs
    stop_within seconds that a graceful stop may take
    modules     whose steps and workflows are registered, by name or as modules
    submit_only start and read runs, and run none: other processes on the same database do the work
    capture_output  what functions print in this process is kept in the logs of their steps, too; while the
                engine is open, `sys.stdout` and `sys.stderr` are streams of Stretto that hand it on
    """

    def __init__(  # noqa: PLR0913 - one for each thing that a program may choose
        self,
        url: str | None = None,
        *,
        config: Config | str | Path | Mapping[str, Any] | None = None,
        services: Mapping[str, Any] | Iterable[Any] = (),
        pools: Mapping[str, int] | None = None,
        workers: int | Mapping[str, WorkerLimits] | None = None,
        worker_services: Mapping[str, str] | None = None,
        filters: Sequence[Any] = (),
        listeners: Sequence[Any] = (),
        observers: Sequence[Observer] = (),
        recover: str = "auto",
        on_stop: str = "pause",
        stop_within: float = STOP_WITHIN,
        modules: Iterable[str | ModuleType] = (),
        submit_only: bool = False,
        capture_output: bool = False,
    ) -> None:
        self._place: Place = place_of(url, config, stop_within, shared=submit_only)
        self._recover: Recover = word(Recover, recover, "recover")
        self._on_stop: OnStop = word(OnStop, on_stop, "on_stop")
        self._stop_within = stop_within
        self._submit_only = submit_only
        self._capture_output = capture_output
        self._services = Services(services)
        self._pool_sizes = dict(pools or {})
        Pools(self._pool_sizes)  # which says what is wrong with them
        if isinstance(workers, int):
            workers = {DEFAULT: WorkerLimits(size=workers)}
        self._workers = dict(workers or {})
        self._worker_services = dict(worker_services or {})
        Workers(self._workers, services=self._worker_services)  # so does this
        self._filters = tuple(filters)
        self._listeners = tuple(listeners)
        self._observers = tuple(observers)
        self._registry = ProgramRegistry()
        self._handlers = Handlers()
        self._library = Library(self._registry, self._handlers, self._place.config.limits)
        self._caller = Caller(user=User(name=user_name()))
        self._host: Host | None = None
        self._pools: Pools | None = None
        self._closing = AsyncExitStack()
        self._guard: asyncio.Task[None]
        self.register(*(each for name in modules for each in known_in(name)))

    @property
    def url(self) -> str:
        """The address of its database."""
        return self._place.url

    @property
    def is_open(self) -> bool:
        return self._host is not None

    # ------------------------------------------------------------------------------------- from start to stop
    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Open the database, and look after what is in it. `stop` must follow."""
        if self._host is not None:
            raise InvalidRequest("the engine runs already: open it once, and share it")
        watch = Watch(self._handlers.changed)
        self._pools = Pools(self._pool_sizes)
        self._library.forget()
        closing = AsyncExitStack()
        try:
            app = await closing.enter_async_context(self._running(watch))
        except PreconditionFailed:
            if not await make_tables(self.url):
                raise
            app = await closing.enter_async_context(self._running(watch))
        watch.begin(app.store)
        host = self._host = Host(app, self._caller, watch, self._library, self._handlers)
        self._closing = closing
        self._handlers.run_of = lambda key: Run(host, key)
        self._guard = asyncio.create_task(guard(app, watch))
        await self._record()
        if self._recover is Recover.AUTO and not self._submit_only:
            await resume_paused(host)

    @asynccontextmanager
    async def _running(self, watch: Watch) -> AsyncIterator[App | Connection]:
        config, observers = self._place.config, (watch, *self._observers)
        found: AbstractAsyncContextManager[App | Connection] = connection(config, self.url)
        if not self._submit_only:
            before = partial(find_functions, registry=self._registry)
            found = running(config, self.url, observers, self._runtimes, before)
        with routed_output() if self._capture_output else nullcontext():
            async with found as app:
                yield app

    async def stop(self) -> None:
        """Take no more runs, do with those under way what `on_stop` says, and go; within `stop_within`.

        Who is cancelled meanwhile goes at once; what was not stored is done again by whoever comes next.
        """
        host, self._host = self._host, None
        if host is None:
            return
        stopping = asyncio.create_task(self._stop(host))
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            host.app.hurry()
            await asyncio.wait({stopping})
            raise

    async def _stop(self, host: Host) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._stop_within
        hurry = loop.call_at(deadline, host.app.hurry)
        try:
            await host.starts.finish()
            with suppress(EngineStopped, Internal):  # the node has ended by itself: there is nobody to ask
                await stop_runs(host, self._on_stop, deadline - self._place.config.node.stop_within / 4_000)
            await host.watch.end()
            await self._closing.aclose()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._handlers.finish()
        finally:
            hurry.cancel()
            self._guard.cancel()

    def _runtimes(self, around: Surroundings) -> Mapping[str, StepRuntime]:
        settings = around.settings
        sink = Both(around.sink, Terminal())  # what a function prints is seen, as if it ran in a thread
        runtime = PythonRuntime(
            self._registry,
            now=around.clock.now,
            services=self._services,
            filters=self._filters,
            listeners=self._listeners,
            pools=self._pools,
            store=around.store,
            modules=settings.modules,
            grace=settings.grace / 1_000,
            most_bytes=around.params.size,
            processes=worker_processes(settings, sink, self._workers, self._worker_services),
            sink=around.sink,
            capture_output=self._capture_output,
        )
        return {TYPE: runtime}

    def sync(self) -> "SyncEngine":
        """The same engine for programs without an event loop: `with engine.sync() as engine: ...`."""
        from stretto.flow.engine.sync import SyncEngine  # noqa: PLC0415 - it is made of this one

        return SyncEngine(self)

    # ------------------------------------------------------------------------------------------------ knowing
    def register(self, *given: Any) -> None:
        """Make functions, steps and workflows known. Those of a workflow that is submitted are, by that;
        whoever must go on with runs of an earlier process makes them known before the engine starts.
        """
        self._library.register(*given)

    def on(self, *statuses: str) -> Callable[[Handler], Handler]:
        """Call a function whenever a run comes into one of these statuses; see `handlers`."""

        def add(handler: Handler) -> Handler:
            self._handlers.add(statuses, handler)
            return handler

        return add

    async def functions(self) -> Sequence[FunctionRecord]:
        """What is stored of the functions that were ever used on this database."""
        return await self._opened().store.function_records()

    def resize_pool(self, name: str, size: int) -> None:
        """Let so many functions run at once in a pool, from now on."""
        self._open_pools().resize(name, size)

    def pool_status(self, name: str | None = None) -> list[PoolStatus]:
        """How full pools are: one, or all."""
        pools = self._open_pools()
        return pools.statuses() if name is None else [pools.status(name)]

    # ------------------------------------------------------------------------------------------------ running
    async def publish(self, flow: Given) -> int:
        """The number of the version that has this content, a new one if it is new. Its triggers are on."""
        host = self._opened()
        chosen = await host.library.publish(host.store, host.caller, host.hints, flow, triggers=True)
        await self._record()
        return chosen.version_id

    @overload
    async def submit(
        self, flow: Flow[..., T] | Bound[T] | StepFunction[..., T], /, **values: Any
    ) -> Run[T]: ...
    @overload
    async def submit(self, flow: Definition | Workflow | str, /, **values: Any) -> Run[Any]: ...

    async def submit(
        self,
        flow: Given | Bound[Any],
        /,
        *,
        request_id: str | None = None,
        params: Mapping[str, Any] | None = None,
        step_params: Mapping[str, Mapping[str, Any]] | None = None,
        tags: Iterable[str] = (),
        **values: Any,
    ) -> Run[Any]:
        """Start a run. It is stored when this returns, and survives whatever happens to the process.

        request_id   the same one never starts two runs of a workflow: the first is adopted, however it
                     stands. With other parameters it is refused (`Conflict`)
        params       parameters whose names are taken here; others are given by name
        step_params  values for parameters of single steps, by their id
        """
        host = self._opened()
        given = {**(params or {}), **values}
        if isinstance(flow, Bound):
            flow, given = flow.flow, {**flow.params, **given}
        chosen = await host.library.publish(host.store, host.caller, host.hints, flow)
        await self._record()
        request = StartRequest(
            initiator=ManualInitiator(),
            request_id=request_id,
            runtime_tags=tuple(Tag(name=each) for each in tags) or None,
            run_params=run_params(chosen, given) or None,
            step_run_params=encoded_steps(chosen, step_params or {}) or None,
        )
        workflow_id, version = chosen.workflow.id, str(chosen.version_id)
        made = await host.starts.start(
            host.caller, workflow_id, version, request, evaluate=host.evaluate, limits=host.limits
        )
        key = RunKey(made.workflow_id, made.workflow_instance_id, made.workflow_run_id)
        await check_repeated_start(host.store, made, request)
        adopted = made.status is StartStatus.DUPLICATED
        if adopted:  # who asks for it once more wants it to go on, however many processes died at it
            await release_flow(host.store, host.caller, key, hints=host.hints)
        return Run(host, key, chosen, adopted=adopted, started=made)

    @overload
    async def run(self, flow: Flow[..., T] | Bound[T] | StepFunction[..., T], /, **values: Any) -> T: ...
    @overload
    async def run(self, flow: Definition | Workflow | str, /, **values: Any) -> Any: ...

    async def run(self, flow: Given | Bound[Any], /, **values: Any) -> Any:
        """Start a run, and wait for its value. What `submit` takes can be given, too."""
        run = await self.submit(flow, **values)
        return await run.result()

    async def get(
        self,
        workflow: Named,
        instance_id: int | None = None,
        run_id: int | None = None,
        *,
        request_id: str | None = None,
    ) -> Run[Any]:
        """A run that is there: one of an instance, by default its newest, or that of a request id."""
        host = self._opened()
        return Run(host, await key_of(host.store, id_of(workflow) or "", instance_id, run_id, request_id))

    async def approvals(
        self,
        workflow: Named | None = None,
        *,
        assignee: str | None = None,
        limit: int = MOST_RUNS,
    ) -> list[Approval]:
        """What steps that wait ask people, the newest first."""
        host = self._opened()
        return await open_approvals(host, assignee=assignee, workflow=id_of(workflow), limit=limit)

    async def runs(
        self,
        workflow: Named | None = None,
        *,
        status: str | Collection[str] = (),
        limit: int = MOST_RUNS,
    ) -> list[Run[Any]]:
        """The newest runs, of all workflows or of one, in some statuses."""
        host = self._opened()
        return [Run(host, key) for key in await newest_keys(host.store, id_of(workflow), status, limit)]

    async def wait_all(self, runs: Iterable[Run[Any]], timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Until all of these have ended."""
        self._opened()
        async with asyncio.timeout(timeout):
            await asyncio.gather(*(each.ended() for each in runs))

    # -------------------------------------------------------------------------------------------------- parts
    def _opened(self) -> Host:
        if self._host is None:
            raise EngineStopped
        return self._host

    def _open_pools(self) -> Pools:
        self._opened()
        assert self._pools is not None  # noqa: S101 - made when it was opened
        return self._pools

    async def _record(self) -> None:
        """Tell the store, and other processes, of functions that are new here."""
        host = self._opened()
        fresh = [] if self._submit_only else self._library.take_unrecorded()
        if fresh:
            await record_functions(host.store, fresh)
        await host.app.advertise()
        await host.elsewhere.begin()
