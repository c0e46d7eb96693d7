"""How much of a body is taken, how long it may take to come, and how much all bodies may take together."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.types import Receive

from stretto.api.settings import KB, ServerSettings
from stretto.model.errors import TimedOut, Unavailable

NODE: Final = 100  # bytes of memory for each value that is read from a body
COPIES: Final = 4  # of the text of a body, while it is read
MARKS: Final = b",:[{-"  # each may begin a value, in JSON or in YAML
SMALL: Final = 64 * KB  # memory that a request takes without waiting for others
KEY: Final = "stretto_body"  # of the scope of a request


class Bodies:
    """The bodies of all requests that are under way."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.kept = 0  # bytes that the application was handed, unpacked
        self.room = Room(settings.bodies)

    @contextmanager
    def limited(self, receive: Receive) -> Iterator["LimitedBody"]:
        """One more, until its request is answered."""
        body = LimitedBody(self, receive)
        try:
            yield body
        finally:
            self.kept -= body.kept
            body.forget()


class Room:
    """Memory for what is read from bodies. Who finds too little of it waits for those that came before.
    Small requests never wait: their sum is small, and large ones must not delay them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self.taken = 0

    async def take(self, size: int) -> int:
        """Wait for it, and say how much was taken: nobody needs more than three quarters."""
        size = min(size, self._most * 3 // 4)
        if size > SMALL and (self._waiting or not self._fits(size)):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append((size, turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.cancelled():
                    with suppress(ValueError):
                        self._waiting.remove((size, turn))
                    self._admit()
                else:
                    self.give(size)
                raise
        else:
            self.taken += size
        return size

    def give(self, size: int) -> None:
        """It is free again."""
        self.taken -= size
        self._admit()

    def _fits(self, size: int) -> bool:
        return self.taken + size <= self._most

    def _admit(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size, turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may have left
                self.taken += size
                turn.set_result(None)


class LimitedBody:
    """One body. `receive` gives it as it comes, `counted` as the application keeps it."""

    def __init__(self, bodies: Bodies, receive: Receive) -> None:
        self._bodies = bodies
        self._receive = receive
        self._seconds = bodies.settings.body_within / 1_000
        self._end = asyncio.get_running_loop().time() + self._seconds
        self._is_complete = False
        self._size = 0
        self._room = 0
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

    async def read(self, text: bytes) -> None:
        """Wait until there is memory for what is read from the text, as much as it takes at the worst."""
        size = COPIES * len(text) + NODE * sum(map(text.count, MARKS))
        try:
            async with asyncio.timeout(self._seconds):
                self._room += await self._bodies.room.take(size)
        except TimeoutError:
            raise Unavailable(
                "The bodies of other requests leave no room to read this one now (server.bodies)"
            ) from None

    def forget(self) -> None:
        """What was read is done with."""
        size, self._room = self._room, 0
        if size:
            self._bodies.room.give(size)


async def room_for(scope: Any, text: bytes) -> None:
    """Wait until there is memory to read the body of a request."""
    body: LimitedBody = scope[KEY]
    await body.read(text)
