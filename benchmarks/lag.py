"""Reads and pushes of large runs through a server: how long each takes, how that grows, and how long the
event loop is held meanwhile, as another connection sees it that asks for `/health` all the time.

python -m benchmarks lag
"""

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Any, Final

from benchmarks.harness.databases import databases
from benchmarks.harness.http import Connection, Served, serving
from benchmarks.harness.targets import GROWTH, HELD, LARGE_READ
from benchmarks.row import Row

STEPS: Final = 5_000
TENTH: Final = STEPS // 10
ITERATIONS: Final = 50_000
TIMES: Final = 3
PREFIX: Final = "/api/v3/workflows"
READS: Final = {
    "definition": "/versions/latest",
    "source": "/versions/latest/source",
    "difference of versions": "/versions/diff?from=1&to=latest",
    "graph": "/versions/latest/graph",
    "run": "/instances/1",
    "steps": "/instances/1/runs/1/steps",
    "one step": "/instances/1/steps/s7",
    "state": "/instances/1/state",
    "why a step": "/instances/1/steps/s7/why",
    "statistics": "/stats",
}


def definition(workflow_id: str, steps: int) -> dict[str, Any]:
    """A chain of steps with a parameter each."""
    made: list[Any] = []
    for place in range(steps):
        following = {f"s{place + 1}": "true"} if place + 1 < steps else {}
        params = {"x": {"type": "STRING", "value": "a text"}}
        step = {"id": f"s{place}", "type": "NoOp", "transition": {"successors": following}, "params": params}
        made.append({"step": step})
    return {"properties": {"owner": "bench"}, "workflow": {"id": workflow_id, "steps": made}}


def loop_definition() -> dict[str, Any]:
    numbers = {"type": "LONG_ARRAY", "value": list(range(ITERATIONS))}
    loop = {
        "id": "each",
        "params": {"loop_params": {"type": "MAP", "value": {"i": numbers}}},
        "steps": [{"step": {"id": "inner", "type": "NoOp"}}],
    }
    return {"properties": {"owner": "bench"}, "workflow": {"id": "loop", "steps": [{"foreach": loop}]}}


class Watch:
    """A connection that asks for `/health` from one answer to the next; the longest wait counts."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.longest = 0.0

    async def run(self) -> None:
        connection = await Connection.to(self._port)
        while True:
            begun = perf_counter()
            await connection.ask("GET", "/health")
            self.longest = max(self.longest, perf_counter() - begun)
            await asyncio.sleep(0.001)


async def measured(server: Served, method: str, path: str, body: Any = None) -> tuple[float, float]:
    """Milliseconds of the request, and those that the loop was held; the best of some, as others use the
    machine, too.
    """
    connection = await Connection.to(server.port)
    spent: list[float] = []
    held: list[float] = []
    for _ in range(TIMES):
        watch = Watch(server.port)
        watching = asyncio.create_task(watch.run())
        begun = perf_counter()
        answer = await connection.ask(method, path, body)
        spent.append(1e3 * (perf_counter() - begun))
        watching.cancel()
        held.append(1e3 * watch.longest)
        assert answer.status == 200, answer.body[:500]
    await connection.close()
    return min(spent), min(held)


async def fill(server: Served) -> None:
    connection = await Connection.to(server.port)
    for body in (definition("small", TENTH), definition("large", STEPS), loop_definition()):
        name = body["workflow"]["id"]
        await connection.ask("POST", PREFIX, body)
        started = {"initiator": {"type": "manual"}}
        await connection.ask("POST", f"{PREFIX}/{name}/versions/latest/actions/start", started)
        while True:
            answer = await connection.ask("GET", f"{PREFIX}/{name}/instances/1?fields=status")
            if answer.json().get("status") == "SUCCEEDED":
                break
            await asyncio.sleep(0.05)
    await connection.close()


def compared(name: str, database: str, small: float, large: tuple[float, float]) -> Iterator[Row]:
    spent, held = large
    key = f"lag/{name}/{database}"
    yield Row(f"{name} of {STEPS:,} steps; {database}", spent, "ms", LARGE_READ, 0, key=key)
    yield Row(f"{name}, the loop is held; {database}", held, "ms", HELD, 0, key=f"{key}/held")
    factor = spent / small
    beside = f"{name} of {STEPS:,} beside {TENTH:,}; {database}"
    yield Row(beside, factor, "times", GROWTH, factor / 10, "linear time", f"{key}/growth")


def run() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            with serving(into.new(database)) as server:
                asyncio.run(fill(server))
                for name, path in READS.items():
                    small, _held = asyncio.run(measured(server, "GET", f"{PREFIX}/small{path}"))
                    large = asyncio.run(measured(server, "GET", f"{PREFIX}/large{path}"))
                    yield from compared(name, database, small, large)
                small, _held = asyncio.run(measured(server, "POST", PREFIX, definition("small", TENTH)))
                large = asyncio.run(measured(server, "POST", PREFIX, definition("large", STEPS)))
                yield from compared("push", database, small, large)
                spent, held = asyncio.run(measured(server, "GET", f"{PREFIX}/loop/instances/1/steps/each"))
                name = f"a loop of {ITERATIONS:,}; {database}"
                yield Row(name, spent, "ms", LARGE_READ, 0, key=f"lag/loop/{database}")
                held_name = f"{name}, the loop is held"
                yield Row(held_name, held, "ms", HELD, 0, key=f"lag/loop/{database}/held")
