"""Two processes at one database: one writes for its groups, the other takes them over meanwhile.

Whatever the first was told to be stored is there when the second has claimed, and nothing comes after.
"""

import asyncio
import multiprocessing
import random
from multiprocessing.connection import Connection
from typing import NamedTuple

from stretto.engine.records import RunKey
from stretto.ports.places import GROUPS
from stretto.ports.rows import NodeId
from stretto.ports.run_snapshot import NewestAttempts
from stretto.ports.store import Store
from stretto.store.opening import open_store
from stretto.testing.store_suite.owner import Owner
from stretto.testing.store_suite.world import World, attempt_record


class Round(NamedTuple):
    """What the second saw after its claim, what the first was told is stored, and what is there then."""

    seen: list[str]
    stored: list[str]
    left: list[str]


def race(url: str, rounds: int) -> list[Round]:
    """The second process is this one."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    first = spawn.Process(target=_first, args=(url, there))
    first.start()
    there.close()
    try:
        return asyncio.run(_second(url, rounds, here))
    finally:
        here.close()
        first.join(30)


# ------------------------------------------------------------------------------------------------- the first
def _first(url: str, pipe: Connection) -> None:
    asyncio.run(_write_until_fenced(url, pipe))


async def _write_until_fenced(url: str, pipe: Connection) -> None:
    store = await open_store(url)
    while True:
        try:
            node, run = await asyncio.to_thread(pipe.recv)
        except (EOFError, ConnectionResetError):
            break
        await store.join(node)
        owner = Owner(store, node)
        owner.hold(await store.claim(node, GROUPS))
        await owner.launch(run)
        group = await owner.group_of(run)
        await asyncio.to_thread(pipe.send, "ready")
        stored: list[str] = []
        while True:
            name = f"step-{len(stored):03}"
            if group in (await owner.decide(run, records=(attempt_record(run, name),))).fenced:
                break
            stored.append(name)
        await asyncio.to_thread(pipe.send, stored)
    await store.close()


# ------------------------------------------------------------------------------------------------ the second
async def _second(url: str, rounds: int, pipe: Connection) -> list[Round]:
    store = await open_store(url)
    world = World(store, lambda: open_store(url), _stand_still)
    await world.publish()
    dice = random.Random(7)  # noqa: S311 - some mix of times
    try:
        return [await _round(world, store, number, dice.random() / 50, pipe) for number in range(rounds)]
    finally:
        await store.close()


async def _round(world: World, store: Store, number: int, wait: float, pipe: Connection) -> Round:
    run = await world.start()
    loser = NodeId(f"first-{number}")
    await asyncio.to_thread(pipe.send, (loser, run))
    await asyncio.to_thread(pipe.recv)
    await asyncio.sleep(wait)
    assert await store.bury(loser, 1, expired=False) is not None
    heir = await world.owner(f"second-{number}")
    while len(heir.leases) < GROUPS:  # a claim passes groups that the loser is just looking at
        heir.hold(await store.claim(heir.node, GROUPS))
    seen = await _steps(store, run)
    await heir.decide(run, records=(attempt_record(run, "heir"),))
    stored: list[str] = await asyncio.to_thread(pipe.recv)
    left = await _steps(store, run)
    await heir.end(run)
    await store.leave(heir.node)
    return Round(seen, stored, left)


async def _steps(store: Store, run: RunKey) -> list[str]:
    return sorted(row.key.step_id for row in await store.attempts(NewestAttempts((run,))))


async def _stand_still(_milliseconds: int) -> None:
    """Time passes by itself."""
