"""A server in this process, from the first socket to the last hand-over: a node, the API and their sockets.

The first interrupt stops it gracefully: requests end, then the node hands over. The second ends all now.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, Final, TypeVar

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.function_checks import check_functions
from stretto.actions.publish_if_new import publish_if_new
from stretto.api.desk import Desk
from stretto.api.making import make_app
from stretto.api.placeholder import Placeholder
from stretto.api.routes import ALL, HEALTH
from stretto.api.server import Server, bind, url_of
from stretto.app import App, Parts, Retry, connected, running
from stretto.config import Config
from stretto.model.errors import Unavailable
from stretto.model.workflow import Definition
from stretto.server.file_limit import fitted, raise_limit
from stretto.server.functions import Functions
from stretto.server.interrupts import Interrupts
from stretto.server.roles import API, ENGINE, ROLES
from stretto.server.state import FeedObserver, ServerState, desk_of
from stretto.server.stop_deadline import StopDeadline

T = TypeVar("T")

LOAD_WAY_OUT: Final = "name its code with `--app`"


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a server works on, and what it does."""

    url: str  # of the database
    caller: Caller  # who publishes the definitions
    config: Config = msgspec.field(default_factory=Config)
    roles: frozenset[str] = frozenset(ROLES)
    definitions: tuple[Definition, ...] = ()  # published at the start, where they are new
    flows: tuple[Any, ...] = ()  # whose functions and handlers are known here
    functions: tuple[Any, ...] = ()


class Notices:
    """What a server tells whoever started it. This one keeps silent."""

    def started(self, url: str, loaded: Mapping[str, int]) -> None:
        """It listens on `url`; `loaded` has the version of each definition that was published or found."""

    def say(self, text: str) -> None:
        """Something that a person should know: what it waits for, and that it stops."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it in the fastest event loop that there is here."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop  # noqa: PLC0415 - not everywhere

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


async def serve(
    options: ServerOptions, notices: Notices | None = None, interrupts: Interrupts | None = None
) -> int:
    """Serve until it is asked to stop; returns an exit code.

    The process is the server's: signals stop it, and a stop that takes longer than `node.stop_within` ends
    the process. Whoever gives `interrupts` keeps the process, and stops the server by `interrupts.come`.
    """
    notices = notices or Notices()
    is_guest = interrupts is not None
    interrupts = interrupts or Interrupts()
    if not is_guest:
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config, told = fitted(options.config, raise_limit())
    if told is not None:
        notices.say(told)
        options = msgspec.structs.replace(options, config=config)
    settings = config.server
    sockets = bind(settings.host, settings.port)
    front = Placeholder()
    server = Server(front, settings)
    try:
        with nullcontext() if is_guest else interrupts.heard():
            await server.start(sockets)
            observer = FeedObserver()
            wait = DatabaseWait(options, notices, front, interrupts)
            async with _parts(options, observer, wait) as (parts, app):
                state = ServerState(parts, observer)
                desk = desk_of(parts, config, state)
                loaded = await _load(options, desk)
                front.app = make_app(desk, settings, ALL if API in options.roles else HEALTH)
                notices.started(url_of(sockets), loaded)
                await _until(app, interrupts.first.wait())
                notices.say("stopping: requests and work that go on have their time; Ctrl-C ends them now")
                deadline = _deadline(config, interrupts, is_guest=is_guest)
                state.stop()
                cutting = asyncio.create_task(_cut_short(app, interrupts.second))
                await _first(server.stop(), interrupts.second.wait())
            cutting.cancel()
            if is_guest:
                deadline.cancel()
    except Interrupted:
        await server.stop()
        return 0
    finally:
        for each in sockets:
            each.close()
    return interrupts.code if interrupts.second.is_set() and not deadline.is_late else 0


def _deadline(config: Config, interrupts: Interrupts, *, is_guest: bool) -> StopDeadline:
    """From now on the stop has an end. When most of its time is gone, that counts as a second interrupt."""
    loop = asyncio.get_running_loop()

    def hurry() -> None:
        with suppress(RuntimeError):  # the event loop has ended in time
            loop.call_soon_threadsafe(interrupts.second.set)

    deadline = StopDeadline(config.node.stop_within, hurry, None if is_guest else os._exit)
    deadline.begin(interrupts.code)
    return deadline


class Interrupted(Exception):
    """The server was told to stop before its database answered."""


class DatabaseWait:
    """What a server does while its database does not answer: it says so, answers to probes, and waits."""

    def __init__(
        self, options: ServerOptions, notices: Notices, front: Placeholder, interrupts: Interrupts
    ) -> None:
        self._settings = options.config.node
        self._notices = notices
        self._front = front
        self._interrupts = interrupts
        self._pause = self._settings.retry_first / 1_000
        self._told: str | None = None

    async def __call__(self, error: Unavailable) -> None:
        self._front.reason = error.message
        if error.message != self._told:
            self._told = error.message
            self._notices.say(f"waiting for the database: {error.message}")
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pause):
                await self._interrupts.first.wait()
        if self._interrupts.first.is_set():
            raise Interrupted
        self._pause = min(self._pause * 2, self._settings.retry_most / 1_000)


@asynccontextmanager
async def _parts(
    options: ServerOptions, observer: FeedObserver, retry: Retry
) -> AsyncIterator[tuple[Parts, App | None]]:
    """With a node beside the server, or without one."""
    config, url = options.config, options.url
    if ENGINE in options.roles:
        functions = Functions(options.flows, options.functions)
        async with (
            running(config, url, (observer, functions), functions.runtimes, functions.record, retry) as app,
            functions.looking(app.store),
        ):
            yield app.parts, app
        await functions.finish()
    else:
        async with connected(config, url, retry) as parts:
            yield parts, None


async def _load(options: ServerOptions, desk: Desk) -> dict[str, int]:
    """Publish the definitions, where they are new; the number of each version."""
    known = Functions(options.flows, options.functions).names if ENGINE in options.roles else frozenset[str]()
    await check_functions(desk.store, options.definitions, known, LOAD_WAY_OUT)
    return {
        each.workflow.id: await publish_if_new(
            desk.store, options.caller, each, triggers=True, limits=desk.limits, hints=desk.hints
        )
        for each in options.definitions
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
