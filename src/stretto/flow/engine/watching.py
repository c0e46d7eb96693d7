"""Who waits for what. What this process commits it is told at once; what others commit is read from the
change log, by one reader for all who wait, and only while somebody does.
"""

import asyncio
import heapq
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from stretto.engine.records import RunKey
from stretto.flow.engine.errors import EngineStopped
from stretto.model.errors import StrettoError
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.status import RunStatus
from stretto.ports.events import LogRow, Trimmed
from stretto.ports.observer import Observer
from stretto.ports.places import GROUPS, group_of_run
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store

LOG = logging.getLogger(__name__)
LOOK_FIRST: Final = 0.05  # seconds between two looks at what others do; it doubles while nothing happens
LOOK_LAST: Final = 1.0
LOOK_SELDOM: Final = 5.0  # while nobody waits for an answer

Change = InstanceStatusChanged | StepStatusChanged


class Listener(Protocol):
    """Somebody who waits for something to happen to a run."""

    def heard(self, event: Change) -> None:
        """It has moved, or a step of it."""
        ...

    def looked(self, row: RunRow) -> None:
        """It stands so; something may have been missed before."""
        ...

    def lost(self, error: Exception) -> None:
        """Nobody will say anything any more."""
        ...


class Follower(Protocol):
    """Somebody who picks what concerns it out of everything that happens."""

    def told(self, events: Sequence[ChangeEvent]) -> None:
        """The events of one commit."""
        ...


class Watch(Observer):
    """All listeners and followers of an engine."""

    def __init__(self, told: Callable[[InstanceStatusChanged], None]) -> None:
        self._told = told
        self._listeners: dict[RunKey, list[Listener]] = {}
        self._groups: dict[RunKey, int] = {}  # where the runs are that somebody listens to
        self._followers: list[Follower] = []
        self._ours: set[int] = set()  # groups whose every commit is told
        self._cursor: dict[int, int] = {}  # of the groups of others
        self._unsure: set[int] = set()  # groups of which something may have been missed
        self._patient: list[Follower] = []  # those of them that can wait a little
        self._wake = asyncio.Event()
        self._looked = asyncio.Event()  # what others have done was read since it was cleared
        self._error: Exception | None = None
        self._store: Store
        self._task: asyncio.Task[None] | None = None

    def begin(self, store: Store) -> None:
        self._store = store
        self._task = asyncio.create_task(self._read())

    async def end(self, error: Exception | None = None) -> None:
        """Nobody is told anything from now on, and everybody is told that. Idempotent."""
        self._error = self._error or error or EngineStopped("the engine has stopped")
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        for listeners in list(self._listeners.values()):
            for each in list(listeners):
                each.lost(self._error)

    # ---------------------------------------------------------------------------------------------- listening
    @contextmanager
    def listening(self, key: RunKey, listener: Listener, group: int | None = None) -> Iterator[None]:
        """What happens to a run from here on. Who looks at its row afterwards misses nothing. `group`: that
        of an iteration, which only its row tells.
        """
        if self._error is not None:
            raise self._error
        self._listeners.setdefault(key, []).append(listener)
        self._groups[key] = group_of_run(key) if group is None else group
        if self._groups[key] not in self._ours:
            self._wake.set()
        try:
            yield
        finally:
            left = self._listeners[key]
            left.remove(listener)
            if not left:
                del self._listeners[key], self._groups[key]

    @contextmanager
    def following(self, follower: Follower) -> Iterator[None]:
        """Everything that happens from here on, in this process and in others."""
        self._followers.append(follower)
        self._wake.set()
        try:
            yield
        finally:
            self._followers.remove(follower)

    async def follow(self, follower: Follower) -> None:
        """The same until the watch ends; and this returns once nothing more can be missed. It need not be
        fast.
        """
        self._patient.append(follower)
        self._followers.append(follower)
        self._looked.clear()
        self._wake.set()
        await self._looked.wait()

    def is_ours(self, group: int) -> bool:
        """Whether this process looks after the runs of a group."""
        return group in self._ours

    # ------------------------------------------------------------------------------------ what this node does
    def committed(self, rows: Sequence[LogRow]) -> None:
        for row in rows:
            for event in row.events:
                if isinstance(event, InstanceStatusChanged):
                    self._told(event)
                if self._listeners:
                    self._tell(event)
            self._tell_followers(row)

    def leases_claimed(self, groups: Sequence[int]) -> None:
        self._ours.update(groups)
        self._doubt(groups)

    def leases_lost(self, groups: Sequence[int]) -> None:
        self._ours.difference_update(groups)
        self._doubt(groups)

    def _doubt(self, groups: Collection[int]) -> None:
        """Between two owners something may have happened that nobody told us."""
        self._unsure.update(groups)
        if self._listeners:
            self._wake.set()

    def _tell(self, event: ChangeEvent) -> None:
        if isinstance(event, Change):
            key = RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
            for each in list(self._listeners.get(key, ())):
                each.heard(event)

    def _tell_followers(self, row: LogRow) -> None:
        for each in list(self._followers):
            each.told(row.events)

    # ----------------------------------------------------------------------------------------- what others do
    async def _read(self) -> None:
        pause, failed = LOOK_FIRST, False
        while True:
            try:
                async with asyncio.timeout(pause if self._cursor or failed else None):
                    await self._wake.wait()
                pause = LOOK_FIRST
            except TimeoutError:
                pause = min(2 * pause, self._longest)
            self._wake.clear()
            try:
                if await self._look():
                    pause = LOOK_FIRST
                failed = False
                self._looked.set()
            except StrettoError as error:  # the node has the same trouble, and patience
                LOG.warning("what other processes do can not be read now: %s", error)
                self._unsure.update(self._groups.values())
                failed = True

    @property
    def _longest(self) -> float:
        """Nobody need wait between two looks any longer."""
        in_haste = self._listeners or len(self._followers) > len(self._patient)
        return LOOK_LAST if in_haste else LOOK_SELDOM

    async def _look(self) -> bool:
        """Whether anything was found."""
        groups = set(range(GROUPS)) if self._followers else set(self._groups.values())
        others = groups - self._ours
        self._cursor = {group: seq for group, seq in self._cursor.items() if group in others}
        fresh = others - self._cursor.keys()
        unsure = (self._unsure | fresh) & groups
        if fresh:
            newest = await self._store.newest_seqs()
            self._cursor |= {group: newest.get(group, 0) for group in fresh}
        self._unsure.clear()
        for key in [each for each in self._listeners if self._groups[each] in unsure]:
            row = await read_run(self._store, key)
            if row is not None:
                for each in list(self._listeners.get(key, ())):
                    each.looked(row)
        return await self._read_log() if self._cursor else False

    async def _read_log(self) -> bool:
        try:
            rows = await self._store.read_log(self._cursor)
        except Trimmed as error:
            for group in error.groups:
                self._cursor.pop(group, None)
            self._wake.set()
            return True
        for row in _by_time(rows):
            if row.group not in self._ours:  # else it has come to us, and was told
                self._cursor[row.group] = row.seq
                for event in row.events:
                    self._tell(event)
                self._tell_followers(row)
        return bool(rows)


def _by_time(rows: Sequence[LogRow]) -> Iterator[LogRow]:
    """Rows of several groups by the time of their commit: a run ends after those that its steps started. The
    order within a group stays.
    """
    groups: dict[int, list[LogRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return heapq.merge(*groups.values(), key=lambda row: row.at)


class Until:
    """Waits until a run is in one of some statuses, or has ended."""

    def __init__(self, statuses: Collection[RunStatus] = ()) -> None:
        self._statuses = frozenset(statuses)
        self._future: asyncio.Future[RunStatus] = asyncio.get_running_loop().create_future()

    def heard(self, event: Change) -> None:
        if isinstance(event, InstanceStatusChanged):
            self._stands(RunStatus(event.new_status.value))

    def looked(self, row: RunRow) -> None:
        self._stands(row.record.status)

    def lost(self, error: Exception) -> None:
        if not self._future.done():
            self._future.set_exception(error)

    def _stands(self, status: RunStatus) -> None:
        if (status in self._statuses or status.is_terminal) and not self._future.done():
            self._future.set_result(status)

    async def reached(self) -> RunStatus:
        return await self._future


class Bell:
    """Rings whenever something happens to a run."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._error: Exception | None = None

    def heard(self, event: Change) -> None:  # noqa: ARG002 - whatever it is
        self._rung.set()

    def looked(self, row: RunRow) -> None:  # noqa: ARG002 - however it stands
        self._rung.set()

    def lost(self, error: Exception) -> None:
        self._error = error
        self._rung.set()

    async def rung(self, within: float) -> None:
        """Until it has, or so many seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._rung.wait()
        self._rung.clear()
        if self._error is not None:
            raise self._error
