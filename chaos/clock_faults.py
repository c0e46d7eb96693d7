"""Somebody sets clocks: that of the database, which is the time of all nodes, and those of nodes."""

import asyncio
from typing import Final

from chaos.arena import Arena
from chaos.harm import Doing, Harm, Harms

MINUTE: Final = 60_000  # milliseconds
FAR: Final = (2 * MINUTE, 60 * MINUTE)
NEAR: Final = (MINUTE // 2, 2 * MINUTE)
BRIEF: Final = (5.0, 20.0)  # seconds


class ClockFaults:
    """Forward for good; forward or back for some seconds, as when a time server lies."""

    def __init__(self, arena: Arena, harms: Harms) -> None:
        self._arena = arena
        self._harms = harms
        self._busy = False

    def all(self) -> dict[str, Harm]:
        """By name. Nothing, where no clock can be set."""
        clocks = self._arena.clocks
        if clocks is None:
            return {}
        harms: dict[str, Harm] = {"set-clock": self._database}
        return harms | ({"set-node-clock": self._set_node} if clocks.nodes else {})

    def _millis(self, bounds: tuple[int, int]) -> int:
        return self._arena.dice.randint(*bounds)

    def _database(self) -> Doing | None:
        return None if self._busy else self._set_database()

    async def _set_database(self) -> None:
        """A schedule stands still as long as the clock shows what it has shown: so most of the time it goes
        forward in the end.
        """
        assert self._arena.clocks is not None  # noqa: S101 - see `all`
        clock, dice = self._arena.clocks.database, self._arena.dice
        before = clock.history.ahead
        self._busy = True
        match dice.choice(["forward", "forward and back", "back and forward"]):
            case "forward":
                clock.set_ahead(before + self._millis(FAR))
                self._harms.note("jumps of the database's clock")
            case "forward and back":
                clock.set_ahead(before + self._millis(NEAR))
                await asyncio.sleep(dice.uniform(*BRIEF))
                clock.set_ahead(before)
                self._note_two()
            case _:
                clock.set_ahead(before - self._millis(FAR))
                await asyncio.sleep(dice.uniform(*BRIEF))
                clock.set_ahead(before)
                self._note_two()
        self._busy = False

    def _note_two(self) -> None:
        for _ in range(2):
            self._harms.note("jumps of the database's clock")

    async def _set_node(self) -> None:
        """It decides nothing."""
        assert self._arena.clocks is not None  # noqa: S101 - see `all`
        clock = self._arena.dice.choice(self._arena.clocks.nodes)
        clock.set_ahead(self._arena.dice.choice([-1, 1]) * self._millis(FAR))
        self._harms.note("jumps of a node's clock")
