"""The moves of a run and its steps, one after the other."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from stretto.actions.parts.run_text import run_text
from stretto.engine.records import RunKey
from stretto.flow.engine.watching import Change
from stretto.model.event import InstanceStatusChanged
from stretto.model.status import RunStatus, StepStatus
from stretto.ports.rows import RunRow


class RunEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A run, or a step of it, has come into a status."""

    id: str  # of the run: `etl/3`
    at: int  # milliseconds since 1970
    status: RunStatus | StepStatus
    step: str | None = None  # None: the run itself
    attempt: int | None = None


class Moments:
    """Collects what a listener is told, until the run has ended."""

    def __init__(self, key: RunKey) -> None:
        self._id = run_text(key)
        self._queue: asyncio.Queue[RunEvent | Exception | None] = asyncio.Queue()
        self._status: RunStatus | None = None

    def heard(self, event: Change) -> None:
        if isinstance(event, InstanceStatusChanged):
            self._stands(RunStatus(event.new_status.value), event.event_time)
            return
        for each in event.status_change_records:
            moved = RunEvent(
                id=self._id,
                at=each.event_time,
                status=each.new_status,
                step=event.step_id,
                attempt=event.step_attempt_id,
            )
            self._queue.put_nowait(moved)

    def looked(self, row: RunRow) -> None:
        self._stands(row.record.status, row.modify_time)

    def lost(self, error: Exception) -> None:
        self._queue.put_nowait(error)

    def _stands(self, status: RunStatus, at: int) -> None:
        """What is known already is not told again, and nothing follows an end."""
        if status is self._status or (self._status is not None and self._status.is_terminal):
            return
        self._status = status
        self._queue.put_nowait(RunEvent(id=self._id, at=at, status=status))
        if status.is_terminal:
            self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[RunEvent]:
        while (moved := await self._queue.get()) is not None:
            if isinstance(moved, Exception):
                raise moved
            yield moved
