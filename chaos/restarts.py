"""Users who restart what has ended, over HTTP: a run, a step, a step of a nested run."""

import asyncio
from collections.abc import Mapping
from random import Random
from typing import Final, NamedTuple

from chaos.api import BAD, GOOD, Api
from chaos.insistence import insist
from chaos.storm_plays import KIN_OF_CLAN
from stretto.actions.parts.finding import find_newest_run
from stretto.engine.records import RunKey
from stretto.model.run_config import RunPolicy
from stretto.ports.history import ChildPage
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_newest_run
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


def path_of(key: RunKey, step_id: str | None = None) -> str:
    """Where the restart of an instance, or of one of its steps, is asked for."""
    step = "" if step_id is None else f"/steps/{step_id}"
    return f"/workflows/{key.workflow_id}/instances/{key.instance_id}{step}/actions/restart"


class Restarts:
    """Each instance has one user who restarts it, so nobody is refused."""

    def __init__(self, store: Store, api: Api, dice: Random) -> None:
        self._store = store
        self._api = api
        self._dice = dice
        self.repeats: list[Repeat] = []

    async def repeat(self, key: RunKey) -> None:
        """Restart an instance once or twice, in some way, each time when it has ended."""
        for number in range(self._dice.randint(1, 2)):
            await self._until_ended(key)
            by_step = self._dice.random() < 0.5
            if key.workflow_id == "redo":
                what = path_of(key, "redo2" if by_step else None)
                found = REDO_STEP if by_step else REDO
            else:
                kin = await insist(lambda: self._kin_of(key))
                what = path_of(kin, "kin2") if by_step else path_of(key)
                found = NESTED_STEP if by_step else CLAN
            await self._until_restarted(key, what, key.run_id + number + 1)
            self.repeats.append(found)
        await self._until_ended(key)

    async def _until_restarted(self, key: RunKey, what: str, run_id: int) -> None:
        """Ask until the new run is there. An answer may be lost on its way: then the run tells, and asking
        once more is refused, because the run that is asked for goes on.
        """
        body = {"request_id": f"{key}-{run_id}", "restart_policy": RunPolicy.RESTART_FROM_BEGINNING.value}
        is_first = True
        while True:
            status = await self._api.put(what, body)
            if status == BAD and is_first:
                self._api.refusals.append(f"the first attempt of {what} for run {run_id} of {key} is refused")
            is_first = is_first and status == GOOD
            row = await self._newest(key)
            if row is not None and row.key.run_id >= run_id:
                return

    async def _until_ended(self, key: RunKey) -> None:
        while (row := await self._newest(key)) is None or not row.record.status.is_terminal:
            await asyncio.sleep(LOOK_EVERY)

    async def _newest(self, key: RunKey) -> RunRow | None:
        return await insist(lambda: read_newest_run(self._store, key.workflow_id, key.instance_id))

    async def _kin_of(self, key: RunKey) -> RunKey:
        """The nested run of the newest run of a clan."""
        newest = await find_newest_run(self._store, key.workflow_id, key.instance_id)
        attempts = await self._store.attempts(NewestAttempts((newest.key,)))
        above = next(row.key for row in attempts if row.key.step_id == "clan1")
        page = await self._store.runs(ChildPage(above, Cut(most=1)))
        return page.elements[0].key
