"""The functions of a flow in a test: called for real, or another thing in their place, in virtual time.

A function is run by the runtime that ships, to its end, in the moment in which its step begins. What it would
have waited for takes virtual time: the step ends so much later.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec

from stretto.engine.records import AttemptKey, RunKey
from stretto.model.step import AnyStep
from stretto.ports.runtime import Continue, Injected, StepContext, StepResult, Stopped
from stretto.ports.store import Store
from stretto.runtimes.python.context import StepContext as FunctionContext
from stretto.runtimes.python.function import Function, NotAStep
from stretto.runtimes.python.pools import Pools
from stretto.runtimes.python.registry import Registry, as_function
from stretto.runtimes.python.roles import Role
from stretto.runtimes.python.runtime import PythonRuntime
from stretto.runtimes.python.services import Services
from stretto.runtimes.python.threads import Outcome, Threads, attempted
from stretto.testing.scheduler import Delay
from stretto.testing.virtual_loop import run_virtually

HANDLERS: Final = ("on_success", "on_failure", "on_timeout")
AGAIN: Final = 100  # virtual milliseconds until a function that was told to end is asked once more


class Call(NamedTuple):
    """A function was called, or what stands in its place."""

    function: str
    run: RunKey
    step_id: str
    attempt: int
    params: Mapping[str, Any]  # as Python values


@dataclass(frozen=True, kw_only=True)
class Fake:
    """What is done in the place of a function."""

    returns: Any = None
    raises: BaseException | None = None
    does: Callable[..., Any] | None = None
    fails: int = 0  # so many first attempts of each step raise, whatever comes then

    def call(self, attempt: int, given: Mapping[str, Any]) -> Any:
        if attempt <= self.fails:
            raise self.raises or RuntimeError(f"attempt {attempt} was told to fail")
        if self.raises is not None and not self.fails:
            raise self.raises
        if self.does is None:
            return self.returns
        taken = inspect.signature(self.does).parameters
        if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
            return self.does(**given)
        return self.does(**{name: value for name, value in given.items() if name in taken})

    def needs(self, name: str) -> bool:
        """Whether it can not be called without an argument of the function."""
        taken = {} if self.does is None else inspect.signature(self.does).parameters
        return name in taken and taken[name].default is inspect.Parameter.empty


class Functions:
    """A step runtime for steps of the type Python."""

    outside = False

    def __init__(self, store: Store, now: Callable[[], int], services: Any = ()) -> None:
        self._store = store
        self._now = now
        self.services = Services(services)
        self.registry = Registry()
        self.calls: list[Call] = []
        self._told: StepContext  # of the step whose function is being called
        self.fakes: dict[str, Fake] = {}
        self._late: dict[AttemptKey, StepResult] = {}  # what was told to end at its timeout, and how it did

    def knows(self, ctx: StepContext) -> bool:
        """Whether a step names a function of this test."""
        return self.registry.get(_function_of(ctx)) is not None

    def params(self, step: AnyStep) -> Injected:  # noqa: ARG002 - they bring nothing along
        return Injected()

    async def start(self, ctx: StepContext) -> StepResult:
        begun = self._now()
        self._told = ctx
        (said, is_late), seconds = run_virtually(self._performed(ctx, begun))
        if is_late:
            self._late[ctx.launch.attempt] = said
            return Continue()  # the engine has a timer of its own, and will ask
        if seconds > 0:
            await Delay(max(1, round(seconds * 1_000)))
        return said

    async def execute(self, ctx: StepContext) -> StepResult:
        return await self.start(ctx)

    async def terminate(self, ctx: StepContext) -> StepResult:
        return self._late.pop(ctx.launch.attempt, Stopped())

    async def _performed(self, ctx: StepContext, begun: int) -> tuple[StepResult, bool]:
        """How the function of a step ends, and whether that is because it took too long."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[StepResult] = loop.create_future()

        async def report(said: StepResult) -> None:
            if isinstance(said, Continue):
                await ctx.report(said)
            else:
                ended.set_result(said)

        runtime = PythonRuntime(
            self._registry(ctx.launch.attempt.number),
            now=lambda: begun + int(loop.time() * 1_000),
            services=self.services,
            filters=(self,),
            pools=_InlinePools(),
            store=self._store,
        )
        told = msgspec.structs.replace(ctx, report=report)
        within = None if ctx.timeout_at is None else (ctx.timeout_at - begun) / 1_000
        said = await runtime.start(told)
        if not isinstance(said, Continue):
            return said, False
        try:
            async with asyncio.timeout(within):
                return await ended, False
        except TimeoutError:
            while isinstance(said := await runtime.terminate(told), Continue):  # noqa: ASYNC110 - as a node does
                await asyncio.sleep((said.after or AGAIN) / 1_000)
            return said, True

    def before(self, ctx: FunctionContext) -> None:
        """A filter's: note the call."""
        own = self._told.step.params or {}
        given = {name: value for name, value in ctx.params.items() if name in own}
        self.calls.append(Call(_function_of(self._told), ctx.run, ctx.step_id, ctx.attempt, given))

    def _registry(self, attempt: int) -> Registry:
        """The functions, with others in the place of those that are faked; all of them run right here."""
        return Registry(
            *(_near(self._handled(self._faked(each, attempt), attempt)) for each in self.registry)
        )

    def _faked(self, function: Function, attempt: int) -> Function:
        fake = self.fakes.get(function.name)
        return function if fake is None else _faked(function, fake, attempt)

    def _handled(self, function: Function, attempt: int) -> Function:
        """A function whose handlers are faked, too, and their calls noted."""
        changed: dict[str, Any] = {
            option: tuple(self._handler(each, attempt) for each in getattr(function.options, option))
            for option in HANDLERS
            if getattr(function.options, option)
        }
        return replace(function, options=replace(function.options, **changed)) if changed else function

    def _handler(self, given: Any, attempt: int) -> Any:
        """What is called in the place of a handler, if it is faked."""
        try:
            handler = as_function(given)
        except NotAStep:
            return given  # it has no name that a fake could be for
        fake, told = self.fakes.get(handler.name), self._told.launch.attempt
        if fake is None:
            return given
        faked = _faked(handler, fake, attempt)

        def call(**args: Any) -> Any:
            self.calls.append(Call(handler.name, told.run, told.step_id, told.number, args))
            return faked.call(**args)

        return replace(faked, call=call)


def _near(function: Function) -> Function:
    """A process of its own would live in real time."""
    if function.options.isolation == "thread":
        return function
    return replace(function, options=replace(function.options, isolation="thread"))


class _InlineThreads(Threads):
    """Calls at once: a test has one thread, and its time is virtual."""

    def run(self, call: Callable[[], Any], then: Callable[[], None] | None = None) -> asyncio.Future[Outcome]:
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        future.set_result(attempted(call))
        if then is not None:
            then()
        return future


class _InlinePools(Pools):
    """Every pool has room: how many run at once is the engine's affair, not that of a test."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = _InlineThreads()

    def of(self, name: str | None, *, is_async: bool) -> None:  # noqa: ARG002 - the same for all
        return None


def _faked(function: Function, fake: Fake, attempt: int) -> Function:
    """The same function to the outside, with another body. It has the services that the test has; only those
    that the fake itself can not do without must be there.
    """

    @functools.wraps(function.call)
    def call(**given: Any) -> Any:
        return fake.call(attempt, given)

    args = tuple(
        replace(each, default=None) if each.role is Role.SERVICE and not fake.needs(each.name) else each
        for each in function.args
    )
    return replace(function, call=call, args=args, is_async=False)


def _function_of(ctx: StepContext) -> str:
    param = ctx.params.get("function")
    return "" if param is None else str(param.evaluated_result)
