"""What launches print, in files: the sink that takes it, and the reader."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

from stretto.engine.records import AttemptKey
from stretto.ports.logs import LogLine, Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.forgetting import Forgetting
from stretto.runtimes.logs.reading import READ_AT_ONCE, Reading
from stretto.runtimes.logs.writing import Writer

MOST_OPEN: Final = 64  # files at once: the others are opened when something is to be written
LOOK_EVERY: Final = 0.2  # seconds: nobody tells that a file has grown

log = logging.getLogger(__name__)


class LogFiles:
    """See `ports.logs`: a LogSink and a LogReader. Used in one event loop; several processes may have the
    same folder. `most_bytes`: of one launch; of more its beginning and its end are kept, half of it each.
    """

    def __init__(
        self, folder: Path, most_bytes: int, now: Callable[[], int], *, most_open: int = MOST_OPEN
    ) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._now = now
        self._most_open = most_open
        self._writers: dict[Launch, Writer] = {}
        self._open: OrderedDict[Launch, Writer] = OrderedDict()  # the one that has waited longest is first
        self._forgetting = Forgetting(folder)

    # ------------------------------------------------------------------------------------------------ writing
    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        writer = self._writers.get(launch)
        if writer is None:
            writer = self._writers[launch] = Writer(self.folder, launch, self._most_bytes)
        if not data:
            return
        self._open[launch] = writer
        self._open.move_to_end(launch)
        if len(self._open) > self._most_open:
            self._open.popitem(last=False)[1].close()
        try:
            writer.write(self._now(), stream, data)
        except OSError as error:
            self._shut(launch)
            if not writer.is_told:
                writer.is_told = True
                text = "the output of %s is not kept, until this is put right: %s"
                log.warning(text, launch, error, extra={"action": "step.output_lost"})

    def end(self, launch: Launch) -> None:
        self._shut(launch)
        self._writers.pop(launch, None)

    def close(self) -> None:
        """No file is open any more. Idempotent."""
        for launch in list(self._writers):
            self.end(launch)

    def _shut(self, launch: Launch) -> None:
        writer = self._open.pop(launch, None)
        if writer is not None:
            writer.close()

    # ------------------------------------------------------------------------------------------------ reading
    def reading(self, attempt: AttemptKey, at_once: int = READ_AT_ONCE) -> Reading:
        """For whoever knows by himself when there is nothing more to come. It waits for the disk."""
        return Reading(self.folder, attempt, at_once)

    async def read(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        reading = self.reading(attempt)
        while lines := await asyncio.to_thread(reading.more):
            for line in lines:
                yield line
        for line in reading.rest():
            yield line

    async def follow(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        reading = self.reading(attempt)
        while True:
            lines = await asyncio.to_thread(reading.more)
            for line in lines:
                yield line
            if not lines:
                await asyncio.sleep(LOOK_EVERY)

    # ---------------------------------------------------------------------------------------------- retention
    async def forget(self, before: int) -> int:
        """Remove files that were last written before a moment (milliseconds since 1970), and folders that are
        empty; not those of launches that print here. A call looks at so many, and the next one goes on; the
        answer is how many files are gone.
        """
        busy = frozenset(writer.folder for writer in self._writers.values())
        return await asyncio.to_thread(self._forgetting.some, before, busy)
