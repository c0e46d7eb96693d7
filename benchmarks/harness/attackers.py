"""Clients that send without end, or nothing at all, as a process beside the server.

python -m benchmarks.harness.attackers PORT trailers|pipelines|half-open

Whenever the server ends a connection, another one takes its place.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from benchmarks.harness.companion import Companion, beside, report, work_until_told

HEAD: Final = b"POST /api/v3/signals HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
TRAILED: Final = HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\n"
TRAILERS: Final = b"x: y\r\n" * 10_000
REQUESTS: Final = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 1_000
REST: Final = 0.5  # seconds before a half-open connection is made again: it is no flood of new ones
MB: Final = 1024 * 1024


class Sent(NamedTuple):
    """What all connections have sent together."""

    connections: int
    megabytes: float


class Counter:
    """Counts what all of them send."""

    def __init__(self) -> None:
        self.connections = self.bytes = 0


class Client:
    """One connection at a time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __init__(self, port: int, counter: Counter) -> None:
        self._port = port
        self._counter = counter

    async def attack(self, send: Callable[["Client"], Awaitable[None]]) -> None:
        """One connection after the other; each sends until the server ends it."""
        while True:
            with suppress(OSError):
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
                self._counter.connections += 1
                try:
                    await send(self)
                finally:
                    self.writer.close()

    async def send(self, part: bytes) -> None:
        self.writer.write(part)
        await self.writer.drain()
        self._counter.bytes += len(part)


async def send_trailers(client: Client) -> None:
    await client.send(TRAILED)
    while True:
        await client.send(TRAILERS)


async def send_pipelines(client: Client) -> None:
    """Answers are read, so that nothing but the pipeline limits what is sent."""
    reading = asyncio.create_task(client.reader.read(-1))
    try:
        while not reading.done():
            await client.send(REQUESTS)
    finally:
        reading.cancel()


async def send_half(client: Client) -> None:
    """The beginning of a request."""
    await client.send(HEAD)
    await client.reader.read(-1)
    await asyncio.sleep(REST)


class Attack(NamedTuple):
    """What so many clients do."""

    name: str
    send: Callable[[Client], Awaitable[None]]
    clients: int


ATTACKS: Final = {
    "trailers": Attack("8 clients that send trailers without end", send_trailers, 8),
    "pipelines": Attack("8 clients that send 1,000 requests at once, again and again", send_pipelines, 8),
    "half-open": Attack("2,000 clients that send half a request and wait", send_half, 2_000),
}


async def attack(port: int, kind: str) -> Sent:
    """Until the input ends."""
    case, counter = ATTACKS[kind], Counter()
    clients = [asyncio.create_task(Client(port, counter).attack(case.send)) for _ in range(case.clients)]
    await work_until_told()
    for each in clients:
        each.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return Sent(counter.connections, counter.bytes / MB)


class Attackers:
    """All of them, as the one that measures has them."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion

    def end(self) -> Sent:
        return Sent(*self._companion.end())


@contextmanager
def attacking(port: int, kind: str) -> Iterator[Attackers]:
    with beside("attackers", port, kind) as companion:
        yield Attackers(companion)


if __name__ == "__main__":
    report(asyncio.run(attack(int(sys.argv[1]), sys.argv[2])))
