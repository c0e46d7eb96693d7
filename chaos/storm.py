"""The storm: a fault every few seconds, of every kind there is, while others still last.

With more than one node, one of them is well all the time: what is due has somebody who can do it, unless the
database is away.
"""

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Final

from chaos.arena import Arena
from chaos.disk import Disk
from chaos.nodes import NodeProcess

APART: Final = (6.0, 14.0)  # seconds between two faults
FROZEN: Final = (3.0, 3.4)  # leases: 32 s with the default ones
READY_WITHIN: Final = 120.0

Doing = Coroutine[Any, Any, None]
Harm = Callable[[], Doing | None]  # None: not now


class Storm:
    """Each kind of fault once, in any order, then each of them again."""

    def __init__(self, arena: Arena, nodes: int, disk: Disk | None) -> None:
        self._arena = arena
        self._nodes = nodes
        self._disk = disk
        self._tasks: set[asyncio.Task[None]] = set()
        self._bag: list[Harm] = []

    def _harms(self) -> list[Harm]:
        is_server = self._arena.database.is_server
        return [
            self._kill,
            self._freeze,
            *([self._stop_database] if is_server else []),
            *([self._fill_disk] if self._disk is not None else []),
        ]

    async def play(self) -> None:
        end = monotonic() + self._arena.campaign.seconds
        while (pause := self._arena.dice.uniform(*APART)) < end - monotonic():
            await asyncio.sleep(pause)
            self._harm()
        await asyncio.gather(*self._tasks)
        async with asyncio.timeout(READY_WITHIN):
            while sum(map(self._arena.is_well, self._arena.nodes.alive)) < self._nodes:
                self._keep_up()
                await asyncio.sleep(0.1)
        await self._arena.until_owned()

    def _harm(self) -> None:
        """The next one that can be done now."""
        if not self._bag:
            self._bag = self._harms()
            self._arena.dice.shuffle(self._bag)
        for place, harm in enumerate(self._bag):
            doing = harm()
            if doing is not None:
                del self._bag[place]
                task = asyncio.create_task(doing)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
        self._bag.clear()
        self._arena.troubles["nothing left to harm"] += 1

    def _victim(self) -> NodeProcess | None:
        well = [node for node in self._arena.nodes.alive if self._arena.is_well(node)]
        return self._arena.dice.choice(well) if len(well) > min(1, self._nodes - 1) else None

    def _keep_up(self) -> None:
        """Start those that are missing. One that found no database when it started has ended, rightly."""
        self._arena.nodes.forget_unstarted()
        while len(self._arena.nodes.alive) < self._nodes:
            self._arena.nodes.start()

    def _note(self, trouble: str) -> None:
        self._arena.troubles[trouble] += 1

    # -------------------------------------------------------------------------------------------------- nodes
    def _kill(self) -> Doing | None:
        victim = self._victim()
        return None if victim is None else self._kill_one(victim)

    async def _kill_one(self, victim: NodeProcess) -> None:
        self._arena.nodes.kill(victim)
        self._note("kills")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.0, 2.0))
        self._keep_up()

    def _freeze(self) -> Doing | None:
        victim = self._victim()
        return None if victim is None else self._freeze_one(victim)

    async def _freeze_one(self, victim: NodeProcess) -> None:
        """At a moment when launches wait in it: there are always more than slots."""
        self._arena.nodes.deaths.append(victim.freeze())
        self._note("freezes")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(*FROZEN))
        victim.thaw()

    # ----------------------------------------------------------------------------------------------- database
    def _stop_database(self) -> Doing | None:
        return self._outage() if self._arena.database_answers else None

    async def _outage(self) -> None:
        """At once, as by a loss of power: PostgreSQL with `-m immediate`, MariaDB with `kill -9`."""
        self._arena.database_answers = False
        await asyncio.to_thread(self._arena.database.stop, kill=True)
        self._note("server kills")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.2, 1.5))
        await asyncio.to_thread(self._arena.database.start)
        self._arena.database_answers = True
        self._keep_up()

    def _fill_disk(self) -> Doing | None:
        disk = self._disk
        return None if disk is None or not self._arena.database_answers else self._full_disk(disk)

    async def _full_disk(self, disk: Disk) -> None:
        self._arena.database_answers = False
        self._note("full disks")
        await full_disk(self._arena, disk, self._arena.lease * self._arena.dice.uniform(0.5, 1.5))
        self._arena.database_answers = True
        self._keep_up()


async def full_disk(arena: Arena, disk: Disk, seconds: float) -> None:
    """For so long. A server that gives up is started again when there is room."""
    await asyncio.to_thread(disk.fill)
    await asyncio.sleep(seconds)
    disk.free()
    if arena.database.is_down:
        arena.troubles["servers that gave up"] += 1
        await asyncio.to_thread(arena.database.stop, kill=True)  # what is left of it
        await asyncio.to_thread(arena.database.start)
