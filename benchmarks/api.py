"""A server under load: starts, reads, and from a start to the first step.

python -m benchmarks api
"""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

from benchmarks.harness.databases import databases
from benchmarks.harness.http import Answer, Connection, Load, Served, load, quantile, serving
from benchmarks.harness.targets import SERVER_READY, START_P50, START_P99
from benchmarks.row import Row

CONNECTIONS: Final = 32
SECONDS: Final = 30.0
READ_SECONDS: Final = 10.0
READS: Final = 3_000.0  # per second and process
PER_SECOND: Final = 100
PACED_SECONDS: Final = 10
IN_A_ROW: Final = 30
# Seconds: the clock of a node that has just begun is some milliseconds ahead, until it beats again.
SETTLED: Final = 5.0

WORKFLOW: Final[dict[str, Any]] = {
    "properties": {"owner": "bench", "run_strategy": "PARALLEL"},
    "workflow": {"id": "nothing", "steps": [{"step": {"id": "a", "type": "NoOp"}}]},
}
START: Final = "/api/v3/workflows/nothing/versions/latest/actions/start"
STARTED: Final[dict[str, Any]] = {"initiator": {"type": "manual"}}


async def start(connection: Connection) -> Answer:
    return await connection.ask("POST", START, STARTED)


async def read(connection: Connection) -> Answer:
    return await connection.ask("GET", "/api/v3/workflows/nothing/instances/1")


async def published(server: Served) -> None:
    connection = await Connection.to(server.port)
    answer = await connection.ask("POST", "/api/v3/workflows", WORKFLOW)
    assert answer.status == 200, answer.body
    await start(connection)
    await connection.close()


async def delays(server: Served, answers: list[Answer]) -> list[float]:
    """Milliseconds from each answer to the first step of its run. Steps note whole milliseconds."""
    connection = await Connection.to(server.port)
    found = []
    for answer in answers:
        number = answer.json()["workflow_instance_id"]
        path = f"/api/v3/workflows/nothing/instances/{number}/steps/a"
        for _ in range(1_000):
            step = await connection.ask("GET", path)
            begun = step.json().get("runtime_state", {}).get("start_time") if step.status == 200 else None
            if begun is not None:
                found.append(max(0.0, begun - 1e3 * answer.at))
                break
            await asyncio.sleep(0.01)
    await connection.close()
    return found


async def in_a_row(server: Served) -> list[float]:
    """Starts, one after the other, each when the one before has ended."""
    await asyncio.sleep(SETTLED)
    connection = await Connection.to(server.port)
    found = []
    for _ in range(IN_A_ROW):
        answer = await start(connection)
        await asyncio.sleep(0.05)  # who asks at once is in its way
        found += await delays(server, [answer])
    await connection.close()
    return found


async def paced(server: Served) -> list[float]:
    """So many starts a second, whoever is answered when."""
    connections = [await Connection.to(server.port) for _ in range(8)]
    answers: list[Answer] = []

    async def one(first: int) -> None:
        for number in range(first, PER_SECOND * PACED_SECONDS, len(connections)):
            await asyncio.sleep(max(0.0, begun + number / PER_SECOND - loop.time()))
            answers.append(await start(connections[first]))

    loop = asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.gather(*(one(first) for first in range(len(connections))))
    for each in connections:
        await each.close()
    return await delays(server, answers)


def under_load(name: str, found: Load, target: float | None, key: str) -> Iterator[Row]:
    yield Row(name, found.per_second, "requests/s", target, 0, key=key)
    yield Row(f"{name}, p50", found.p50, "ms", None, 0, key=f"{key}/p50")
    yield Row(f"{name}, p99", found.p99, "ms", None, 0, key=f"{key}/p99")
    yield Row(f"{name}, errors", found.errors, "", 0, 0, key=f"{key}/errors")


def late(name: str, found: list[float], key: str, p50: float | None) -> Iterator[Row]:
    yield Row(f"{name}, p50", quantile(found, 0.5), "ms", p50, 0, key=f"{key}/p50")
    yield Row(f"{name}, p99", quantile(found, 0.99), "ms", START_P99, 0, key=f"{key}/p99")


def run() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            with serving(into.new(database)) as server:
                ready = server.ready_after
                yield Row(f"server ready; {database}", ready, "s", SERVER_READY, 0, key=f"ready/{database}")
                asyncio.run(published(server))
                row = asyncio.run(in_a_row(server))
                yield from late(f"start to step, in a row; {database}", row, f"http/{database}", START_P50)
                reads = asyncio.run(load(server.port, CONNECTIONS, READ_SECONDS, read))
                yield from under_load(f"reads of a run; {database}", reads, READS, f"reads/{database}")
                pace = asyncio.run(paced(server))
                name = f"start to step, {PER_SECOND} starts/s; {database}"
                yield from late(name, pace, f"paced/{database}", None)
                starts = asyncio.run(load(server.port, CONNECTIONS, SECONDS, start))
                yield from under_load(f"starts; {database}", starts, None, f"starts/{database}")
