"""The trouble."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from chaos.arena import Arena
from chaos.disk import Disk
from chaos.mixed import Mixture
from chaos.nodes import NodeProcess
from chaos.storm import Storm, full_disk

LAST_ONE: Final = 0.1  # how often nobody need be left to take over

Scenario = Callable[[Arena], Awaitable[None]]


def kills(times: int, nodes: int) -> Scenario:
    """`kill -9` of nodes at random moments. Each comes back: before its lease has run out, so that the new
    process finds the old one dead, or after others have taken over.
    """

    async def scenario(arena: Arena) -> None:
        returns: set[asyncio.Task[None]] = set()

        async def come_back(after: float) -> None:
            await asyncio.sleep(after)
            arena.nodes.start()

        for _ in arena.rounds(times):
            await asyncio.sleep(arena.dice.uniform(0.2, arena.lease * 1.5))
            least = 1 if arena.dice.random() < LAST_ONE else 2
            while len(victims := [node for node in arena.nodes.alive if node.is_running]) < least:
                await asyncio.sleep(0.05)
            arena.nodes.kill(arena.dice.choice(victims))
            arena.troubles["kills"] += 1
            soon = arena.dice.random() < 0.5
            wait = arena.dice.uniform(0.0, 0.5) if soon else arena.lease * arena.dice.uniform(1.5, 2.5)
            task = asyncio.create_task(come_back(wait))
            returns.add(task)
            task.add_done_callback(returns.discard)
        await asyncio.gather(*returns)
        while len(arena.nodes.alive) < nodes:
            arena.nodes.start()

    return scenario


def freezes(times: int) -> Scenario:
    """Nodes that stand still beyond their lease, and go on as if nothing had happened."""

    async def scenario(arena: Arena) -> None:
        for _ in arena.rounds(times):
            await asyncio.sleep(arena.dice.uniform(0.5, 1.5))
            victim: NodeProcess = arena.dice.choice([node for node in arena.nodes.alive if node.is_running])
            arena.nodes.deaths.append(victim.freeze())
            arena.troubles["freezes"] += 1
            await asyncio.sleep(arena.lease * arena.dice.uniform(1.2, 3.0))
            victim.thaw()
            await asyncio.sleep(arena.lease)

    return scenario


def outages(times: int) -> Scenario:
    """The database goes away in the middle of everything, and comes back."""

    async def scenario(arena: Arena) -> None:
        for place in arena.rounds(times):
            await asyncio.sleep(arena.dice.uniform(1.0, 3.0))
            kill = bool(place % 2)
            await asyncio.to_thread(arena.database.stop, kill=kill)
            arena.troubles["server kills" if kill else "server stops"] += 1
            await asyncio.sleep(arena.lease * arena.dice.uniform(0.2, 2.0))
            await asyncio.to_thread(arena.database.start)
            await arena.until_owned()

    return scenario


def changes(times: int) -> Scenario:
    """Two nodes become three, then one, then two again: all of them leave gracefully."""

    async def scenario(arena: Arena) -> None:
        for _ in arena.rounds(times):
            arena.nodes.start()
            await arena.nodes.until_running()
            await asyncio.sleep(arena.lease)
            await arena.nodes.leave(*arena.nodes.alive[:2])
            arena.troubles["nodes left"] += 2
            await arena.until_owned()
            await asyncio.sleep(arena.lease / 2)
            arena.nodes.start()
            await arena.nodes.until_running()
            arena.troubles["nodes came"] += 2
            await asyncio.sleep(arena.lease / 2)

    return scenario


def mixed(times: int, nodes: int) -> Scenario:
    """Everything at the same time."""

    async def scenario(arena: Arena) -> None:
        await Mixture(arena, nodes).play(times)

    return scenario


def storm(nodes: int, disk: Disk | None) -> Scenario:
    """A fault every few seconds."""

    async def scenario(arena: Arena) -> None:
        await Storm(arena, nodes, disk).play()

    return scenario


def full_disks(times: int, disk: Disk) -> Scenario:
    """The disk of the database is full, for less or more than a lease."""

    async def scenario(arena: Arena) -> None:
        for _ in arena.rounds(times):
            await asyncio.sleep(arena.dice.uniform(1.0, 2.0))
            arena.troubles["full disks"] += 1
            await full_disk(arena, disk, arena.lease * arena.dice.uniform(0.5, 2.5))
            await arena.until_owned()

    return scenario
