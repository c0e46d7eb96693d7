"""A server while others make trouble: starts and processor time beside followers, how late it answers
`/health`, and how much memory it takes.

python -m benchmarks load

The server, followers, attackers and who asks for `/health` are processes of their own. Starts with followers
are compared with starts without any, before and after them, on the same server.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import mean
from time import perf_counter, sleep
from typing import Any, Final, NamedTuple

from benchmarks.harness.attackers import ATTACKS, attacking
from benchmarks.harness.databases import Databases, databases
from benchmarks.harness.followers import following
from benchmarks.harness.health import Lag, asking_health
from benchmarks.harness.http import Connection, Served, serving
from benchmarks.harness.targets import FOLLOWED
from benchmarks.harness.usage import Peak
from benchmarks.row import Row

STARTS: Final = 1_000  # for each measurement: as many as the most followers
CONNECTIONS: Final = 32  # that start
SETTLED: Final = 1.0  # seconds after the last start, in which its events are told
ATTACKED: Final = 10.0  # seconds
LOOK_EVERY: Final = 0.25  # seconds between two looks at the memory, each of which holds the process up
LOOP: Final = 25_000
CONCURRENCY: Final = 500
# Followers have connections of their own, and beyond 1,000 of them the rest would be refused.
SETTINGS: Final = {"STRETTO_SERVER_CONNECTIONS": "2000"}
PREFIX: Final = "/api/v3/workflows"
STARTED: Final[dict[str, Any]] = {"initiator": {"type": "manual"}}


class Following(NamedTuple):
    """How many follow what. `{workflow}` is the workflow that is started, `{}` the number of the follower."""

    name: str
    followers: int
    level: str
    topic: str
    silent: bool = False
    target: float | None = None


RUN: Final = "run:{workflow}/{{}}/1"
LIST: Final = "runs?workflow={workflow}"
FOLLOWINGS: Final = (
    Following("200 followers of a run each", 200, "full", RUN, target=FOLLOWED),
    Following("1,000 followers of a run each", 1_000, "full", RUN, target=FOLLOWED),
    Following("1,000 screens of a run each", 1_000, "view", RUN, target=FOLLOWED),
    Following("200 screens of one list", 200, "view", LIST, target=FOLLOWED),
    Following("1,000 screens of one list", 1_000, "view", LIST, target=FOLLOWED),
    Following(
        "1,000 screens of one list that do not read", 1_000, "view", LIST, silent=True, target=FOLLOWED
    ),
    Following("200 followers of every move", 200, "full", LIST),
    Following("200 followers of every move that do not read", 200, "full", LIST, silent=True),
)


class Found(NamedTuple):
    """Of some starts."""

    per_second: float
    cpu: float  # milliseconds of the server per start
    lag: Lag
    before: float  # megabytes
    peak: float


# ----------------------------------------------------------------------------------------------- definitions
def nothing(workflow_id: str) -> dict[str, Any]:
    step = {"step": {"id": "a", "type": "NoOp"}}
    return {
        "properties": {"owner": "bench", "run_strategy": "PARALLEL"},
        "workflow": {"id": workflow_id, "steps": [step]},
    }


def loop_in_a_loop() -> dict[str, Any]:
    """Within all limits of a definition; 625 million iterations."""

    def loop(step_id: str, step: dict[str, Any]) -> dict[str, Any]:
        numbers = {"type": "LONG_ARRAY", "value": list(range(LOOP))}
        params = {"loop_params": {"type": "MAP", "value": {step_id: numbers}}}
        return {"foreach": {"id": step_id, "concurrency": CONCURRENCY, "params": params, "steps": [step]}}

    steps = [loop("outer", loop("inner", {"step": {"id": "a", "type": "NoOp"}}))]
    return {"properties": {"owner": "bench"}, "workflow": {"id": "storm", "steps": steps}}


async def push(server: Served, definition: dict[str, Any]) -> None:
    connection = await Connection.to(server.port)
    answer = await connection.ask("POST", PREFIX, definition)
    assert answer.status == 200, answer.body
    await connection.close()


# ---------------------------------------------------------------------------------------------------- starts
async def start(server: Served, workflow_id: str, count: int) -> float:
    """Starts, each connection one after the other; how many there are in a second."""
    path = f"{PREFIX}/{workflow_id}/versions/latest/actions/start"
    left = iter(range(count))

    async def some() -> None:
        connection = await Connection.to(server.port)
        for _ in left:
            answer = await connection.ask("POST", path, STARTED)
            assert answer.status == 200, answer.body
        await connection.close()

    begun = perf_counter()
    await asyncio.gather(*(some() for _ in range(CONNECTIONS)))
    return count / (perf_counter() - begun)


def measured(server: Served, workflow_id: str, case: Following | None) -> Found:
    """Starts of a new workflow, whose runs have the numbers of their followers."""
    asyncio.run(push(server, nothing(workflow_id)))
    before = server.memory()
    with ExitStack() as stack:
        if case is not None:
            topic = case.topic.format(workflow=workflow_id)
            stack.enter_context(following(server.port, case.followers, case.level, topic, silent=case.silent))
        health = stack.enter_context(asking_health(server.port))
        peak = stack.enter_context(Peak(server, LOOK_EVERY))
        used = server.cpu()
        per_second = asyncio.run(start(server, workflow_id, STARTS))
        sleep(SETTLED)
        cpu = 1e3 * (server.cpu() - used) / STARTS
        lag = health.end()
    return Found(per_second, cpu, lag, before, peak.most)


def followed(into: Databases, database: str) -> Iterator[Row]:
    with serving(into.new(database), SETTINGS) as server:
        measured(server, "warm-up", None)
        earlier = measured(server, "alone", None)
        yield from of_starts("no followers", earlier, earlier, None)
        for number, case in enumerate(FOLLOWINGS):
            found = measured(server, f"followed-{number}", case)
            later = measured(server, f"alone-{number}", None)
            alone = earlier._replace(
                per_second=mean((earlier.per_second, later.per_second)), cpu=mean((earlier.cpu, later.cpu))
            )
            yield from of_starts(case.name, found, alone, case.target)
            earlier = later


def of_starts(name: str, found: Found, alone: Found, target: float | None) -> Iterator[Row]:
    key, times = f"load/{name}", found.per_second / alone.per_second
    beside = "" if found is alone else "no followers"
    yield Row(f"starts; {name}", found.per_second, "starts/s", None, times, beside, f"{key}/starts")
    factor = found.cpu / alone.cpu
    yield Row(f"processor time per start; {name}", found.cpu, "ms", None, factor, beside, f"{key}/cpu")
    if beside:
        yield Row(f"the same beside no followers; {name}", factor, "times", target, 0, key=f"{key}/factor")
    yield from of_server(name, found.lag, found.before, found.peak)


# --------------------------------------------------------------------------------------------------- attacks
def of_server(name: str, lag: Lag, before: float, peak: float) -> Iterator[Row]:
    key = f"load/{name}"
    for rank, value in (("p50", lag.p50), ("p99", lag.p99), ("max", lag.longest)):
        yield Row(f"/health, {rank}; {name}", value, "ms", None, 0, key=f"{key}/{rank}")
    yield Row(f"/health, refused; {name}", lag.failures, "", 0, 0, key=f"{key}/failures")
    yield Row(f"memory before; {name}", before, "MB", None, 0, key=f"{key}/before")
    yield Row(f"memory, peak; {name}", peak, "MB", None, 0, key=f"{key}/peak")


def attacked(into: Databases, database: str, kind: str | None) -> Iterator[Row]:
    """By clients of a kind, or by none."""
    with serving(into.new(database)) as server:
        before = server.memory()
        with ExitStack() as stack:
            health = stack.enter_context(asking_health(server.port))
            peak = stack.enter_context(Peak(server, LOOK_EVERY))
            if kind is not None:
                stack.enter_context(attacking(server.port, kind))
            sleep(ATTACKED)
            lag = health.end()
    yield from of_server("idle" if kind is None else ATTACKS[kind].name, lag, before, peak.most)


def stormed(into: Databases, database: str) -> Iterator[Row]:
    """A run that would take the node, if the node let it."""
    with serving(into.new(database)) as server:
        asyncio.run(push(server, loop_in_a_loop()))
        before = server.memory()
        with asking_health(server.port) as health, Peak(server, LOOK_EVERY) as peak:
            asyncio.run(start(server, "storm", 1))
            sleep(ATTACKED)
            lag = health.end()
    name = f"foreach {LOOP:,} x {LOOP:,}, {CONCURRENCY} at once"
    yield from of_server(name, lag, before, peak.most)


def run() -> Iterator[Row]:
    with databases() as into:
        database = into.kinds[0]
        yield from followed(into, database)
        for kind in (None, *ATTACKS):
            yield from attacked(into, database, kind)
        yield from stormed(into, database)
