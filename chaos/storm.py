"""The storm: a fault every few seconds, of every kind there is, while others still last.

With more than one node, one of them is well all the time: what is due has somebody who can do it, unless the
database is away.
"""

import asyncio
from time import monotonic
from typing import Final

from chaos.arena import Arena
from chaos.clock_faults import ClockFaults
from chaos.deadly import disarm
from chaos.disk import Disk
from chaos.harm import Doing, Harm
from chaos.insistence import insist
from chaos.network_faults import NetworkFaults
from chaos.nodes import NodeProcess
from stretto.ports.run_snapshot import read_run

FROZEN: Final = (3.0, 3.4)  # leases: 32 s with the default ones
PLANTED: Final = (0.1, 0.4)  # of the storm, when the run that kills its owner is started
PLANT: Final = "plant"  # the harm of that run
SET_ASIDE_WITHIN: Final = 300.0
READY_WITHIN: Final = 120.0


class Storm:
    """Each kind of fault once, in any order, then each of them again."""

    def __init__(self, arena: Arena, nodes: int, disk: Disk | None) -> None:
        self._arena = arena
        self._nodes = nodes
        self._disk = disk
        self._planted = False  # a run kills nodes now, and nobody else may
        self._tasks: set[asyncio.Task[None]] = set()
        self._bag: list[Harm] = []
        self._clocks = ClockFaults(arena, self)

    def _harms(self) -> list[Harm]:
        """Those that can be had here, and are wanted."""
        harms: dict[str, Harm] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "kill-api": self._kill_api,
            **NetworkFaults(self._arena, self).all(),
            **self._clocks.all(),
        }
        if self._arena.database.is_server:
            harms["stop-database"] = self._stop_database
        if self._disk is not None:
            harms["fill-disk"] = self._fill_disk
        return [harm for name, harm in harms.items() if self._wants(name)]

    def _wants(self, harm: str) -> bool:
        wanted = self._arena.campaign.harms
        return not wanted or harm in wanted

    async def play(self) -> None:
        end = monotonic() + self._arena.campaign.seconds
        if self._wants(PLANT):
            self._begin(self._plant())
        reviving = asyncio.create_task(self._revive())
        while (pause := self._arena.dice.uniform(*self._arena.campaign.apart)) < end - monotonic():
            await asyncio.sleep(pause)
            self._harm()
        await asyncio.gather(*self._tasks)
        reviving.cancel()
        async with asyncio.timeout(READY_WITHIN):
            while sum(map(self._arena.is_well, self._arena.nodes.alive)) < self._nodes:
                self.keep_up()
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
                self._begin(doing)
                return
        self._arena.troubles["nothing that could be done"] += 1

    def _begin(self, doing: Doing) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def victim(self) -> NodeProcess | None:
        if self._planted:
            return None
        well = [node for node in self._arena.nodes.alive if self._arena.is_well(node)]
        return self._arena.dice.choice(well) if len(well) > min(1, self._nodes - 1) else None

    def keep_up(self) -> None:
        """Start those that are missing. One that found no database when it started has ended, rightly."""
        self._arena.nodes.forget_unstarted()
        while len(self._arena.nodes.alive) < self._nodes:
            self._arena.nodes.start()

    def note(self, trouble: str) -> None:
        self._arena.troubles[trouble] += 1

    # -------------------------------------------------------------------------------------------------- nodes
    def _kill_api(self) -> Doing:
        return self._kill_one_api()

    async def _kill_one_api(self) -> None:
        self._arena.api.kill()
        self.note("kills of the API")

    def _kill(self) -> Doing | None:
        victim = self.victim()
        return None if victim is None else self._kill_one(victim)

    async def _kill_one(self, victim: NodeProcess) -> None:
        self._arena.nodes.kill(victim)
        self.note("kills")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.0, 2.0))
        self.keep_up()

    def _freeze(self) -> Doing | None:
        victim = self.victim()
        return None if victim is None else self._freeze_one(victim)

    async def _freeze_one(self, victim: NodeProcess) -> None:
        """At a moment when launches wait in it: there are always more than slots."""
        self._arena.nodes.deaths.append(victim.freeze())
        self.note("freezes")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(*FROZEN))
        victim.thaw()

    async def _plant(self) -> None:
        """A run that kills whoever decides about it. Meanwhile nobody else harms nodes, so that it must be
        set aside at the fourth death.
        """
        arena = self._arena
        await asyncio.sleep(arena.campaign.seconds * arena.dice.uniform(*PLANTED))
        self._planted = True
        key = await arena.feeder.plant()
        self.note("planted runs")
        try:
            async with asyncio.timeout(min(SET_ASIDE_WITHIN, 3 * arena.campaign.patience)):
                while (
                    row := await insist(lambda: read_run(arena.store, key))
                ) is None or not row.quarantined:
                    await asyncio.sleep(0.1)
        except TimeoutError:  # the judge says so
            disarm(arena.folder)
        self._planted = False

    async def _revive(self) -> None:
        """Others start again what a run has killed."""
        while True:
            await asyncio.sleep(0.5)
            killed = {death.pid for death in self._arena.nodes.killed_by_a_run}
            if any(node.code is not None and node.pid in killed for node in self._arena.nodes.alive):
                self.note("deaths by a run")
                self.keep_up()

    # ----------------------------------------------------------------------------------------------- database
    def _stop_database(self) -> Doing | None:
        return self._outage() if self._arena.database_answers else None

    async def _outage(self) -> None:
        """At once, as by a loss of power: PostgreSQL with `-m immediate`, MariaDB with `kill -9`."""
        self._arena.database_answers = False
        await asyncio.to_thread(self._arena.database.stop, kill=True)
        self.note("server kills")
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.2, 1.5))
        await asyncio.to_thread(self._arena.database.start)
        self._arena.database_answers = True
        self.keep_up()

    def _fill_disk(self) -> Doing | None:
        disk = self._disk
        return None if disk is None or not self._arena.database_answers else self._full_disk(disk)

    async def _full_disk(self, disk: Disk) -> None:
        self._arena.database_answers = False
        self.note("full disks")
        await full_disk(self._arena, disk, self._arena.lease * self._arena.dice.uniform(0.5, 1.5))
        self._arena.database_answers = True
        self.keep_up()


async def full_disk(arena: Arena, disk: Disk, seconds: float) -> None:
    """For so long. A server that gives up is started again when there is room."""
    await asyncio.to_thread(disk.fill)
    await asyncio.sleep(seconds)
    disk.free()
    if arena.database.is_down:
        arena.troubles["servers that gave up"] += 1
        await asyncio.to_thread(arena.database.stop, kill=True)  # what is left of it
        await asyncio.to_thread(arena.database.start)
