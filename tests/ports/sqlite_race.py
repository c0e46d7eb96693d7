"""Two processes on a SQLite file that take over from each other."""

import asyncio
import random
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

from stretto.engine.records import RunKey
from stretto.ports.rows import NodeId
from stretto.store.sqlite import open_sqlite
from stretto.testing.store_suite.world import World, attempt_record

SPAWN = get_context("spawn")


class Round(NamedTuple):
    """How one race between an owner and its heir ended."""

    fenced: bool  # the owner was told that it is no owner any more
    seen: bool  # the heir saw what the owner wrote
    late: bool  # a commit of the owner after the take-over was refused


async def _world(path: Path) -> World:
    store = await open_sqlite(path)

    async def nothing(_milliseconds: int) -> None:
        return

    return World(store, lambda: open_sqlite(path), nothing)


async def _own(path: Path, rounds: int, heir: Connection, gate: Barrier, answers: Connection) -> None:
    """Each round: own everything, say so, then commit while the other takes over."""
    world = await _world(path)
    await world.publish()
    dice = random.Random(1)  # noqa: S311 - some mix of times
    for number in range(rounds):
        owner = await world.owner(f"old-{number}")
        run = await world.live(owner)
        group = await owner.group_of(run)
        heir.send((number, tuple(run)))
        gate.wait()
        await asyncio.sleep(dice.random() / 500)
        done = await owner.decide(run, records=(attempt_record(run, "raced"),))
        seen = heir.recv()
        late = await owner.decide(run, records=(attempt_record(run, "late"),))
        answers.send(Round(bool(done.fenced), seen, late.fenced == {group}))
        heir.recv()  # everything is free again
    await world.store.close()


async def _inherit(path: Path, rounds: int, owner: Connection, gate: Barrier) -> None:
    """Each round: bury the owner, claim what it had, and read."""
    world = await _world(path)
    dice = random.Random(2)  # noqa: S311 - some mix of times
    for _ in range(rounds):
        number, key = owner.recv()
        gate.wait()
        await asyncio.sleep(dice.random() / 500)
        await world.store.bury(NodeId(f"old-{number}"), 1, expired=False)
        heir = await world.owner(f"new-{number}")
        (flow,) = await world.store.load_flows([RunKey(*key)])
        owner.send(bool(flow.attempts))
        await heir.end(RunKey(*key))
        await world.store.leave(heir.node)
        owner.send(None)
    await world.store.close()


def own(path: Path, rounds: int, heir: Connection, gate: Barrier, answers: Connection) -> None:
    asyncio.run(_own(path, rounds, heir, gate, answers))


def inherit(path: Path, rounds: int, owner: Connection, gate: Barrier) -> None:
    asyncio.run(_inherit(path, rounds, owner, gate))


def race(path: Path, rounds: int) -> list[Round]:
    """Two processes that fence each other."""
    here, there = SPAWN.Pipe()
    answers, telling = SPAWN.Pipe(duplex=False)
    gate = SPAWN.Barrier(2, timeout=60)
    processes: list[BaseProcess] = [
        SPAWN.Process(target=own, args=(path, rounds, here, gate, telling)),
        SPAWN.Process(target=inherit, args=(path, rounds, there, gate)),
    ]
    for process in processes:
        process.start()
    telling.close()
    found = [answers.recv() for _ in range(rounds)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    return found
