"""A process whose node is driven as in the product, by `node.driver`, in an asyncio loop of its own.

Only calls of the store and of runtimes leave the loop: they take their time and go wrong as everywhere.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any, cast

from simulation.looping import ScheduledLoop
from simulation.process import Process
from stretto.engine.events import Reported
from stretto.engine.records import RunKey
from stretto.node.asks import Ask
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.performer import Performer
from stretto.node.retention import forget_now_and_then
from stretto.ports.hints import Heard
from stretto.ports.store import Store
from stretto.testing.hosting import MOST_WAKES

if TYPE_CHECKING:
    from simulation.world import World


class _Clock:
    """See `ports.clock`."""

    def __init__(self, world: "World", loop: ScheduledLoop) -> None:
        self.now = world.clock.now
        self.steady = loop.time

    async def sleep_until(self, due: int) -> None:
        await asyncio.sleep(max(0, due - self.now()) / 1_000)


class _Heard(Node):
    """A node that lets its process know what it asks, and what it is told."""

    process: "Driven"

    def take(self) -> list[Ask]:
        asks = list(super().take())
        for ask in asks:
            self.process.asks(ask)
        return asks

    def answered(self, ask: Ask, answer: Any) -> None:
        super().answered(ask, answer)
        self.process.something(lambda: self.process.hears(ask, answer))

    def failed(self, ask: Ask, error: Exception) -> None:
        super().failed(ask, error)
        self.process.something(lambda: self.process.hears_error(ask, error))

    def wake(self) -> None:
        super().wake()
        self.process.woken()


class _Crossing:
    """A performer, or a store, for those in the loop: its coroutines are carried out outside of it."""

    def __init__(self, process: "Driven", inner: object) -> None:
        self._process = process
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._process.outside_the_loop(method(*arguments, **named))

        return call


class _Performing(_Crossing):
    """The process carries asks out. What runtimes report by themselves goes into the loop."""

    async def answer(self, ask: Ask) -> Any:
        return await self._process.outside_the_loop(self._process.answer(ask))

    def report_to(self, report: Callable[[Reported], None]) -> None:
        process = self._process
        process.performer.report_to(lambda event: process.into_the_loop(report, process.told(event)))


class Driven(Process):
    """The same troubles, in a process with an event loop. A crash is to cancel the driver."""

    node_class = _Heard

    def __init__(self, world: "World", slot: int, number: int) -> None:
        self.loop = ScheduledLoop(  # type: ignore[abstract]  # nobody here needs the rest of one
            world.scheduler, self.soon, lambda: self.stands_still
        )
        super().__init__(world, slot, number)

    def steady(self) -> float:
        return self.loop.time()

    def host(self, node: Node, performer: Performer) -> None:
        self.node, self.performer = node, performer
        cast("_Heard", node).process = self
        self._listener: Heard | None = None
        performing = cast("Performer", _Performing(self, performer))
        self._driver = Driver(node, performing, _Clock(self._world, self.loop), self)
        self._driving = self.loop.create_task(self._driver.run())
        self._driving.add_done_callback(lambda _task: self._is_over())
        self._forgetting: asyncio.Task[None] | None = None

    def forget(self) -> None:
        settings = self._world.scenario.retention
        if settings is not None:
            store = cast("Store", _Crossing(self, self.store))
            observers = (self._world.observer(self),)
            looking = forget_now_and_then(store, settings, self.forgets_for_all, observers)
            self._forgetting = self.loop.create_task(looking)

    # ---------------------------------------------------------------------------------------------- crossing
    async def outside_the_loop(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Let the scheduler carry something out, and wait for it."""
        answer = self.loop.create_future()

        def done(value: Any) -> None:
            if not answer.done():
                answer.set_result(value)

        def failed(error: Exception) -> None:
            if not answer.done():
                answer.set_exception(error)

        self.begin(coroutine, done, failed)
        return await answer

    def into_the_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        self.loop.call_soon(call, *arguments)

    def answer(self, ask: Ask) -> Coroutine[Any, Any, Any]:
        return self._answer(ask)

    # ------------------------------------------------------------------------------------- what happens to it
    def something(self, hook: Callable[[], None]) -> None:
        """The node was told something."""
        self._idle_wakes = 0
        hook()

    def woken(self) -> None:
        if self.scheduler.now - self._idle_since > 1_000:
            self._idle_since, self._idle_wakes = self.scheduler.now, 0
        self._idle_wakes += 1
        if self._idle_wakes > MOST_WAKES:
            self.spins()
        while self.loop.errors:
            error = self.loop.errors.pop()
            self._world.complain(f"{self.who}: {type(error).__name__}: {error}")

    def listen(self, heard: Heard) -> Callable[[], None]:
        self._listener = heard

        def quiet() -> None:
            self._listener = None

        return quiet

    def hinted(self, groups: Collection[int], admitted: Collection[RunKey]) -> None:
        if not self.blocked:
            self.into_the_loop(self._hear, frozenset(groups), admitted)

    def _hear(self, groups: frozenset[int], admitted: Collection[RunKey]) -> None:
        if self._listener is not None:
            self._idle_wakes = 0
            self._listener(groups, admitted)

    def happened(self) -> None:
        """It is told in its loop."""

    def functions_changed(self) -> None:
        self.into_the_loop(self._driver.functions_changed)

    def leave(self, back_after: int = 0) -> None:
        self._world.story.note(f"{self.who} is told to leave")
        self._back_after = back_after
        self.into_the_loop(self._leave)

    def _leave(self) -> None:
        """As `app` does it."""
        self._driver.stop()
        if self._forgetting is not None:
            self._forgetting.cancel()

    # --------------------------------------------------------------------------------------------------- end
    def _is_over(self) -> None:
        """The driver has ended by itself, and not because of a crash."""
        if not self.alive:
            return
        error = self._driving.exception()
        if error is not None:
            self._world.complain(f"the driver of {self.who} raised {type(error).__name__}: {error}")
        super().end()
        self.left()

    def end(self) -> None:
        """Be gone at once: the driver lets go of everything, and tells the node nothing."""
        super().end()
        self._driving.cancel()
        if self._forgetting is not None:
            self._forgetting.cancel()
        self.loop.run_ready()
        if not self._driving.done():
            self._world.complain(f"the driver of {self.who} was cancelled, and goes on")
