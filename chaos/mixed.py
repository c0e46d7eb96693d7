"""Trouble that does not come alone: kills, freezes and outages at the same time, in any order."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from chaos.arena import Arena
from chaos.nodes import NodeProcess


class Mixture:
    """One kind of harm begins while another is still going on."""

    def __init__(self, arena: Arena, nodes: int) -> None:
        self._arena = arena
        self._nodes = nodes
        self._tasks: set[asyncio.Task[None]] = set()
        self._away = False  # the database

    async def play(self, times: int) -> None:
        arena = self._arena
        harms = [self._kill, self._freeze, *([self._cut_off] if arena.database.is_server else [])]
        for _ in arena.rounds(times):
            await asyncio.sleep(arena.lease * arena.dice.uniform(0.3, 2.5))
            self._later(arena.dice.choice(harms)())
        await asyncio.gather(*self._tasks)
        async with asyncio.timeout(60):
            while len([node for node in arena.nodes.alive if node.is_running]) < self._nodes:
                self._keep_up()
                await asyncio.sleep(0.1)
        await arena.until_owned()

    def _later(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _somebody(self) -> NodeProcess | None:
        found = [node for node in self._arena.nodes.alive if node.is_running and not node.frozen]
        return self._arena.dice.choice(found) if found else None

    def _keep_up(self) -> None:
        """Start those that are missing. One that found no database when it began has ended, rightly."""
        self._arena.nodes.forget()
        while len(self._arena.nodes.alive) < self._nodes:
            self._arena.nodes.start()

    # -------------------------------------------------------------------------------------------------- harms
    async def _kill(self) -> None:
        victim = self._somebody()
        if victim is not None:
            self._arena.nodes.kill(victim)
            self._arena.troubles["kills"] += 1
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.0, 2.0))
        self._keep_up()

    async def _freeze(self) -> None:
        victim = self._somebody()
        if victim is None:
            return
        self._arena.nodes.deaths.append(victim.freeze())
        self._arena.troubles["freezes"] += 1
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.5, 3.0))
        if victim in self._arena.nodes.alive:
            victim.thaw()

    async def _cut_off(self) -> None:
        if self._away:
            return
        self._away = True
        kill = self._arena.dice.random() < 0.5
        await asyncio.to_thread(self._arena.database.stop, kill=kill)
        self._arena.troubles["server kills" if kill else "server stops"] += 1
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(0.2, 1.5))
        await asyncio.to_thread(self._arena.database.start)
        self._away = False
        self._keep_up()
