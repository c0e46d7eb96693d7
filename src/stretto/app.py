"""The one place where parts meet: a store, hints, runtimes, an evaluator and a node.

    async with running(config, url) as app:
        await publish(app.store, caller, definition, hints=app.hints)
        await app.watch(work())

Promise: whoever leaves the block gracefully leaves nothing behind: groups are handed over, work had its time
to end, no process is left.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar
from uuid import uuid4

from stretto.config.settings import Config
from stretto.model.errors import Internal
from stretto.node.address import is_gone, own_address
from stretto.node.clock import SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.perform.evaluation_pool import Pool
from stretto.node.performer import Performer
from stretto.ports.groups import NodeState
from stretto.ports.hints import Hints
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.ports.store import Store
from stretto.runtimes.built_in import BuiltIn
from stretto.store.memory.hints import MemoryHints
from stretto.store.opening import module_of, open_store

T = TypeVar("T")

LEAVE_WITHIN: Final = 5.0  # seconds for the last word of a node that was cut short


class App:
    """One node on one store, in this process and in the event loop in which it was made."""

    def __init__(
        self, config: Config, store: Store, hints: Hints, observers: Sequence[Observer] = ()
    ) -> None:
        self.config = config
        self.store = store
        self.hints = hints
        self.clock = SystemClock()
        self.runtimes = BuiltIn(self.clock.now)
        expressions = config.expressions
        self._evaluator = Pool(workers=expressions.workers, seconds=expressions.within / 1_000)
        performer = Performer(
            store,
            hints,
            self.runtimes.by_type,
            self._evaluator,
            settings=config.node,
            address=own_address(),
        )
        self._node = Node(
            config.node, self.clock.steady, lambda: NodeId(uuid4().hex), performer.outside, observers
        )
        self._driver = Driver(self._node, performer, self.clock, hints)
        self._task: asyncio.Task[None]

    async def start(self) -> None:
        """Begin to look after what is in the store."""
        await self._bury_the_dead()
        self._task = asyncio.create_task(self._driver.run())

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something while the node runs. If the node ends first, that is the error."""
        task = asyncio.create_task(work)
        try:
            await asyncio.wait({task, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if not task.cancelled():
            return task.result()
        self._task.result()
        raise Internal("the node has ended, and nobody told it to")

    async def stop(self) -> None:
        """Hand everything over, let work end for a while, and go. `hurry` makes it short. Idempotent."""
        self._driver.stop()
        try:
            await asyncio.wait({self._task})
        finally:
            await self.runtimes.close()
            await asyncio.to_thread(self._evaluator.close)
        if self._task.cancelled():
            with suppress(Exception):  # then it is buried, a little later
                async with asyncio.timeout(LEAVE_WITHIN):
                    await self.store.leave(self._node.id)

    def hurry(self) -> None:
        """End all work now. What was not committed is done again, by whoever comes next."""
        self._task.cancel()
        self.runtimes.kill_all()

    async def _bury_the_dead(self) -> None:
        """Nodes whose process is gone, as can be seen here: nobody need wait until their leases run out."""
        for row in await self.store.nodes():
            if row.state is not NodeState.DEAD and is_gone(row.address):
                await self.store.bury(row.node, row.beats, expired=False)


@asynccontextmanager
async def running(config: Config, url: str, observers: Sequence[Observer] = ()) -> AsyncIterator[App]:
    """A node on the database at an address."""
    store = await open_store(url, config.database)
    try:
        async with _hinting(config, url) as hints:
            app = App(config, store, hints, observers)
            await app.start()
            try:
                yield app
            finally:
                await app.stop()
    finally:
        await store.close()


@asynccontextmanager
async def _hinting(config: Config, url: str) -> AsyncIterator[Hints]:
    """How nodes tell each other: by the server where it can, else only inside of this process."""
    if not url.startswith("postgresql"):
        yield MemoryHints()
        return
    hints = module_of(url, "hints").PostgresHints(url, config.database)
    try:
        yield hints
    finally:
        await hints.close()
