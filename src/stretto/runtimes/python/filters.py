"""Filters around the functions of steps, and listeners after them. Both belong to the program, not to a step.

class Timing:
    async def around(self, ctx, call_next):
        begun = perf_counter()
        try:
            return await call_next()
        finally:
            ctx.logger.info("took %.3f s", perf_counter() - begun)
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

from stretto.model.errors import InvalidRequest
from stretto.runtimes.python.context import StepContext
from stretto.runtimes.python.threads import Outcome, Threads

Call = Callable[[], Awaitable[Any]]


class Filter:
    """Override what you need; any object with some of these methods will do, and each may be `async`.

    Of two filters the first is the outer one: f1, f2, the function, f2, f1. Plain `before` and `after` run in
    the event loop, so they must be quick; a plain `around` runs in a thread, where `call_next()` blocks.
    """

    def before(self, ctx: StepContext) -> Any:
        """Before the function. Raise `Veto` to keep the step from running."""

    def after(self, ctx: StepContext, result: Any) -> Any:
        """After the function has returned."""


class Listener:
    """Override what you need; any object with some of these methods will do, and each may be `async`. What a
    listener raises is logged, and alters nothing.
    """

    def on_success(self, ctx: StepContext, result: Any) -> Any:
        """The function has returned."""

    def on_failure(self, ctx: StepContext, error: BaseException) -> Any:
        """The function has failed, or took too long."""

    def always(self, ctx: StepContext) -> Any:
        """The function has ended, however it did; last of all."""


class Link(NamedTuple):
    """What one filter does."""

    before: Callable[..., Any] | None
    after: Callable[..., Any] | None
    around: Callable[..., Any] | None


class Chain:
    """All filters, in order."""

    def __init__(self, filters: Sequence[Any], threads: Threads) -> None:
        self._threads = threads
        self._links = [_link(each) for each in filters]

    def __bool__(self) -> bool:
        return bool(self._links)

    async def run(self, ctx: StepContext, call: Call) -> Any:
        """Call through all of them."""
        for link in reversed(self._links):
            call = self._wrapped(link, ctx, call)
        return await call()

    def _wrapped(self, link: Link, ctx: StepContext, call: Call) -> Call:
        async def run() -> Any:
            if link.before is not None:
                await settled(link.before(ctx))
            result = await (call() if link.around is None else self._around(link.around, ctx, call))
            if link.after is not None:
                await settled(link.after(ctx, result))
            return result

        return run

    async def _around(self, around: Callable[..., Any], ctx: StepContext, call: Call) -> Any:
        if inspect.iscoroutinefunction(around):
            return await around(ctx, call)
        loop = asyncio.get_running_loop()
        begun: list[Future[Any]] = []

        async def inner() -> Outcome:
            """In a task of its own, out of which an `exit()` would end the event loop."""
            try:
                return Outcome(await call())
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - the thread raises it
                return Outcome(error=error)

        def call_next() -> Any:
            begun.append(asyncio.run_coroutine_threadsafe(inner(), loop))
            return begun[-1].result().get()

        thread = self._threads.run(lambda: around(ctx, call_next))
        try:
            return (await asyncio.shield(thread)).get()
        except asyncio.CancelledError:
            for each in begun:
                each.cancel()
            raise


async def settled(value: Any) -> Any:
    """What a call that may be a coroutine comes to."""
    return await value if inspect.isawaitable(value) else value


def _link(each: Any) -> Link:
    link = Link(*(getattr(each, name, None) for name in Link._fields))
    if not any(link):
        name = type(each).__qualname__
        raise InvalidRequest(
            f"`{name}` is not a filter: it has none of the methods {', '.join(Link._fields)}"
        )
    return link
