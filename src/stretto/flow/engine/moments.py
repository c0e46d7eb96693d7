"""The moves of a run, its steps, and the steps inside of these, one after the other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from stretto.actions.reading.nesting import path_below
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.engine.run_text import run_text
from stretto.flow.engine.inner import live_below
from stretto.flow.engine.watching import Change
from stretto.model.event import ChangeEvent, InstanceStatusChanged, StepStatusChanged
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store

MOST_PATHS: Final = 10_000  # of loops and subworkflows that are remembered; others are read again


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A run, or a step of it, or a step inside of one of its loops and subworkflows, has come into a status.

    id     of the run whose events these are: `etl/3`
    step   the path of the step: `load`, `load_map[2].load` in the second iteration of `load_map`,
           `clean.load` in the run that the subworkflow step `clean` started; None: the run itself moved
    key    the run that the step is a step of: that of an iteration, where it is inside of a loop
    at     milliseconds since 1970
    """

    id: str
    at: int
    status: RunStatus | StepStatus
    step: str | None = None
    attempt: int | None = None
    key: RunKey


class Moments:
    """Collects what concerns a run and those below it, until the run has ended."""

    def __init__(self, store: Store, row: RunRow) -> None:
        self._store = store
        self._key = row.key
        self._tree = row.record.correlation_id
        self._id = run_text(row.key)
        self._queue: asyncio.Queue[RunEvent | StepStatusChanged | Exception | None] = asyncio.Queue()
        self._status: RunStatus | None = None
        self._near: set[RunKey] = set()  # runs of the same tree that have not ended
        self._is_complete = False  # whether it has all that had begun before
        self._paths: dict[tuple[str, int, int], str | None] = {}  # None: not below this run

    async def begin(self) -> None:
        """Find the runs below that have begun already. Call it after `told` is."""
        async for row in live_below(self._store, self._key):
            self._near.add(row.key)
        self._is_complete = True

    # ------------------------------------------------------------------------------------------ being told
    def told(self, events: Sequence[ChangeEvent]) -> None:
        """A run that begins and ends in one commit is named after its steps."""
        changes = [each for each in events if isinstance(each, Change)]
        self._near.update(
            _run_of(each)
            for each in changes
            if isinstance(each, InstanceStatusChanged) and each.correlation_id == self._tree
        )
        for each in changes:
            key = _run_of(each)
            if isinstance(each, StepStatusChanged):
                if key == self._key or key in self._near or not self._is_complete:
                    self._queue.put_nowait(each)
            elif key == self._key:
                self._stands(RunStatus(each.new_status.value), each.event_time)
            elif each.new_status.is_terminal:
                self._near.discard(key)

    def heard(self, event: Change) -> None:
        """`told` has it."""

    def looked(self, row: RunRow) -> None:
        self._stands(row.record.status, row.modify_time)

    def lost(self, error: Exception) -> None:
        self._queue.put_nowait(error)

    def _stands(self, status: RunStatus, at: int) -> None:
        """What is known already is not told again, and nothing follows an end."""
        if status is self._status or (self._status is not None and self._status.is_terminal):
            return
        self._status = status
        self._queue.put_nowait(RunEvent(id=self._id, at=at, status=status, key=self._key))
        if status.is_terminal:
            self._queue.put_nowait(None)

    # --------------------------------------------------------------------------------------------- telling
    async def __aiter__(self) -> AsyncIterator[RunEvent]:
        while (moved := await self._queue.get()) is not None:
            if isinstance(moved, Exception):
                raise moved
            if isinstance(moved, RunEvent):
                yield moved
                continue
            key = _run_of(moved)
            path = "" if key == self._key else await self._path(key)
            if path is not None:
                step = f"{path}.{moved.step_id}" if path else moved.step_id
                for each in moved.status_change_records:
                    yield RunEvent(
                        id=self._id,
                        at=each.event_time,
                        status=each.new_status,
                        step=step,
                        attempt=moved.step_attempt_id,
                        key=key,
                    )

    async def _path(self, key: RunKey) -> str | None:
        """The path of a run below. All iterations of a loop have that of the first, but for the number."""
        inline = is_inline(key.workflow_id)
        known = (key.workflow_id, 0 if inline else key.instance_id, key.run_id)
        if known not in self._paths:
            if len(self._paths) >= MOST_PATHS:
                self._paths.clear()
            row = await read_run(self._store, key)
            path = None if row is None else path_below(row, self._key)
            self._paths[known] = path.rpartition("[")[0] if path is not None and inline else path
        path = self._paths[known]
        return f"{path}[{key.instance_id}]" if path is not None and inline else path


def _run_of(event: Change) -> RunKey:
    return RunKey(event.workflow_id, event.workflow_instance_id, event.workflow_run_id)
