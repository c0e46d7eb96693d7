"""A server in this process: from the first socket to the last hand-over.

The first interrupt stops it gracefully: requests end, then the node hands over. The second ends all now.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, Final

import msgspec

from stretto.actions.bulk import carry_out_next
from stretto.actions.caller import Caller
from stretto.actions.parts.function_checks import check_functions
from stretto.actions.parts.submitting import Submitting
from stretto.actions.publish_if_new import publish_if_new
from stretto.actions.reading.log_pages import StepLogs
from stretto.actions.reading.log_target import host_of
from stretto.api.bulk_worker import BulkWorker
from stretto.api.desk import Desk
from stretto.api.feed import Feed
from stretto.api.making import make_app
from stretto.api.placeholder import Placeholder
from stretto.api.routes import ALL, HEALTH
from stretto.api.server import Server, bind, url_of
from stretto.app import App, Parts, Retry, connected, running
from stretto.cli.database import Place
from stretto.cli.running.functions import Functions
from stretto.cli.running.session import Interrupts
from stretto.cli.serving.file_limit import fitted, raise_limit
from stretto.cli.serving.roles import API, ENGINE
from stretto.cli.serving.stop_deadline import StopDeadline
from stretto.cli.serving.telling import say, tell_start
from stretto.config import Config
from stretto.model.errors import StrettoError, Unavailable
from stretto.model.workflow import Definition
from stretto.node.address import own_address
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.runtimes.expressions.asked import Asked
from stretto.runtimes.listing import listed, schemas
from stretto.runtimes.types import with_installed

LOAD_WAY_OUT: Final = "name its code with `--app`"
ANSWER_WITHIN: Final = 2.0  # seconds in which a database that is well answers
PROBE_EVERY: Final = 1.0  # seconds for which the answer of a probe is good enough


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is to do."""

    place: Place
    roles: frozenset[str]
    caller: Caller
    definitions: tuple[Definition, ...] = ()
    flows: tuple[Any, ...] = ()  # whose functions and handlers are known here
    functions: tuple[Any, ...] = ()


async def serve(order: Order) -> int:
    """Until somebody interrupts it; returns the exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config, told = fitted(order.place.config, raise_limit())
    if told is not None:
        say(told)
        order = msgspec.structs.replace(order, place=order.place._replace(config=config))
    settings = config.server
    sockets = bind(settings.host, settings.port)
    interrupts = Interrupts()
    front = Placeholder()
    server = Server(front, settings)
    try:
        with interrupts.heard():
            await server.start(sockets)
            bell = Bell()
            async with _parts(order, bell, DatabaseWait(order, front, interrupts)) as (parts, app):
                state = State(parts, bell)
                desk = desk_of(parts, order.place.config, state)
                loaded = await _load(order, desk)
                front.app = make_app(desk, settings, ALL if API in order.roles else HEALTH)
                tell_start(url_of(sockets), order.place, order.roles, loaded)
                await _until(app, interrupts.first.wait())
                say("stopping: requests and work that go on have their time; Ctrl-C ends them now")
                deadline = _deadline(order, interrupts)
                state.stop()
                cutting = asyncio.create_task(_cut_short(app, interrupts.second))
                await _first(server.stop(), interrupts.second.wait())
            cutting.cancel()
    except Interrupted:
        await server.stop()
        return 0
    finally:
        for each in sockets:
            each.close()
    return interrupts.code if interrupts.second.is_set() and not deadline.is_late else 0


def _deadline(order: Order, interrupts: Interrupts) -> StopDeadline:
    """From now on the stop has an end. When most of its time is gone, that counts as a second interrupt."""
    loop = asyncio.get_running_loop()

    def hurry() -> None:
        with suppress(RuntimeError):  # the event loop has ended in time
            loop.call_soon_threadsafe(interrupts.second.set)

    deadline = StopDeadline(order.place.config.node.stop_within, hurry)
    deadline.begin(interrupts.code)
    return deadline


class Interrupted(Exception):
    """The server was told to stop before its database answered."""


class DatabaseWait:
    """What a server does while its database does not answer: it says so, answers to probes, and waits."""

    def __init__(self, order: Order, front: Placeholder, interrupts: Interrupts) -> None:
        self._settings = order.place.config.node
        self._front = front
        self._interrupts = interrupts
        self._pause = self._settings.retry_first / 1_000
        self._told: str | None = None

    async def __call__(self, error: Unavailable) -> None:
        self._front.reason = error.message
        if error.message != self._told:
            self._told = error.message
            say(f"waiting for the database: {error.message}")
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pause):
                await self._interrupts.first.wait()
        if self._interrupts.first.is_set():
            raise Interrupted
        self._pause = min(self._pause * 2, self._settings.retry_most / 1_000)


class Bell(Observer):
    """Hands what the node of this process has committed to those who follow."""

    def __init__(self) -> None:
        self.feed: Feed | None = None

    def committed(self, rows: Sequence[LogRow]) -> None:
        if self.feed is not None:
            self.feed.offer(rows)


class State:
    """Whether requests should come here, and what followers are told."""

    def __init__(self, parts: Parts, bell: Bell | None = None) -> None:
        self._parts = parts
        self.stopping = False
        self._probe: asyncio.Task[str | None] | None = None
        self._fresh_until = 0.0
        self.feed = Feed(parts.store, parts.clock)
        self.endings: list[Callable[[], None]] = [self.feed.close]  # what else ends when the server stops
        if bell is not None:
            bell.feed = self.feed

    def stop(self) -> None:
        """From now on nobody should come, and who follows is sent away."""
        self.stopping = True
        for end in self.endings:
            end()

    async def trouble(self) -> str | None:
        """Why no request should come here now. All who ask within a moment get the same answer: a probe
        writes to the database.
        """
        if self.stopping:
            return "the server is stopping"
        if self._probe is None or (self._probe.done() and monotonic() >= self._fresh_until):
            self._probe = asyncio.create_task(self._probed())
        return await asyncio.shield(self._probe)

    async def _probed(self) -> str | None:
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._parts.store.probe()
        except TimeoutError:
            return f"the database has not answered within {ANSWER_WITHIN:g} s"
        except StrettoError as error:
            return error.message
        finally:
            self._fresh_until = monotonic() + PROBE_EVERY
        return None


def desk_of(parts: Parts, config: Config, state: State) -> Desk:
    """What the routes are given. Definitions that come by HTTP must have steps, as in Maestro."""
    limits = msgspec.structs.replace(with_installed(config.limits), empty_workflow=False)
    evaluate = Asked(parts.evaluator, config.for_node.engine)
    bulk = BulkWorker(partial(carry_out_next, parts.store, evaluate=evaluate, hints=parts.hints))
    bulk.start()
    state.endings.append(bulk.stop)
    state.feed.tail.cluster_name = config.server.cluster_name
    return Desk(
        store=parts.store,
        hints=parts.hints,
        clock=parts.clock,
        limits=limits,
        params=config.params,
        evaluate=evaluate,
        submitting=Submitting(parts.store, parts.hints, evaluate=evaluate, limits=config.params),
        action_within=config.server.action_within,
        trouble=state.trouble,
        stopping=lambda: state.stopping,
        feed=state.feed,
        since=parts.clock.now(),
        bulk=bulk,
        logs=StepLogs(parts.store, parts.logs, host_of(own_address())),
        types=schemas,
        standings=listed,
        early_answers=config.engine.early_answers,
        cluster_name=config.server.cluster_name,
    )


@asynccontextmanager
async def _parts(order: Order, bell: Bell, retry: Retry) -> AsyncIterator[tuple[Parts, App | None]]:
    """With a node beside the server, or without one."""
    config, url = order.place.config, order.place.url
    if ENGINE in order.roles:
        functions = Functions(order.flows, order.functions)
        async with (
            running(config, url, (bell, functions), functions.runtimes, functions.record, retry) as app,
            functions.looking(app.store),
        ):
            yield app.parts, app
        await functions.finish()
    else:
        async with connected(config, url, retry) as parts:
            yield parts, None


async def _load(order: Order, desk: Desk) -> dict[str, int]:
    """Publish what the command line names, where it is new; the number of each version."""
    known = {each.name for each in order.functions} if ENGINE in order.roles else set[str]()
    await check_functions(desk.store, order.definitions, known, LOAD_WAY_OUT)
    return {
        each.workflow.id: await publish_if_new(
            desk.store, order.caller, each, triggers=True, limits=desk.limits, hints=desk.hints
        )
        for each in order.definitions
    }


async def _until(app: App | None, interrupt: Awaitable[object]) -> None:
    """Wait for an interrupt. If the node ends first, that is the error."""

    async def wait() -> None:
        await interrupt

    await (wait() if app is None else app.watch(wait()))


async def _cut_short(app: App | None, again: asyncio.Event) -> None:
    await again.wait()
    if app is not None:
        app.hurry()


async def _first(*works: Awaitable[object]) -> None:
    """Until one of them is done."""
    tasks = [asyncio.ensure_future(each) for each in works]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
