"""How much of a body is taken, how long it may take to come, and how much all bodies may take together."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.types import Receive

from stretto.api.settings import ServerSettings
from stretto.model.errors import TimedOut, Unavailable


class Bodies:
    """The bodies of all requests that are under way."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.kept = 0  # bytes that the application was handed, unpacked

    @contextmanager
    def limited(self, receive: Receive) -> Iterator["LimitedBody"]:
        """One more, until its request is answered."""
        body = LimitedBody(self, receive)
        try:
            yield body
        finally:
            self.kept -= body.kept


class LimitedBody:
    """One body. `receive` gives it as it comes, `counted` as the application keeps it."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._seconds = bodies.settings.body_within / 1_000
        self._end = asyncio.get_running_loop().time() + self._seconds
        self._is_complete = False
        self._size = 0
        self.kept = 0

    async def receive(self) -> Any:
        """The next part. The body must have come when its time is up, however slowly it began."""
        if self._is_complete:  # now only the end of the connection can come
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message: Any = await self._receive()
        except TimeoutError:
            self._is_complete = True
            raise TimedOut(f"The body of the request did not come within {self._seconds:g} s") from None
        self._is_complete = not message.get("more_body", False)
        self._size += len(message.get("body", b""))
        if self._size > self._bodies.settings.body:
            self._is_complete = True
            raise RequestEntityTooLarge
        return message

    def counted(self, receive: Receive) -> Receive:
        """The same parts. There may be no room for them beside the bodies of other requests."""

        async def next_part() -> Any:
            message: Any = await receive()
            size = len(message.get("body", b""))
            if self._bodies.kept + size > self._bodies.settings.bodies:
                raise Unavailable(
                    "The bodies of other requests leave no room for this one now (server.bodies)"
                )
            self._bodies.kept += size
            self.kept += size
            return message

        return next_part
