"""Two processes on one PostgreSQL: one is killed, the other finishes its runs. Nothing is lost, and no step
that was completed is repeated.
"""

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import asyncpg
import pytest
from tests.flow_engine.crowd import STEPS
from tests.flow_engine.flows import finish
from tests.ports.postgresql_server import PostgresServer
from tests.waiting import until

from stretto.actions.caller import Caller
from stretto.actions.start import start
from stretto.engine.records import RunKey
from stretto.model.initiator import ManualInitiator
from stretto.model.param import ParamDefinition, ParamType
from stretto.model.request import StartRequest
from stretto.model.status import RunStatus, StepStatus
from stretto.model.user import User
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.store import Store
from stretto.store.opening import open_store
from stretto.store.postgresql.hints import PostgresHints

ANN = Caller(user=User(name="root"))
ROOT = Path(__file__).parents[2]
WITHIN = 15.0  # seconds from the kill until another process has finished everything
PATIENCE = 200.0  # the same, on a machine that is busy with other things


class Worker:
    """A process that runs what is in the database."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "tests.flow_engine.crowd", url],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def two_workers(url: str) -> Iterator[list[Worker]]:
    workers = [Worker(url)]
    try:
        workers[0].ready()  # which has made the tables, so that the other finds them
        workers.append(Worker(url))
        workers[1].ready()
        yield workers
    finally:
        for each in workers:
            each.kill()


async def submit(store: Store, url: str, ledger: Path, count: int) -> list[RunKey]:
    hints = PostgresHints(url)
    try:
        keys = []
        for _ in range(count):
            request = StartRequest(
                initiator=ManualInitiator(),
                run_params={"ledger": ParamDefinition(type=ParamType.STRING, value=str(ledger))},
            )
            made = await start(store, ANN, "crowd", "active", request, hints=hints)
            keys.append(RunKey("crowd", made.workflow_instance_id, made.workflow_run_id))
        return keys
    finally:
        await hints.close()


async def ended(store: Store, keys: list[RunKey]) -> float:
    """How long it took until all of them had ended well."""
    begun = time.monotonic()
    left = set(keys)

    async def none_left() -> bool:
        for key in list(left):
            row = await read_run(store, key)
            assert row is not None
            assert row.quarantined is None
            if row.record.status.is_terminal:
                assert row.record.status is RunStatus.SUCCEEDED
                left.discard(key)
        return not left

    await until(none_left, "the end of all runs", PATIENCE)
    return time.monotonic() - begun


async def check(store: Store, keys: list[RunKey], ledger: Path) -> int:
    """Each step succeeded in one attempt, and none began again after the next one. How many were begun twice,
    because their process died in the middle of them.
    """
    lines = (await asyncio.to_thread(ledger.read_text)).splitlines()
    places: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if line.startswith("begin"):
            places.setdefault(line, []).append(at)
    twice = 0
    for key in keys:
        steps = await store.attempts(NewestAttempts((key,)))
        assert [each.record.status for each in steps] == [StepStatus.SUCCEEDED] * STEPS
        assert {each.key.number for each in steps} == {1}
        for number in range(1, STEPS + 1):
            begun = places[f"begin {key.workflow_id}/{key.instance_id} {number}"]
            later = places.get(f"begin {key.workflow_id}/{key.instance_id} {number + 1}", [])
            twice += len(begun) - 1
            assert not later or max(begun) < min(later), f"step {number} of {key} was repeated"
    return twice


async def kills(url: str, folder: Path, rounds: int, runs: int) -> list[tuple[float, int]]:
    """For each kill: how long until everything had ended, and how many steps were begun twice."""
    dice = random.Random(7)  # noqa: S311 - dice, not secrets
    found = []
    with two_workers(url) as workers:
        store = await open_store(url)
        try:
            for number in range(rounds):
                ledger = folder / f"ledger {number}"
                ledger.touch()
                keys = await submit(store, url, ledger, runs)
                await asyncio.sleep(dice.uniform(0.0, 0.3))
                victim = dice.randrange(2)
                workers[victim].kill()
                took = await ended(store, keys)
                found.append((took, await check(store, keys, ledger)))
                print(f"kill {number + 1}: {took:.1f} s, {found[-1][1]} begun again", flush=True)  # noqa: T201
                workers[victim] = Worker(url)
                workers[victim].ready()
        finally:
            await store.close()
    return found


async def database(server: PostgresServer, name: str) -> str:
    connection = await asyncpg.connect(server.url())
    try:
        await connection.execute(f'CREATE DATABASE "{name}"')
    finally:
        await connection.close()
    return server.url(name)


def test_another_process_finishes_what_a_killed_one_left(
    own_postgresql: PostgresServer, tmp_path: Path
) -> None:
    async def work() -> list[tuple[float, int]]:
        return await kills(await database(own_postgresql, "take_over"), tmp_path, 1, 20)

    assert len(finish(work(), 250)) == 1


@pytest.mark.prove
def test_a_hundred_kills(own_postgresql: PostgresServer, tmp_path: Path) -> None:
    async def work() -> list[tuple[float, int]]:
        return await kills(await database(own_postgresql, "hundred_kills"), tmp_path, 100, 20)

    found = finish(work(), 7_200)
    times = sorted(took for took, _ in found)
    print(  # noqa: T201 - the figures are the point
        f"\n{len(times)} kills, {len(times) * 20} runs: p50 {median(times):.1f} s, "
        f"p90 {times[len(times) * 9 // 10]:.1f} s, most {times[-1]:.1f} s; "
        f"{sum(twice for _, twice in found)} steps were under way and begun again"
    )
    assert times[-1] < WITHIN
