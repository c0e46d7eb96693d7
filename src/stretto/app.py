"""The one place where parts meet: a store, hints, runtimes, an evaluator and a node.

    async with running(config, url) as app:
        await publish(app.store, caller, definition, hints=app.hints)
        await app.watch(work())

Promise: whoever leaves the block gracefully leaves nothing behind: groups are handed over, work had its time
to end, no process is left.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from uuid import uuid4

from stretto.actions.start import StartBatcher
from stretto.config.folders import data_folder, surroundings
from stretto.config.settings import Config
from stretto.model.errors import Internal, Unavailable
from stretto.node.clock import ClockLog, SystemClock
from stretto.node.driver import Driver
from stretto.node.machine import Node
from stretto.node.performer import Performer
from stretto.node.process import is_gone, looking_seldom, own_address
from stretto.node.retention import Deleted, forget_now_and_then, purge_when_told
from stretto.ports.clock import Clock
from stretto.ports.evaluator import Evaluator
from stretto.ports.groups import NodeState
from stretto.ports.hints import Hints
from stretto.ports.observer import Observer
from stretto.ports.rows import NodeId
from stretto.ports.runtime import Launch
from stretto.ports.store import Store
from stretto.runtimes.built_in import Runtimes
from stretto.runtimes.expressions.pool import Pool
from stretto.runtimes.logs.files import LogFiles
from stretto.runtimes.logs.folder import fingerprint_of, folder_of
from stretto.runtimes.logs.retention import forget_output
from stretto.runtimes.scratch import ScratchFolder, remove_abandoned
from stretto.runtimes.surroundings import MakeRuntimes, Surroundings, no_runtimes
from stretto.store.memory.hints import MemoryHints
from stretto.store.opening import module_of, open_store

T = TypeVar("T")

FIRST_GROUP: Final = 0  # whose owner does what one node does for all
LEAVE_WITHIN: Final = 5.0  # seconds for the last word of a node that was cut short


# Called when a database can not be reached: returns when it is to be tried again, or raises.
Retry = Callable[[Unavailable], Awaitable[None]]


class Parts(NamedTuple):
    """What whoever serves requests needs, with or without a node beside it."""

    store: Store
    hints: Hints
    starts: StartBatcher
    clock: Clock
    evaluator: Evaluator
    logs: LogFiles


class App:
    """One node on one store, in this process and in the event loop in which it was made."""

    def __init__(
        self,
        config: Config,
        store: Store,
        hints: Hints,
        logs: LogFiles,
        observers: Sequence[Observer] = (),
        runtimes: MakeRuntimes = no_runtimes,
    ) -> None:
        self.config = config
        self.store = store
        self.hints = hints
        self.starts = StartBatcher(store, hints)
        self.logs = logs
        self.clock = SystemClock()
        around = Surroundings(
            store=store, clock=self.clock, settings=config.runtimes, sink=logs, params=config.params
        )
        self.runtimes = Runtimes(around, runtimes)
        self._evaluator = _pool(config)
        performer = Performer(
            store,
            hints,
            self.runtimes.by_type,
            self._evaluator,
            settings=config.for_node,
            address=own_address(),
            gone=is_gone,
            begin=self.starts.start,
        )
        self._deleted = Deleted()
        self._node = Node(
            config.for_node,
            self.clock.steady,
            lambda: NodeId(uuid4().hex),
            performer.outside,
            (*observers, self._deleted, ClockLog()),
            performer.lacks,
        )
        self._performer = performer
        self._driver = Driver(self._node, performer, self.clock, hints)
        self._observers = observers
        self._task: asyncio.Task[None]
        self._forgetting: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to look after what is in the store."""
        await self._bury_the_dead()
        await asyncio.to_thread(remove_abandoned)
        self._task = asyncio.create_task(self._driver.run())
        kept, output = self.config.retention, self.logs.forget_workflow
        works: list[Coroutine[Any, Any, None]] = [
            forget_now_and_then(
                self.store, kept, lambda: FIRST_GROUP in self._node.groups, self._observers, output
            ),
            purge_when_told(self.store, kept, self._deleted, self._observers, output),
            forget_output(self.logs, self.store, self.clock.now, kept.runs, kept.every),
        ]
        self._forgetting = [asyncio.create_task(each) for each in works]

    @property
    def parts(self) -> Parts:
        """Those that others may use, as long as this runs."""
        return Parts(self.store, self.hints, self.starts, self.clock, self._evaluator, self.logs)

    @property
    def node(self) -> NodeId:
        """What the node is called now."""
        return self._node.id

    @property
    def groups(self) -> Collection[int]:
        """The flow groups that the node looks after now."""
        return self._node.groups.keys()

    @property
    def at_work(self) -> list[Launch]:
        """Work in this process that has not ended."""
        return self.runtimes.at_work

    async def advertise(self) -> None:
        """Tell the other nodes of functions that this process has come to know since it joined."""
        if await self._performer.advertise():
            self._driver.functions_changed()

    async def ended(self) -> None:
        """Returns, or raises, when the node has."""
        await asyncio.shield(self._task)

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
        for task in self._forgetting:
            task.cancel()
        try:
            await asyncio.wait({self._task, *self._forgetting})
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
        """Nodes whose process is gone, as can be seen here: nobody need wait until their leases run out. If
        the database takes nothing now, that is what happens.
        """
        with suppress(Unavailable):
            for row in await self.store.nodes():
                if row.state is not NodeState.DEAD and is_gone(row.address):
                    burial = await self.store.bury(row.node, row.beats, expired=False)
                    self.hints.hint(() if burial is None else burial.groups)


class Connection:
    """What a program uses of an `App`, without a node: other processes run what it asks for."""

    node: NodeId | None = None
    groups: Collection[int] = ()

    def __init__(self, config: Config, parts: Parts) -> None:
        self.config = config
        self.store = parts.store
        self.hints = parts.hints
        self.starts = parts.starts
        self.clock = parts.clock

    async def ended(self) -> None:
        """Never returns: there is no node that could end."""
        await asyncio.Event().wait()

    async def advertise(self) -> None:
        """Nothing: no step runs in this process."""

    def hurry(self) -> None:
        """Nothing: there is no work to end."""


@asynccontextmanager
async def running(
    config: Config,
    url: str,
    observers: Sequence[Observer] = (),
    runtimes: MakeRuntimes = no_runtimes,
    before: Callable[[Store], Awaitable[None]] | None = None,
    retry: Retry | None = None,
) -> AsyncIterator[App]:
    """A node on the database at an address. `before`: what must be done there before it begins."""
    store = await _open(config, url, retry)
    try:
        if before is not None:
            await before(store)
        async with _hinting(config, url) as hints, _keeping(config, url) as logs:
            app = App(config, store, hints, logs, observers, runtimes)
            with looking_seldom():
                await app.start()
                try:
                    yield app
                finally:
                    await app.stop()
    finally:
        await store.close()


@asynccontextmanager
async def connected(config: Config, url: str, retry: Retry | None = None) -> AsyncIterator[Parts]:
    """The parts without a node: what is asked for here is done by others on the same database."""
    store = await _open(config, url, retry)
    pool = _pool(config)
    try:
        async with _hinting(config, url) as hints, _keeping(config, url) as logs:
            yield Parts(store, hints, StartBatcher(store, hints), SystemClock(), pool, logs)
    finally:
        await asyncio.to_thread(pool.close)
        await store.close()


@asynccontextmanager
async def connection(config: Config, url: str) -> AsyncIterator[Connection]:
    """The same, for a program that only starts and reads runs."""
    async with connected(config, url) as parts:
        yield Connection(config, parts)


async def _open(config: Config, url: str, retry: Retry | None) -> Store:
    """The store, with its tables. A database that does not answer is an error, or tried again."""
    while True:
        try:
            return await open_store(url, config.database, create=True)
        except Unavailable as error:
            if retry is None:
                raise
            await retry(error)


def _pool(config: Config) -> Pool:
    expressions = config.expressions
    return Pool(workers=expressions.workers, seconds=expressions.within / 1_000)


def logs_of(config: Config, url: str) -> LogFiles | None:
    """Where the output of steps on a database is kept; None: nowhere, as the database is not."""
    folder = folder_of(url, config.runtimes, data_folder(surroundings()) or Path().absolute())
    if folder is None:
        return None
    size, database = config.runtimes.log_size, fingerprint_of(url)
    return LogFiles(folder, size, SystemClock().now, database=database)


@asynccontextmanager
async def _keeping(config: Config, url: str) -> AsyncIterator[LogFiles]:
    """What is printed beside a database in memory ends with it."""
    with ExitStack() as stack:
        logs = logs_of(config, url)
        if logs is None:
            scratch = ScratchFolder()
            stack.callback(scratch.close)
            logs = LogFiles(scratch.path / "logs", config.runtimes.log_size, SystemClock().now)
        stack.callback(logs.close)
        yield logs


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
