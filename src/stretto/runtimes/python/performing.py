"""From the launch of a step to its result: gather the arguments of its function, call it, tell the others."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from stretto.model.errors import StrettoError
from stretto.model.timeline import LogEvent, LogLevel, TimelineEvent
from stretto.ports.fence import Revoked
from stretto.ports.logs import NOWHERE, LogSink
from stretto.ports.runtime import StepResult, Stopped, UserError, is_for_task
from stretto.runtimes.python.arguments import all_params, injected, values_of
from stretto.runtimes.python.backstage import Backstage
from stretto.runtimes.python.cache import ResultCache
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.errors import Refused
from stretto.runtimes.python.failures import failure_of
from stretto.runtimes.python.filters import Chain, settled
from stretto.runtimes.python.function import Function
from stretto.runtimes.python.handlers import FAILED, STOPPED, SUCCESS, TIMEOUT, Ended, Handlers
from stretto.runtimes.python.output import StepOutput, unrouted
from stretto.runtimes.python.own_params import FUNCTION, MAPPING, value_of
from stretto.runtimes.python.pools import Pool, Pools
from stretto.runtimes.python.processes import FarCall, Processes
from stretto.runtimes.python.requirements import check_installed, requirements_of
from stretto.runtimes.python.returning import Returning
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.threads import Outcome, ThreadCall
from stretto.runtimes.python.upstream import Upstream, mapped, sources
from stretto.runtimes.python.work import Ending, Work

FROM_CACHE: Final = "Taken from the cache: `{}` was not called"
LEFT_BEHIND: Final = (
    "`{}` runs in a thread, which can not be ended: it goes on, and what it returns does not count"
)
SILENT: Final = "`{}` gave no heartbeat for {:g} s"
NO_PROCESSES: Final = (
    '`{}` asks for isolation="process", and this engine has no worker processes: use isolation="thread"'
)
KILL_AT: Final = (
    0.9  # of its grace: a process that does not end by itself is killed then, and is gone in time
)
SILENT_GRACE: Final = 2.0  # seconds for a process that has given no heartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What all launches of a runtime share."""

    now: Callable[[], int]
    services: Services
    pools: Pools
    upstream: Upstream
    cache: ResultCache
    chain: Chain
    handlers: Handlers
    returning: Returning
    processes: Processes | None = None
    sink: LogSink = NOWHERE
    capture_output: bool = False  # of functions in threads and in the event loop


class Performance:
    """One launch of a function."""

    __slots__ = ("_context", "_function", "_lines", "_stage", "_work")

    def __init__(self, stage: Stage, work: Work, function: Function) -> None:
        self._stage = stage
        self._work = work
        self._function = function
        self._context: StepContext | None = None
        self._lines: list[TimelineEvent] = []

    @property
    def _is_far(self) -> bool:
        return self._function.options.isolation == "process"

    async def run(self) -> StepResult:
        """The result of the step, whatever happens."""
        work = self._work
        try:
            result, ended = await self._done()
        except Revoked:  # another node does this work, and tells of its end
            return Stopped()
        except BaseException as error:
            if isinstance(error, GeneratorExit) and is_for_task(error, work.task):
                raise
            _uncancel()  # the function may have cancelled its own task
            result, ended = failure_of(error), Ended(FAILED, error=error)
        if work.ending is not None:
            _uncancel()
            result, ended = self._cut_short(work.ending)
        return await self._conclude(result, ended)

    # ------------------------------------------------------------------------------------------ to its value
    async def _done(self) -> tuple[StepResult, Ended]:
        stage, work, function = self._stage, self._work, self._function
        taken = await self._look_around()
        values = values_of(function, work.told, taken)
        key = stage.cache.key(function, work.told, values)
        kept = None if key is None else await stage.cache.look(key, function)
        if kept is not None:
            line = self._line(FROM_CACHE.format(function.name))
            done = stage.returning.done(function, work.told, kept[0], None)
            return msgspec.structs.replace(done, timeline=(line,)), Ended(SUCCESS, kept[0])
        args = values
        if FUNCTION not in work.told.params and not self._is_far:
            check_installed(requirements_of(work.told.params))
        if function.is_injected and not self._is_far:
            args = {**values, **injected(function, self._context, stage.services)}
        value = await self._called(args)
        done = stage.returning.done(function, work.told, value, work.backstage)
        if key is not None:
            await stage.cache.keep(key, function, value)
        return done, Ended(SUCCESS, value)

    async def _look_around(self) -> Mapping[str, Any]:
        """Make the context, if anybody wants one; the values that come from steps before this one."""
        stage, work, function = self._stage, self._work, self._function
        told = work.told
        mapping = value_of(told.params, MAPPING) or {}
        wanted = function.wants_context
        before: Mapping[str, Any] = {}
        if wanted or mapping:
            ids = {*told.predecessors, *sources(mapping)}
            before = await stage.upstream.results(told.launch.attempt.run, sorted(ids))
        taken = mapped(mapping, before)
        if wanted or stage.chain or stage.handlers.wanted(function, told.params):
            work.backstage = Backstage(told, stage.now, stage.sink)
            direct = {each: before[each] for each in told.predecessors if each in before}
            read = partial(all_params, function, told, taken)
            self._context = StepContext(work.backstage, stage.services, read, direct)
        return taken

    async def _called(self, args: Mapping[str, Any]) -> Any:
        if not self._stage.capture_output:
            return await self._filtered(args)
        output = self._work.output = StepOutput(self._work.told.launch, self._stage.sink)
        with output.around():
            return await self._filtered(args)

    async def _filtered(self, args: Mapping[str, Any]) -> Any:
        if self._is_far and self._stage.processes is None:
            raise Refused(NO_PROCESSES.format(self._function.name))
        if not self._stage.chain:
            return await self._invoked(args)
        assert self._context is not None  # noqa: S101 - filters want one
        await self._work.told.fence.passed()
        return await self._stage.chain.run(self._context, lambda: self._invoked(args))

    async def _invoked(self, args: Mapping[str, Any]) -> Any:
        function, work = self._function, self._work
        try:
            pool = self._pool()
        except StrettoError as error:
            raise Refused(f"`{function.name}`: {error}") from None
        if pool is not None and not pool.try_enter():
            work.waits_for = pool.name
            await pool.enter()
            work.waits_for = None
        leave = None if pool is None else pool.leave
        await self._pass_fence(leave)
        if self._is_far:
            call = self._in_process(args, leave)
        else:
            call = self._in_loop(args, leave) if function.is_async else self._in_thread(args, leave)
        within = function.options.heartbeat_within
        return await (call if within is None else self._watched(call, within))

    async def _pass_fence(self, leave: Callable[[], None] | None) -> None:
        """The last moment before the effect, after all waiting."""
        try:
            await self._work.told.fence.passed()
        except BaseException:
            if leave is not None:
                leave()
            raise

    def _pool(self) -> Pool | None:
        """Who must let the function in; a pool of processes has a line of its own."""
        name, processes = self._function.options.pool, self._stage.processes
        if self._is_far and processes is not None and processes.has_pool(name):
            return None
        return self._stage.pools.of(name, is_async=self._function.is_async)

    async def _in_loop(self, args: Mapping[str, Any], leave: Callable[[], None] | None) -> Any:
        try:
            return await self._function.call(**args)
        finally:
            if leave is not None:
                leave()

    async def _in_thread(self, args: Mapping[str, Any], leave: Callable[[], None] | None) -> Any:
        call = ThreadCall(partial(self._function.call, **args), self._work.told.fence, leave)
        outcome = await self._from_thread(call)
        while not call.is_begun:  # trust has lapsed while the call waited for its thread
            await self._pass_fence(leave)
            outcome = await self._from_thread(call)
        return await settled(outcome.get())

    async def _from_thread(self, call: ThreadCall) -> Outcome:
        work = self._work
        work.in_thread = True
        try:
            return await self._stage.pools.threads.run(call, call.ended)
        except asyncio.CancelledError:
            call.is_left = True
            work.is_left_behind = call.is_begun
            raise
        finally:
            work.in_thread = False

    async def _in_process(self, values: Mapping[str, Any], leave: Callable[[], None] | None) -> Any:
        function, work, processes = self._function, self._work, self._stage.processes
        assert processes is not None  # noqa: S101 - or it would have been refused
        asked = FarCall(
            function=function,
            told=work.told,
            values=values,
            begun=self._begun,
            note=lambda text: self._lines.append(self._line(text, LogLevel.WARN)),
            grace=self._grace,
            backstage=work.backstage if function.wants_context else None,
            context=self._context if function.wants_context else None,
        )
        work.in_process = work.is_beginning = True
        work.waits_for = processes.full_pool(function.options.pool)
        try:
            with unrouted():  # its process has an output of its own
                return await processes.call(asked)
        finally:
            work.in_process = work.is_beginning = False
            work.waits_for = None
            if leave is not None:
                leave()

    def _begun(self) -> None:
        self._work.is_beginning = False
        if self._work.backstage is not None:
            self._work.backstage.beat()

    def _grace(self) -> float:
        """Seconds for a process that is told to end."""
        work = self._work
        if work.ending is Ending.SILENCE:
            return SILENT_GRACE
        return (work.end_by - asyncio.get_running_loop().time()) * KILL_AT

    async def _watched(self, call: Awaitable[Any], within: float) -> Any:
        """End a function that gives no heartbeat for so many seconds."""
        work = self._work
        backstage = work.backstage
        assert backstage is not None  # noqa: S101 - it has a context, or it would not be a step
        backstage.beat()
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            due = (backstage.loop.time() if work.is_beginning else backstage.beaten) + within
            if backstage.loop.time() < due:
                timer = backstage.loop.call_at(due, look)
            elif work.ending is None:
                work.end(Ending.SILENCE, due)
                work.leave()

        timer = backstage.loop.call_at(backstage.beaten + within, look)
        try:
            return await call
        finally:
            timer.cancel()

    # ------------------------------------------------------------------------------------------ to its result
    def _cut_short(self, why: Ending) -> tuple[StepResult, Ended]:
        name = self._function.name
        lines = (self._line(LEFT_BEHIND.format(name), LogLevel.WARN),) if self._work.is_left_behind else ()
        if why is Ending.STOP:
            return Stopped(timeline=lines), Ended(STOPPED)
        if why is Ending.TIMEOUT:
            return Stopped(timeline=lines), Ended(TIMEOUT, error=TimeoutError(f"`{name}` took too long"))
        text = SILENT.format(name, self._function.options.heartbeat_within or 0)
        return UserError(message=text, timeline=lines), Ended(FAILED, error=TimeoutError(text))

    async def _conclude(self, result: StepResult, ended: Ended) -> StepResult:
        """Tell whoever wants to know, then add to the result what the function has told."""
        context, backstage = self._context, self._work.backstage
        if self._lines:
            result = msgspec.structs.replace(result, timeline=(*result.timeline, *self._lines))
        if context is None or backstage is None or self._work.told.fence.is_revoked:
            return result
        self._work.is_concluding = True
        output = self._work.output
        try:
            with nullcontext() if output is None else output.around():
                await self._stage.handlers.tell(self._function, context, backstage, ended)
        except asyncio.CancelledError:
            _uncancel()  # the step was told to end in the meantime: no more handlers
        artifacts, lines = await backstage.rest()
        if not artifacts and not lines:
            return result
        return msgspec.structs.replace(
            result, artifacts={**artifacts, **result.artifacts}, timeline=(*result.timeline, *lines)
        )

    def _line(self, text: str, level: LogLevel = LogLevel.INFO) -> TimelineEvent:
        return LogEvent(timestamp=self._stage.now(), level=level, message=text)


def _uncancel() -> None:
    """The wish to end this task was heard: what follows may wait again."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
