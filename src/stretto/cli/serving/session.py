"""A server in this process: from the first socket to the last hand-over.

The first interrupt stops it gracefully: requests end, then the node hands over. The second ends all now.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec

from stretto.actions.bulk import carry_out_next
from stretto.actions.caller import Caller
from stretto.actions.parts.submitting import Submitting
from stretto.actions.publish_if_new import publish_if_new
from stretto.api.bulk_worker import BulkWorker
from stretto.api.desk import Desk
from stretto.api.feed import Feed
from stretto.api.making import make_app
from stretto.api.routes import ALL, HEALTH
from stretto.api.server import Server, bind, url_of
from stretto.app import App, Parts, connected, running
from stretto.cli.database import Place
from stretto.cli.running.session import Interrupts
from stretto.cli.serving.roles import API, ENGINE
from stretto.cli.serving.telling import say, tell_start
from stretto.config import Config
from stretto.model.errors import StrettoError
from stretto.model.workflow import Definition
from stretto.ports.events import LogRow
from stretto.ports.observer import Observer
from stretto.runtimes.expressions.asked import Asked
from stretto.runtimes.listing import schemas
from stretto.runtimes.types import with_installed

ANSWER_WITHIN: Final = 2.0  # seconds in which a database that is well answers


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is to do."""

    place: Place
    roles: frozenset[str]
    caller: Caller
    definitions: tuple[Definition, ...] = ()


async def serve(order: Order) -> int:
    """Until somebody interrupts it; returns the exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = order.place.config.server
    sockets = bind(settings.host, settings.port)
    interrupts = Interrupts()
    try:
        with interrupts.heard():
            bell = Bell()
            async with _parts(order, bell) as (parts, app):
                state = State(parts, bell)
                desk = desk_of(parts, order.place.config, state)
                routes = ALL if API in order.roles else HEALTH
                server = Server(make_app(desk, settings, routes), settings)
                loaded = await _load(order, desk)
                await server.start(sockets)
                tell_start(url_of(sockets), order.place, order.roles, loaded)
                await _until(app, interrupts.first.wait())
                say("stopping: requests and work that go on have their time; Ctrl-C ends them now")
                state.stop()
                cutting = asyncio.create_task(_cut_short(app, interrupts.second))
                await _first(server.stop(), interrupts.second.wait())
            cutting.cancel()
    finally:
        for each in sockets:
            each.close()
    return interrupts.code if interrupts.second.is_set() else 0


class Bell(Observer):
    """Rings when the node of this process has committed something."""

    def __init__(self) -> None:
        self.feed: Feed | None = None

    def committed(self, rows: Sequence[LogRow]) -> None:
        if self.feed is not None:
            self.feed.ring()


class State:
    """Whether requests should come here, and what followers are told."""

    def __init__(self, parts: Parts, bell: Bell | None = None) -> None:
        self._parts = parts
        self.stopping = False
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
        if self.stopping:
            return "the server is stopping"
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._parts.store.now()
        except TimeoutError:
            return f"the database has not answered within {ANSWER_WITHIN:g} s"
        except StrettoError as error:
            return error.message
        return None


def desk_of(parts: Parts, config: Config, state: State) -> Desk:
    """What the routes are given. Definitions that come by HTTP must have steps, as in Maestro."""
    limits = msgspec.structs.replace(with_installed(config.limits), empty_workflow=False)
    evaluate = Asked(parts.evaluator, config.for_node.engine)
    bulk = BulkWorker(partial(carry_out_next, parts.store, evaluate=evaluate, hints=parts.hints))
    bulk.start()
    state.endings.append(bulk.stop)
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
        feed=state.feed,
        since=parts.clock.now(),
        bulk=bulk,
        types=schemas,
    )


@asynccontextmanager
async def _parts(order: Order, bell: Bell) -> AsyncIterator[tuple[Parts, App | None]]:
    """With a node beside the server, or without one."""
    config, url = order.place.config, order.place.url
    if ENGINE in order.roles:
        async with running(config, url, (bell,)) as app:
            yield app.parts, app
    else:
        async with connected(config, url) as parts:
            yield parts, None


async def _load(order: Order, desk: Desk) -> dict[str, int]:
    """Publish what the command line names, where it is new; the number of each version."""
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
