"""Connections to a server that are kept for who comes next."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Generic, Protocol, TypeVar


class Pooled(Protocol):
    """What a pool must know of a connection."""

    def is_closed(self) -> bool: ...

    def terminate(self) -> None:
        """End it without waiting for anybody."""
        ...


C = TypeVar("C", bound=Pooled)


class Pool(Generic[C]):
    """At most so many connections. The one that was used last is used next, so that others grow old and go.

    idle, lifetime   Seconds after which an unused one, and any one, is closed: when somebody gives one back,
                     which a node does all the time.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[C]], most: int, *, idle: float, lifetime: float
    ) -> None:
        self._connect = connect
        self._places = asyncio.Semaphore(most)
        self._idle_for = idle
        self._lifetime = lifetime
        self._born: dict[C, float] = {}
        self._idle: list[tuple[C, float]] = []  # the longest unused first
        self._closed = False

    def add(self, connection: C) -> None:
        """One that was made elsewhere, and that nobody has."""
        self._born[connection] = now = monotonic()
        self._idle.append((connection, now))

    async def take(self) -> C:
        """A connection that nobody else has until it is put back."""
        await self._places.acquire()
        try:
            while self._idle:
                connection, _since = self._idle.pop()
                if not connection.is_closed():
                    return connection
                del self._born[connection]
            connection = await self._connect()
        except BaseException:
            self._places.release()
            raise
        self._born[connection] = monotonic()
        return connection

    def put(self, connection: C) -> None:
        """Who had it is done. One that was lost is forgotten, and all that are idle with it: they went to the
        same server.
        """
        now = monotonic()
        self._places.release()
        if connection.is_closed():
            self._drop(connection)
            self._drop_idle(now)
        elif self._closed or now - self._born[connection] > self._lifetime:
            self._drop(connection)
        else:
            self._idle.append((connection, now))
            self._drop_idle(now - self._idle_for)

    def close(self) -> None:
        """End those that nobody has; the others end when they are put back."""
        self._closed = True
        self._drop_idle(monotonic())

    def _drop_idle(self, before: float) -> None:
        while self._idle and self._idle[0][1] <= before:
            self._drop(self._idle.pop(0)[0])

    def _drop(self, connection: C) -> None:
        del self._born[connection]
        connection.terminate()
