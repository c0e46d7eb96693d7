"""Connections that are kept for who comes next."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from stretto.store.mariadb.connecting import Connection


class Pool:
    """At most so many connections. The one that was used last is used next, so that others grow old and go.

    idle, lifetime   Seconds after which an unused one, and any one, is closed: when somebody gives one back,
                     which a node does all the time.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], most: int, *, idle: float, lifetime: float
    ) -> None:
        self._connect = connect
        self._places = asyncio.Semaphore(most)
        self._idle_for = idle
        self._lifetime = lifetime
        self._born: dict[Connection, float] = {}
        self._idle: list[tuple[Connection, float]] = []  # the longest unused first
        self._closed = False

    async def take(self) -> Connection:
        """A connection that nobody else has until it is put back."""
        await self._places.acquire()
        try:
            if self._idle:
                return self._idle.pop()[0]
            connection = await self._connect()
        except BaseException:
            self._places.release()
            raise
        self._born[connection] = monotonic()
        return connection

    def put(self, connection: Connection) -> None:
        """Who had it is done. One that was lost is forgotten, and all that are idle with it: they went to the
        same server.
        """
        now = monotonic()
        self._places.release()
        old = now - self._born[connection] > self._lifetime
        if connection.is_closed() or self._closed or old:
            self._drop(connection)
        else:
            self._idle.append((connection, now))
        self._drop_idle(now if connection.lost else now - self._idle_for)

    async def close(self) -> None:
        """Say goodbye on those that nobody has; the others end when they are put back."""
        self._closed = True
        while self._idle:
            connection, _since = self._idle.pop()
            del self._born[connection]
            await connection.close()

    def _drop_idle(self, before: float) -> None:
        while self._idle and self._idle[0][1] <= before:
            self._drop(self._idle.pop(0)[0])

    def _drop(self, connection: Connection) -> None:
        del self._born[connection]
        connection.terminate()
