"""Carries out bulk jobs beside the requests: those of this server, and those that another left behind."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from stretto.model.errors import StrettoError

LOOK_EVERY: Final = 15.0  # seconds: what another process left behind is found by looking

logger = logging.getLogger("stretto.api")


class BulkWorker:
    """One for a process. `work` carries out one job, and says whether there was one."""

    def __init__(self, work: Callable[[], Awaitable[bool]], look_every: float = LOOK_EVERY) -> None:
        self._work = work
        self._look_every = look_every
        self._rung = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look for jobs from now on."""
        self._task = asyncio.create_task(self._run())

    def ring(self) -> None:
        """Say that there is a job."""
        self._rung.set()

    def stop(self) -> None:
        """What is left of a job is somebody else's, or is done after the next start."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            self._rung.clear()
            try:
                found = await self._work()
            except StrettoError as error:  # the database is away: the job waits for it, too
                logger.warning("bulk jobs are not carried out just now: %s", error.message)
                found = False
            if not found:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_every):
                        await self._rung.wait()
