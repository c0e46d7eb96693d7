"""Hints between processes, by NOTIFY.

Sending and listening have connections of their own, apart from the transactions that store something. Both
are made when they are first needed, and made anew when they are lost. What is lost meanwhile is found by the
next poll.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any, Final

from stretto.engine.records import RunKey
from stretto.ports.hints import Heard
from stretto.ports.places import GROUPS
from stretto.store.postgresql.address import DEFAULTS, Address, address_of
from stretto.store.postgresql.connecting import connected
from stretto.store.settings import DatabaseSettings

CHANNEL: Final = "stretto"
NOTIFY: Final = "SELECT pg_notify($1, $2)"
GAP: Final = 0.01  # seconds between two notices: what is hinted meanwhile goes with the next
ALIVE_EVERY: Final = 30.0  # seconds after which a connection that only listens is tried
PAUSES: Final = (0.1, 0.5, 1.0, 5.0)  # seconds until the next try to connect; the last one for ever
EVERYWHERE: Final = frozenset(range(GROUPS))


class PostgresHints:
    """See `ports.hints`. Everything happens in the event loop in which it is used."""

    def __init__(self, url: str, settings: DatabaseSettings = DEFAULTS) -> None:
        self._address = address_of(url, settings)
        self._listeners: list[Heard] = []
        self._waiting: set[int] = set()
        self._news = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._own_pids: set[int] = set()
        self._closed = False

    def hint(self, groups: Collection[int], admitted: Collection[RunKey] = ()) -> None:
        """Who listens here is told at once, everybody else by the server: that names groups only."""
        if not groups or self._closed:
            return
        self._tell(frozenset(groups), admitted)
        self._waiting.update(groups)
        self._news.set()
        if self._sender is None:
            self._sender = asyncio.ensure_future(_for_ever(self._address, self._send))

    def listen(self, heard: Heard) -> Callable[[], None]:
        self._listeners.append(heard)
        if self._listener is None and not self._closed:
            self._listener = asyncio.ensure_future(_for_ever(self._address, self._hear))

        def stop() -> None:
            if heard in self._listeners:
                self._listeners.remove(heard)

        return stop

    async def close(self) -> None:
        """Let go of the connections. Idempotent; hints are lost from now on."""
        self._closed = True
        tasks = [task for task in (self._sender, self._listener) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self, groups: frozenset[int], admitted: Collection[RunKey] = ()) -> None:
        for heard in list(self._listeners):  # one may stop listening while it is told
            heard(groups, admitted)

    # ----------------------------------------------------------------------------------- on a connection
    async def _send(self, connection: Any, *, again: bool) -> None:  # noqa: ARG002 - what waits is still there
        pid = connection.get_server_pid()
        self._own_pids.add(pid)
        try:
            while True:
                await self._news.wait()
                await self._notify(connection)
                await asyncio.sleep(GAP)
        finally:
            self._own_pids.discard(pid)

    async def _notify(self, connection: Any) -> None:
        self._news.clear()
        going, self._waiting = self._waiting, set()
        try:
            await connection.fetchval(NOTIFY, CHANNEL, ",".join(map(str, sorted(going))))
        except BaseException:
            self._waiting |= going
            self._news.set()
            raise

    async def _hear(self, connection: Any, *, again: bool) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _connection: lost.set())
        await connection.add_listener(CHANNEL, self._noticed)
        if again:
            self._tell(EVERYWHERE)  # nobody knows what was missed
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(lost.wait(), ALIVE_EVERY)
            await connection.fetchval("SELECT 1")

    def _noticed(self, _connection: Any, pid: int, _channel: str, payload: str) -> None:
        if pid not in self._own_pids:
            self._tell(EVERYWHERE.intersection(int(each) for each in payload.split(",") if each.isdecimal()))


async def _for_ever(address: Address, use: Callable[..., Awaitable[None]]) -> None:
    """Use a connection until it is lost, then another."""
    again, failures = False, 0
    while True:
        try:
            connection = await connected(address)
            failures = 0
            try:
                await use(connection, again=again)
            finally:
                again = True
                connection.terminate()
        except Exception:  # noqa: BLE001 - whatever it is, hints are needed for nothing
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            failures += 1
