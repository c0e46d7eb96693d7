"""Users who restart what has ended: a run, a step, a step of a nested run."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from chaos.insistence import PAUSE, insist
from chaos.storm_plays import KIN_OF_CLAN
from stretto.actions.caller import Caller
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.restart import restart
from stretto.actions.restart_step import restart_step
from stretto.engine.records import RunKey
from stretto.model.errors import Unavailable, WrongState
from stretto.model.request import InstanceRestartRequest, StepRestartRequest
from stretto.model.run_config import RunPolicy
from stretto.ports.hints import Hints
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store

LOOK_EVERY: Final = 0.3  # seconds


class Repeat(NamedTuple):
    """What a restart must have brought: runs of workflows, and steps that complete once more."""

    runs: Mapping[str, int]
    completions: Mapping[str, int]


REDO: Final = Repeat({"redo": 1}, {"redo1": 1, "redo2": 1, "redo3": 1})
REDO_STEP: Final = Repeat({"redo": 1}, {"redo2": 1, "redo3": 1})
CLAN: Final = Repeat({"clan": 1, KIN_OF_CLAN: 1}, {"clan1": 1, "clan2": 1, "kin1": 1, "kin2": 1})
NESTED_STEP: Final = Repeat({"clan": 1, KIN_OF_CLAN: 1}, {"clan1": 1, "clan2": 1, "kin2": 1})
RESTARTED: Final = ("redo", "clan")


class Restarts:
    """Each instance has one user who restarts it, so nobody is refused."""

    def __init__(self, store: Store, hints: Hints, caller: Caller, dice: Random) -> None:
        self._store = store
        self._hints = hints
        self._caller = caller
        self._dice = dice
        self.repeats: list[Repeat] = []

    async def repeat(self, key: RunKey) -> None:
        """Restart an instance once or twice, in some way, each time when it has ended."""
        for number in range(self._dice.randint(1, 2)):
            await self._until_ended(key)
            by_step = self._dice.random() < 0.5
            if key.workflow_id == "redo":
                how = self._step(key, "redo2") if by_step else self._run(key)
                found = REDO_STEP if by_step else REDO
            else:
                kin = await insist(lambda: self._kin_of(key))
                how = self._step(kin, "kin2") if by_step else self._run(key)
                found = NESTED_STEP if by_step else CLAN
            await self._until_restarted(key, how, key.run_id + number + 1)
            self.repeats.append(found)
        await self._until_ended(key)

    def _run(self, key: RunKey) -> Callable[[str], Awaitable[object]]:
        def ask(request_id: str) -> Awaitable[object]:
            request = InstanceRestartRequest(
                request_id=request_id, restart_policy=RunPolicy.RESTART_FROM_BEGINNING
            )
            return restart(self._store, self._caller, *key[:2], request, hints=self._hints)

        return ask

    def _step(self, key: RunKey, step_id: str) -> Callable[[str], Awaitable[object]]:
        def ask(request_id: str) -> Awaitable[object]:
            request = StepRestartRequest(
                request_id=request_id, restart_policy=RunPolicy.RESTART_FROM_BEGINNING
            )
            return restart_step(self._store, self._caller, *key[:2], step_id, request, hints=self._hints)

        return ask

    async def _until_restarted(
        self, key: RunKey, ask: Callable[[str], Awaitable[object]], run_id: int
    ) -> None:
        """Ask until the new run is there. An answer may be lost on its way: then the run tells."""
        request_id = f"{key}-{run_id}"
        while True:
            try:
                await ask(request_id)
            except (Unavailable, WrongState):
                await asyncio.sleep(PAUSE)
            row = await self._newest(key)
            if row is not None and row.key.run_id >= run_id:
                return

    async def _until_ended(self, key: RunKey) -> None:
        while (row := await self._newest(key)) is None or not row.record.status.is_terminal:
            await asyncio.sleep(LOOK_EVERY)

    async def _newest(self, key: RunKey) -> RunRow | None:
        return await insist(lambda: self._store.newest_run(key.workflow_id, key.instance_id))

    async def _kin_of(self, key: RunKey) -> RunKey:
        """The nested run of the newest run of a clan."""
        newest = await find_newest_run(self._store, key.workflow_id, key.instance_id)
        attempts = await self._store.newest_attempts(newest.key)
        above = next(row.key for row in attempts if row.key.step_id == "clan1")
        page = await self._store.children(above, Cut(most=1))
        return page.elements[0].key
