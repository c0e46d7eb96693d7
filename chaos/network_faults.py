"""Trouble between one node and the database server: its connections are cut, slow, silent or truncated."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from chaos.arena import Arena
from chaos.harm import Doing, Harm, Harms
from chaos.nodes import NodeProcess
from chaos.proxy import Proxy, Way

CUT_OFF: Final = (0.2, 2.0)  # leases
SLOW: Final = (0.5, 1.5)
SILENT: Final = (0.3, 3.3)  # also longer than a lease: then the node is buried, and comes back
DELAY: Final = (0.01, 0.1)  # seconds, each way
TIMES: Final = (2, 5)  # that messages are truncated
BETWEEN: Final = (0.1, 1.0)  # seconds


class NetworkFaults:
    """Each kind of it, for one node at a time."""

    def __init__(self, arena: Arena, harms: Harms) -> None:
        self._arena = arena
        self._harms = harms

    def all(self) -> dict[str, Harm]:
        """By name. Nothing, where there is no server."""
        if not self._arena.proxies:
            return {}
        return {
            "cut-off": self._for(self._cut_off),
            "slow-down": self._for(self._slow_down),
            "silence": self._for(self._silence),
            "truncate": self._for(self._truncate),
        }

    def _for(self, doing: Callable[[NodeProcess], Doing]) -> Harm:
        def harm() -> Doing | None:
            victim = self._harms.victim()
            return None if victim is None else doing(victim)

        return harm

    @contextmanager
    def _troubled(self, victim: NodeProcess, trouble: str) -> Iterator[Proxy]:
        """The node counts as one that is not well."""
        self._harms.note(trouble)
        self._arena.troubled.add(victim.place)
        try:
            yield self._arena.proxies[victim.place]
        finally:
            self._arena.troubled.discard(victim.place)
            self._harms.keep_up()

    async def _wait(self, leases: tuple[float, float]) -> None:
        await asyncio.sleep(self._arena.lease * self._arena.dice.uniform(*leases))

    async def _cut_off(self, victim: NodeProcess) -> None:
        with self._troubled(victim, "cut off") as proxy:
            proxy.refuses = True
            proxy.cut()
            await self._wait(CUT_OFF)
            proxy.refuses = False

    async def _slow_down(self, victim: NodeProcess) -> None:
        with self._troubled(victim, "slow networks") as proxy:
            proxy.delay = self._arena.dice.uniform(*DELAY)
            await self._wait(SLOW)
            proxy.delay = 0.0

    async def _silence(self, victim: NodeProcess) -> None:
        with self._troubled(victim, "silent networks") as proxy:
            proxy.hold()
            await self._wait(SILENT)
            proxy.pass_on()

    async def _truncate(self, victim: NodeProcess) -> None:
        with self._troubled(victim, "truncated messages") as proxy:
            for _ in range(self._arena.dice.randint(*TIMES)):
                proxy.truncate(self._arena.dice.choice(list(Way)))
                await asyncio.sleep(self._arena.dice.uniform(*BETWEEN))
