"""Follows a run: its change log is read as it grows, whichever process writes it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from stretto.actions.caller import Caller
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.why import why_run
from stretto.cli.address import readable
from stretto.cli.running.progress import Progress, Step
from stretto.cli.why_text import why_text
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.errors import StrettoError, Unavailable
from stretto.model.status import RunStatus
from stretto.ports.events import LogRow, Trimmed
from stretto.ports.observer import Observer
from stretto.ports.rows import Phase, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_attempt, read_run
from stretto.ports.store import Store

LOOK_EVERY: Final = 0.2  # seconds: what another process writes is not told to this one
REST: Final = 0.05  # seconds between two looks
TRY_EVERY: Final = 0.5  # seconds between two tries while the database does not answer
ASK_EVERY: Final = 1.0  # seconds between two questions why something waits
MOST_STEPS: Final = 1_000  # of a run that is loaded to be asked

Show = Callable[[Sequence[Step]], None]  # the steps that have moved
Note = Callable[[str], None]


class Bell(Observer):
    """Rings when this node has committed something."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()

    def committed(self, rows: Sequence[LogRow]) -> None:
        self.rung.set()


class Follower:
    """One run, from where it is to its end."""

    def __init__(self, store: Store, caller: Caller, key: RunKey, bell: Bell) -> None:
        self._store = store
        self._caller = caller
        self._key = key
        self._bell = bell
        self._seq = 0
        self._asked_at = float("-inf")
        self._group = 0
        self.progress: Progress

    async def begin(self) -> Progress:
        """The run as it is now. What happens from here on is told by `follow`."""
        row = await self._row()
        self._group = row.group
        workflow = await definition_of(self._store, row)
        self.progress = Progress(workflow, row.key, row.record.version_id, row.record.status)
        await self.look()
        return self.progress

    async def look(self) -> None:
        """Read everything again, from the rows."""
        self._seq = (await self._store.newest_seqs()).get(self._group, 0)
        row = await self._row()
        attempts = await self._store.attempts(NewestAttempts((self._key,)))
        self.progress.fill(row.record, (each.record for each in attempts))
        if row.phase is Phase.LIVE:
            for flow in await self._store.load_flows([self._key]):
                for loop in flow.loops:
                    ended = flow.ended.get(loop.key, {})
                    good = ended.get(RunStatus.SUCCEEDED, 0)
                    self.progress.fill_loop(loop, sum(ended.values()), sum(ended.values()) - good)

    async def follow(self, show: Show, note: Note) -> Progress:
        """Until the run has ended. A database that does not answer is waited for, as the run itself does."""
        while not self.progress.status.is_terminal:
            await self._wait()
            try:
                moved = await self._read()
                await self._ask_why()
            except Unavailable as error:
                note(f"{error.message}; waiting for it")
                await self._wait_for_database()
                note("the database answers again")
                moved = list(self.progress.steps.values())
            show(moved)
        return self.progress

    async def _wait_for_database(self) -> None:
        """Then everything is read again: of what was read last, a part may be missing."""
        while True:
            await asyncio.sleep(TRY_EVERY)
            with suppress(Unavailable):
                return await self.look()

    async def _row(self) -> RunRow:
        row = await read_run(self._store, self._key)
        assert row is not None  # noqa: S101 - it was just started, or found
        return row

    async def _wait(self) -> None:
        await asyncio.sleep(REST)
        try:
            async with asyncio.timeout(LOOK_EVERY):
                await self._bell.rung.wait()
        except TimeoutError:
            pass
        self._bell.rung.clear()

    async def _read(self) -> list[Step]:
        """What was written since the last look."""
        try:
            rows = await self._store.read_log({self._group: self._seq})
        except Trimmed:  # we slept for days
            await self.look()
            return list(self.progress.steps.values())
        moved: dict[str, Step] = {}
        for row in rows:
            self._seq = row.seq
            for event in row.events:
                step = self.progress.apply(event)
                if step is not None:
                    moved[step.id] = step
                    await self._complete(step)
        return list(moved.values())

    async def _complete(self, step: Step) -> None:
        """What the log does not tell: why a step ended badly, and how long a loop is."""
        over = step.status.is_terminal
        if over and (step.is_loop or not step.status.is_complete):
            row = await read_attempt(self._store, AttemptKey(self._key, step.id, step.attempt))
            if row is not None:
                step.tell(row.record)
        elif step.is_loop and step.loop is None and step.is_busy:
            for loop in await self._store.loops(self._key):
                if loop.key.step_id == step.id:
                    self.progress.fill_loop(loop, 0, 0)

    async def _ask_why(self) -> None:
        """Now and then, while something waits."""
        progress, loop = self.progress, asyncio.get_running_loop()
        waiting = [step for step in progress.steps.values() if step.waits]
        is_due = loop.time() - self._asked_at >= ASK_EVERY and len(progress.steps) <= MOST_STEPS
        if not is_due or not (waiting or progress.began is None):
            return
        self._asked_at = loop.time()
        try:
            found = await why_run(self._store, self._caller, *self._key[:2], str(self._key.run_id))
        except Unavailable:
            raise
        except StrettoError:  # it has moved on meanwhile, or others keep its workflow busy: later
            return
        if progress.began is None and not found.steps:
            progress.queued = readable(found.sentence)
        reasons = {(each.step_id, each.status): why_text(each) for each in found.steps}
        for step in waiting:  # one that has moved on meanwhile waits for nothing
            step.reason = reasons.get((step.id, step.status), step.reason)
