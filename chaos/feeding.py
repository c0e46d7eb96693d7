"""Users: they start runs, stop some, answer, announce signals, and insist until they have been heard."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Final

from chaos.api import Api
from chaos.deadly import DEADLY
from chaos.effects import QUEUED, REMOTE, WATCHED, WORK
from chaos.insistence import insist
from chaos.plays import OWNER, STORM, Play
from chaos.restarts import RESTARTED, Restarts
from chaos.storm_plays import CROWDS, KIN_OF_CLAN, TICK
from stretto.actions.announce import announce
from stretto.actions.answer_step import answer_step
from stretto.actions.caller import Caller
from stretto.actions.deactivate import deactivate
from stretto.actions.publish import publish
from stretto.actions.release import release_message, release_run
from stretto.actions.start import start
from stretto.actions.stop import stop
from stretto.definition import Limits
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import Conflict, NotFound, Unavailable, WrongState
from stretto.model.initiator import ManualInitiator
from stretto.model.request import CallbackRequest, SignalRequest, StartRequest
from stretto.model.status import RunStatus
from stretto.ports.hints import Hints
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store
from stretto.testing.shapes import number

ANN: Final = Caller(user=OWNER)
LIMITS: Final = Limits(step_types=Limits().step_types | {WORK, WATCHED, REMOTE, QUEUED})
LED: Final = {"hear", KIN_OF_CLAN, TICK, DEADLY}  # whom users do not start by themselves
UNFINISHED: Final = tuple(status for status in RunStatus if not status.is_terminal)
MOST: Final = 1_000
SELDOM: Final = {"shell": 0.4, "stop": 0.5, "storm": 0.5}
MOST_CROWDS: Final = 2  # runs of each workflow whose steps wait for slots


class Feeder:
    """Keeps a number of runs going. All that it was promised is noted."""

    def __init__(
        self, store: Store, hints: Hints, plays: Sequence[Play], dice: Random, going: int, api: Api
    ) -> None:
        self._store = store
        self._hints = hints
        self._plays = {play.id: play for play in plays}
        self._dice = dice
        self._going = going
        self.restarts = Restarts(store, api, dice)
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = 0
        self.started: dict[RunKey, str] = {}  # by what was promised
        self.planted: RunKey | None = None
        self.storms = 0  # signals that start a run each
        self.released: Counter[str] = Counter()  # what was set aside, and is let go on

    async def publish(self) -> None:
        for play in self._plays.values():
            await publish(self._store, ANN, play.definition, limits=LIMITS, hints=self._hints)

    # ------------------------------------------------------------------------------------------------ feeding
    async def feed(self, end: asyncio.Event) -> None:
        """Until somebody says that it is enough."""
        while not end.is_set():
            unfinished = Counter(row.key.workflow_id for row in await self.unfinished())
            names = [
                name
                for name in self._plays
                if name not in LED and not (name in CROWDS and unfinished[name] >= MOST_CROWDS)
            ]
            weights = [SELDOM.get(name, 1.0) for name in names]
            for _ in range(self._going - unfinished.total()):
                await self.begin(self._dice.choices(names, weights)[0])
            await asyncio.sleep(0.1)
        await asyncio.gather(*self._tasks)

    async def begin(self, name: str) -> None:
        """One run of a workflow, with all that belongs to it."""
        self._numbers += 1
        n = self._numbers
        if name == "storm":
            await self._announce(n)
        elif name == "say":
            for each in self._dice.sample(["say", "hear"], 2):
                await self._start(each, n)
        else:
            key = await self._start(name, n)
            if name == "ask":
                self._later(self._answer(key))
            elif name == "stop":
                self._later(self._stop(key))
            elif name in RESTARTED:
                self._later(self.restarts.repeat(key))

    async def _start(self, name: str, n: int) -> RunKey:
        params = {"n": number(n)} if name in {"say", "hear"} else None
        request = StartRequest(initiator=ManualInitiator(), request_id=f"{name}-{n}", run_params=params)
        made = await insist(lambda: start(self._store, ANN, name, "latest", request, hints=self._hints))
        key = RunKey(name, made.workflow_instance_id, made.workflow_run_id)
        self.started[key] = name
        return key

    async def plant(self) -> RunKey:
        """The run that kills whoever decides about it. Nobody lets it go on."""
        self.planted = await self._start(DEADLY, 0)
        return self.planted

    async def _announce(self, n: int) -> None:
        request = SignalRequest(name=STORM, request_id=str(n))

        async def once() -> None:
            with suppress(Conflict):  # it was heard, though nobody said so
                await announce(self._store, ANN, request, hints=self._hints)

        await insist(once)
        self.storms += 1

    def _later(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, key: RunKey) -> None:
        attempt = AttemptKey(key, "ask1", 1)
        request = CallbackRequest(request_id=str(key))
        while not await self._has_ended(key):
            with suppress(NotFound, WrongState):  # not yet, or not any more
                await insist(lambda: answer_step(self._store, ANN, attempt, request, hints=self._hints))
            await asyncio.sleep(0.5)

    async def _stop(self, key: RunKey) -> None:
        await asyncio.sleep(self._dice.uniform(0.0, 1.5))
        while not await self._has_ended(key):
            with suppress(WrongState):  # it ends just now
                await insist(lambda: stop(self._store, ANN, *key, hints=self._hints))
            await asyncio.sleep(1.0)

    async def _has_ended(self, key: RunKey) -> bool:
        row = await insist(lambda: read_run(self._store, key))
        return row is not None and row.record.status.is_terminal

    # ------------------------------------------------------------------------------------------------ looking
    async def unfinished(self) -> list[RunRow]:
        """Runs that have not ended, but for the planted one. Those that were set aside are let go on, as an
        operator does.
        """
        wanted = RunFilter(statuses=UNFINISHED)
        page = await insist(lambda: self._store.runs(FilteredRuns(wanted, Cut(most=MOST))))
        found = [row for row in page.elements if row.key != self.planted]
        for row in found:
            if row.quarantined is not None:
                await self._release("runs", release_run(self._store, ANN, row.key, hints=self._hints))
        parked = await insist(lambda: self._store.parked_messages(Cut()))
        for message in parked.elements:
            doing = release_message(self._store, ANN, message.id, hints=self._hints)
            await self._release("messages", doing)
        return found

    async def _release(self, what: str, doing: Awaitable[None]) -> None:
        try:
            await doing
        except (NotFound, Unavailable):
            return  # somebody was faster, or the next look will find it
        self.released[what] += 1

    async def until_all_ended(self, within: float) -> list[RunRow]:
        """Those that have not, when the time is over. Each storm must have brought its run by then, and
        nobody waits for anything any more.
        """
        if TICK in self._plays:
            await insist(lambda: deactivate(self._store, ANN, TICK, hints=self._hints))
        end = asyncio.get_running_loop().time() + within
        while True:
            left = await self.unfinished()
            span = await insist(lambda: self._store.instance_ids("storm"))
            came = 0 if span is None else span.highest
            if (
                not left and came >= self.storms and not self._tasks
            ) or asyncio.get_running_loop().time() > end:
                return left
            await asyncio.sleep(0.2)
