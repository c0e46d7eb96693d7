"""Steps of the type Python: a function of the program, on the event loop or in a thread.

Each launch calls its function once; a start that is repeated finds it at work. A function that ends soon is
answered for at once; of any other the runtime reports the end by itself.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from stretto.engine.records import AttemptKey
from stretto.model.artifact import DefaultArtifact
from stretto.model.error_text import text_of_error
from stretto.model.param import Parameter
from stretto.model.step import AnyStep
from stretto.model.timeline import LogEvent
from stretto.ports.logs import NOWHERE, STDERR, LogSink
from stretto.ports.runtime import (
    Continue,
    Done,
    Injected,
    Launch,
    PlatformError,
    StepContext,
    StepResult,
    Stopped,
)
from stretto.ports.store import Store
from stretto.runtimes.python.cache import ResultCache
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.failures import ARTIFACT, failure_of
from stretto.runtimes.python.filters import Chain
from stretto.runtimes.python.function import Isolation
from stretto.runtimes.python.handlers import Handlers
from stretto.runtimes.python.own_params import ENTRYPOINT, FUNCTION, SCRIPT, functions_named
from stretto.runtimes.python.performing import Performance, Stage
from stretto.runtimes.python.pools import Pools
from stretto.runtimes.python.processes import Processes
from stretto.runtimes.python.registry import Registry
from stretto.runtimes.python.returning import MOST_BYTES, SURELY_SMALL, Returning, size_of
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.sources import Sources
from stretto.runtimes.python.upstream import Upstream
from stretto.runtimes.python.work import Ending, Work, wake

HOLD: Final = 0.02  # seconds for which the answer to a start waits for the end of the function
MOST_HELD: Final = 200  # at once
GRACE: Final = 10.0  # seconds for a function to end, once it is told to
PATIENCE: Final = 0.25  # seconds for which one answer waits for that
KILLED_WITHIN: Final = 30.0  # seconds for a process to be gone that was killed
REMEMBERED: Final = 256  # results of launches that have ended, in case one is started again
WAITS: Final = "Waits for a place in the pool `{}`"

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        FUNCTION: {"type": "string", "description": "The name of a registered function."},
        ENTRYPOINT: {"type": "string", "description": "A function to import, as `module:function`."},
        SCRIPT: {"type": "string", "description": "Lines of Python; their variable `result` is returned."},
    },
    "oneOf": [{"required": [FUNCTION]}, {"required": [ENTRYPOINT]}, {"required": [SCRIPT]}],
}


class PythonRuntime:
    """See `ports.runtime`. Works in one event loop; whoever makes it closes it."""

    outside = False

    def __init__(  # noqa: PLR0913 - each is one thing that an engine may give to its functions
        self,
        registry: Registry,
        *,
        now: Callable[[], int],
        services: Services | None = None,
        filters: Sequence[Any] = (),
        listeners: Sequence[Any] = (),
        pools: Pools | None = None,
        store: Store | None = None,
        modules: Collection[str] | None = None,
        grace: float = GRACE,
        most_bytes: int = MOST_BYTES,
        processes: Processes | None = None,
        isolation: Isolation = "thread",
        sink: LogSink = NOWHERE,
        capture_output: bool = False,
    ) -> None:
        self.registry = registry
        self.services = services or Services()
        self.pools = pools or Pools()
        threads = self.pools.threads
        self._now = now
        self._grace = grace
        self._sources = Sources(registry, threads, modules, isolation)
        self._sink = sink
        self._stage = Stage(
            now=now,
            services=self.services,
            pools=self.pools,
            upstream=Upstream(store, registry),
            cache=ResultCache(store, now),
            chain=Chain(filters, threads),
            handlers=Handlers(registry, self.services, listeners, threads),
            returning=Returning(now, most_bytes),
            processes=processes,
            sink=sink,
            capture_output=capture_output,
        )
        self._work: dict[AttemptKey, Work] = {}
        self._ended: OrderedDict[Launch, StepResult] = OrderedDict()
        self._held = 0

    @property
    def at_work(self) -> list[Launch]:
        """What has not ended."""
        return [work.told.launch for work in self._work.values()]

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - the same for all
        return Injected(schema=SCHEMA)

    @property
    def functions(self) -> frozenset[str]:
        """See `ports.runtime.FunctionRuntime`."""
        return self.registry.names | self.registry.handlers

    def lacks(self, step: AnyStep, params: Mapping[str, Parameter]) -> tuple[str, ...]:  # noqa: ARG002
        """See `ports.runtime.FunctionRuntime`: the function of a step, and the handlers that it names."""
        named = functions_named(params)
        return named if any(self.registry.get(each) is None for each in named) else ()

    # ------------------------------------------------------------------------------------------------ asked
    async def start(self, ctx: StepContext) -> StepResult:
        launch = ctx.launch
        known = self._work.get(launch.attempt)
        if known is not None:
            if known.told.launch == launch:
                return Continue()
            if known.told.launch > launch:
                return Stopped(message=f"launch {known.told.launch} has taken its place")
            await self._end(known)
        elif launch in self._ended:
            return self._ended[launch]
        work = self._work[launch.attempt] = Work(ctx)
        work.task = asyncio.create_task(self._run(work))
        await asyncio.sleep(0)  # it runs until it must wait for something
        return work.result or await self._hold(work)

    async def execute(self, ctx: StepContext) -> StepResult:
        known = self._work.get(ctx.launch.attempt)
        if known is not None and known.told.launch == ctx.launch:
            return Continue()
        return self._ended.get(ctx.launch) or PlatformError(
            message=f"the function of launch {ctx.launch} is not at work here any more"
        )

    async def terminate(self, ctx: StepContext) -> StepResult:
        work = self._work.get(ctx.launch.attempt)
        if work is None or work.told.launch > ctx.launch:
            return Stopped()
        if work.ending is None:
            work.end(self._why(work.told.timeout_at, ctx.timeout_at), self._end_by())
        if ctx.fence.is_revoked:  # another node does the same work already
            work.end_by = asyncio.get_running_loop().time()
        await self._wait(work, min(PATIENCE, work.end_by - asyncio.get_running_loop().time()))
        if work.result is None and asyncio.get_running_loop().time() < work.end_by:
            return Continue(after=int(PATIENCE * 1_000))
        await self._end(work)
        return work.result if isinstance(work.result, Stopped) else Stopped()

    async def close(self) -> None:
        """Tell everything to end, and wait for it as long as grace lasts. Idempotent."""
        end_by = self._end_by()
        for work in self._work.values():
            if work.ending is None:
                work.end(Ending.STOP, end_by)
        await asyncio.gather(*(self._end(work) for work in list(self._work.values())))
        self.pools.threads.close()
        if self._stage.processes is not None:
            await self._stage.processes.close()

    def kill_all(self) -> None:
        """Nobody has time any more. `close` must follow."""
        for work in self._work.values():
            work.end(Ending.STOP, 0.0)
            work.wake()

    # ------------------------------------------------------------------------------------------------- work
    async def _run(self, work: Work) -> None:
        work.begun = True
        try:
            result = Stopped() if work.ending is not None else await self._perform(work)
        except asyncio.CancelledError:
            result = Stopped()
        except Exception as error:  # noqa: BLE001 - our own: it must be told all the same
            result = PlatformError(message=f"the function could not be looked after: {text_of_error(error)}")
        finally:
            self._forget(work)
        if work.output is not None:
            work.output.close()
        self._keep_traceback(work.told.launch, result)
        work.finish(result)
        self._remember(work.told.launch, result)
        if work.is_reporting and work.ending in {None, Ending.SILENCE}:
            await work.told.report(result)

    async def _perform(self, work: Work) -> StepResult:
        params = work.told.params
        try:
            function = self._sources.known(params) or await self._sources.load(params)
        except Refused as error:
            return failure_of(error)
        return await Performance(self._stage, work, function).run()

    def _keep_traceback(self, launch: Launch, result: StepResult) -> None:
        """The status has a short text; where it came from stands in the log."""
        artifact = result.artifacts.get(ARTIFACT)
        if isinstance(artifact, DefaultArtifact) and artifact.data.get("traceback"):
            self._sink.write(launch, STDERR, str(artifact.data["traceback"]).encode())
        self._sink.end(launch)

    def _forget(self, work: Work) -> None:
        if self._work.get(work.told.launch.attempt) is work:
            del self._work[work.told.launch.attempt]

    def _remember(self, launch: Launch, result: StepResult) -> None:
        outputs = result.outputs if isinstance(result, Done) else {}
        if any(size_of(each.evaluated_result) > SURELY_SMALL for each in outputs.values()):
            return
        self._ended[launch] = result
        if len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)

    async def _hold(self, work: Work) -> StepResult:
        """Wait a little, so that one answer tells all; many who wait would keep others from starting."""
        if self._held < MOST_HELD:
            self._held += 1
            try:
                await self._wait(work, HOLD)
            finally:
                self._held -= 1
        if work.result is not None:
            return work.result
        work.is_reporting = True
        if work.waits_for is None:
            return Continue()
        line = LogEvent(timestamp=self._now(), message=WAITS.format(work.waits_for))
        return Continue(timeline=(line,))

    async def _wait(self, work: Work, seconds: float) -> None:
        """Until the work has ended, or so long."""
        if work.result is not None:
            return
        loop = asyncio.get_running_loop()
        asker = loop.create_future()
        work.askers.append(asker)
        timer = loop.call_later(max(0.0, seconds), wake, asker)
        try:
            await asker
        finally:
            timer.cancel()
            work.askers.remove(asker)

    def _why(self, timeout_at: int | None, now_at: int | None) -> Ending:
        """Whether the engine asks for the end because of the time: it forgets a timeout that is over, and its
        clock may be a little ahead of ours.
        """
        is_late = timeout_at is not None and (now_at is None or self._now() >= timeout_at)
        return Ending.TIMEOUT if is_late else Ending.STOP

    async def _end(self, work: Work) -> None:
        """Wait for the end until its time is up, then go on without it."""
        if work.ending is None:
            work.end(Ending.STOP, self._end_by())
        await self._wait(work, work.end_by - asyncio.get_running_loop().time())
        if work.result is None:
            work.leave()
            await self._wait(work, KILLED_WITHIN if work.in_process else PATIENCE)
        if work.result is None and work.is_concluding:
            await self._wait(work, self._grace)  # for handlers, which do nothing wrong
        if work.result is None:  # a coroutine that does not let itself be cancelled
            self._forget(work)
            work.finish(Stopped(timeline=(self._goes_on(),)))

    def _goes_on(self) -> LogEvent:
        text = "The function does not let itself be cancelled: it goes on, and its result does not count"
        return LogEvent(timestamp=self._now(), message=text)

    def _end_by(self) -> float:
        return asyncio.get_running_loop().time() + self._grace
