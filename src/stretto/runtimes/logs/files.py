"""What launches print, in files: the sink that takes it, and the reader."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Final
from uuid import uuid4

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.history import History
from stretto.ports.logs import LogLine, Stream
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.forgetting import Forgetting, Kept
from stretto.runtimes.logs.names import packs_of, place_of_pack, safe
from stretto.runtimes.logs.packs import Pack, Packs
from stretto.runtimes.logs.reading import READ_AT_ONCE, Reading, RunReading
from stretto.runtimes.logs.writing import Writer, opened

MOST_OPEN: Final = 64  # files at once: the others are opened when something is to be written
LOOK_EVERY: Final = 0.2  # seconds: nobody tells that a file has grown

log = logging.getLogger(__name__)


class LogFiles:
    """See `ports.logs`: a LogSink and a LogReader. Used in one event loop; several processes may have the
    same folder. `most_bytes`: of one launch in this process; of more its beginning and its end are kept, half
    of it each. `database`: hexadecimal digits that packs of the same database share.
    """

    def __init__(
        self,
        folder: Path,
        most_bytes: int,
        now: Callable[[], int],
        *,
        database: str = "",
        most_open: int = MOST_OPEN,
    ) -> None:
        self.folder = folder
        self._most_bytes = most_bytes
        self._now = now
        self._most_open = most_open
        self._packs = Packs(folder, f"{database}{uuid4().hex[:12]}", opened)
        self._writers: dict[Launch, Writer] = {}
        self._open: OrderedDict[Pack | Writer, None] = (
            OrderedDict()
        )  # the one that has waited longest is first
        self._forgetting = Forgetting(folder, database)

    # ------------------------------------------------------------------------------------------------ writing
    def write(self, launch: Launch, stream: Stream, data: bytes) -> None:
        writer = self._writers.get(launch)
        if writer is None:
            pack = self._packs.of(launch.attempt.run)
            writer = Writer(self.folder, launch, self._most_bytes, pack, self._packs.writer)
            self._writers[launch] = writer
        if not data:
            return
        self._use(writer.target)
        try:
            writer.write(self._now(), stream, data)
        except OSError as error:
            writer.close()
            if not writer.is_told:
                writer.is_told = True
                text = "the output of %s is not kept, until this is put right: %s"
                log.warning(text, launch, error, extra={"action": "step.output_lost"})
        self._use(writer.target)

    def _use(self, target: Pack | Writer) -> None:
        self._open[target] = None
        self._open.move_to_end(target)
        if len(self._open) > self._most_open:
            self._open.popitem(last=False)[0].close()

    def end(self, launch: Launch) -> None:
        writer = self._writers.pop(launch, None)
        if writer is not None and writer in self._open:
            del self._open[writer]
            writer.close()

    def close(self) -> None:
        """No file is open any more. Idempotent."""
        for launch in list(self._writers):
            self.end(launch)
        while self._open:
            self._open.popitem()[0].close()

    # ------------------------------------------------------------------------------------------------ reading
    def reading(self, attempt: AttemptKey, at_once: int = READ_AT_ONCE) -> Reading:
        """For whoever knows by himself when there is nothing more to come. It waits for the disk."""
        return Reading(self.folder, attempt, at_once)

    def run_reading(self, run: RunKey) -> RunReading:
        """For whoever reads several attempts of a run."""
        return RunReading(self.folder, run)

    async def read(self, attempt: AttemptKey) -> AsyncIterator[LogLine]:
        reading = self.reading(attempt)
        while lines := await asyncio.to_thread(reading.more):
            for line in lines:
                yield line
        for line in await asyncio.to_thread(reading.rest):
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
    async def forget(self, before: int, store: History) -> int:
        """Delete the output of runs that are gone from the database, and files of runs that it does not know
        which were last written before a moment (milliseconds since 1970); not where a launch prints. A call
        looks at so many files, and the next one goes on; returns how many are deleted.
        """
        candidates = await asyncio.to_thread(self._forgetting.some, before)
        chosen = await Kept(store).forgettable(candidates)
        busy = {packs_of(self.folder, launch.attempt.run) for launch in self._writers}
        folders = {writer.folder for writer in self._writers.values()}
        paths: list[Path] = []
        for path, _is_old, _run in chosen:
            place = place_of_pack(path)
            if place is None and path.parent not in folders:
                paths.append(path)
            elif place is not None and place not in busy:
                self._packs.drop(place)  # a launch that begins now writes into another file
                paths.append(path)
        return await asyncio.to_thread(_deleted, paths, self.folder)

    async def forget_workflow(self, workflow_id: str) -> None:
        """Delete the output of a workflow that is deleted: one that is published under its id begins to count
        its instances again. What its loops have printed has other names, and goes when `forget` comes to it.
        """
        for launch in [each for each in self._writers if each.attempt.run.workflow_id == workflow_id]:
            self.end(launch)
        self._packs.drop_under(self.folder / safe(workflow_id))
        await asyncio.to_thread(rmtree, self.folder / safe(workflow_id), ignore_errors=True)


def _deleted(paths: Iterable[Path], top: Path) -> int:
    """How many could be deleted. Folders that become empty go with them."""
    count = 0
    for path in paths:
        with suppress(
            OSError
        ):  # somebody was faster, it is not ours to delete, or there are others beside it
            path.unlink()
            count += 1
            for folder in path.relative_to(top).parents[:-1]:
                (top / folder).rmdir()
    return count
