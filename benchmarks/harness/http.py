"""A server of ours as a process, and connections that ask it as fast as they are answered.

The client reads as little as it can: what is measured is the server.
"""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic, perf_counter, sleep
from typing import Any, Final, NamedTuple
from urllib.request import urlopen

from benchmarks.harness.databases import free_port
from benchmarks.harness.program import ROOT, surroundings
from stretto.node.clock import SystemClock

CLOCK: Final = SystemClock()  # the one that steps note their times by
USER: Final = b"user: bench\r\n"


class Answer(NamedTuple):
    """What came back, and when."""

    status: int
    body: bytes
    at: float  # seconds since 1970

    def json(self) -> Any:
        return json.loads(self.body)


class Served(NamedTuple):
    """A server that listens."""

    port: int
    pid: int
    ready_after: float


@contextmanager
def serving(database: str) -> Iterator[Served]:
    """`stretto serve` on a database, from its start until it is told to stop."""
    port = free_port()
    stretto = [sys.executable, "-m", "stretto"]
    if not database.startswith("sqlite"):  # who shares a database says when its tables change
        upgrade = [*stretto, "db", "upgrade", "--db", database]
        subprocess.run(upgrade, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    command = [*stretto, "serve", "--port", str(port), "--db", database]
    begun = perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=surroundings(None)
    )
    try:
        _until_ready(port, process)
        yield Served(port, process.pid, perf_counter() - begun)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _until_ready(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = monotonic() + 60
    while monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            sleep(0.01)
    raise OSError(f"the server on port {port} does not answer")


class Connection:
    """One, that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int) -> "Connection":
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(reader, writer)

    async def ask(self, method: str, path: str, body: Any = None) -> Answer:
        text = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(text)}\r\n".encode()
        kind = b"content-type: application/json\r\n" if text else b""
        self._writer.write(b"".join((head, USER, kind, b"\r\n", text)))
        said = await self._reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in said.split(b"\r\n") if line[:15].lower() == b"content-length:"), 0
        )
        found = await self._reader.readexactly(length)
        return Answer(int(said[9:12]), found, CLOCK.now() / 1e3)

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


class Load(NamedTuple):
    """What many connections were answered in some seconds."""

    per_second: float
    p50: float  # milliseconds
    p99: float
    errors: int
    answers: list[Answer]


async def load(
    port: int, connections: int, seconds: float, ask: Callable[[Connection], Awaitable[Answer]]
) -> Load:
    """Each connection asks again as soon as it is answered."""
    spent: list[float] = []
    answers: list[Answer] = []
    end = perf_counter() + seconds

    async def one() -> None:
        connection = await Connection.to(port)
        while (begun := perf_counter()) < end:
            answers.append(await ask(connection))
            spent.append(perf_counter() - begun)
        await connection.close()

    begun = perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    took = perf_counter() - begun
    errors = sum(answer.status != 200 for answer in answers)
    return Load(len(spent) / took, 1e3 * quantile(spent, 0.5), 1e3 * quantile(spent, 0.99), errors, answers)


def quantile(values: list[float], part: float) -> float:
    """The value below which this part of all of them is."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
