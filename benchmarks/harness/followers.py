"""Followers of live events in a process of their own, so that what they cost is not the server's.

python -m benchmarks.harness.followers PORT COUNT reading|silent LEVEL TOPIC

`TOPIC` may have a `{}` for the number of the follower. It prints a line when all of them follow, and another
one, with what they have heard, when its input ends.
"""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Final, NamedTuple
from urllib.parse import quote

from benchmarks.harness.program import ROOT, surroundings

AT_ONCE: Final = 50  # that connect together
SMALL: Final = 4_096  # bytes that the system takes for one that does not read


class Heard(NamedTuple):
    """What all of them have heard together."""

    messages: int
    resyncs: int
    bytes: int
    lost: int  # connections that the server has ended


class Counter:
    """Counts what comes; a message may come in parts."""

    def __init__(self) -> None:
        self.messages = self.resyncs = self.bytes = self.lost = 0

    def take(self, part: bytes) -> None:
        self.messages += part.count(b"event: ")
        self.resyncs += part.count(b"event: resync")
        self.bytes += len(part)


class Follower(asyncio.Protocol):
    """One connection. A silent one stops to read when it has been greeted."""

    def __init__(self, request: bytes, counter: Counter, *, silent: bool) -> None:
        self._request = request
        self._counter = counter
        self._silent = silent
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._counter.take(data)
        if not self.greeted.done() and b"event: hello" in data:
            self.greeted.set_result(None)
            if self._silent:
                self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._counter.lost += 1
        if not self.greeted.done():
            self.greeted.set_exception(exc or OSError("the server has ended the connection"))


def request(level: str, topic: str) -> bytes:
    path = f"/api/v3/events?level={level}&topic={quote(topic, safe='')}"
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


async def follow(port: int, count: int, level: str, topic: str, *, silent: bool) -> Counter:
    """Until the input ends."""
    loop = asyncio.get_running_loop()
    counter = Counter()
    places = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        link = socket.socket()
        if silent:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        link.setblocking(False)
        asked = request(level, topic.format(number))
        async with places:
            await loop.sock_connect(link, ("127.0.0.1", port))
            _, made = await loop.create_connection(lambda: Follower(asked, counter, silent=silent), sock=link)
            await made.greeted

    await asyncio.gather(*(one(number) for number in range(count)))
    print("following", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    return counter


def main() -> None:
    port, count, how, level, topic = sys.argv[1:]
    counter = asyncio.run(follow(int(port), int(count), level, topic, silent=how == "silent"))
    print(json.dumps([counter.messages, counter.resyncs, counter.bytes, counter.lost]), flush=True)


class Followers:
    """The process, as the one that measures has it."""

    def __init__(self, process: "Popen[str]") -> None:
        self._process = process

    def end(self) -> Heard:
        """Let all of them go."""
        said, _ = self._process.communicate()
        return Heard(*json.loads(said))


@contextmanager
def following(port: int, count: int, level: str, topic: str, *, silent: bool) -> Iterator[Followers]:
    """So many followers, from the moment when all of them were greeted."""
    how = "silent" if silent else "reading"
    command = [sys.executable, "-m", "benchmarks.harness.followers", str(port), str(count), how, level, topic]
    process = Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True, env=surroundings(None))
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise OSError(f"{count} followers could not connect")
        yield Followers(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
