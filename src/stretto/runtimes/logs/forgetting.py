"""Which files of output may be deleted: those of runs that are gone, and old ones.

A file is old if nothing was written to it for as long as runs are kept. A file that is old is deleted unless
its run still exists; a file of a run that is gone is deleted whatever its age.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Final, NamedTuple

from stretto.engine.records import RunKey
from stretto.ports.history import History
from stretto.ports.own_files import tighten
from stretto.ports.paging import Span
from stretto.ports.run_snapshot import NamedRuns
from stretto.runtimes.logs.names import LOOPS, part_of, writer_of_pack
from stretto.runtimes.logs.sections import run_in

AT_ONCE: Final = 10_000  # entries that a call looks at
DEPTH: Final = 4  # folders: workflow, instance, run, step
PACK_DEPTH: Final = 2  # folders: workflow, a thousand instances
MOST_ASKED: Final = 1_000  # packs of loops that are not old: how many a call asks the database about


class Candidate(NamedTuple):
    """A file of output. `run`: whose it is, as far as that is known; of a pack of iterations one of them."""

    path: Path
    is_old: bool
    run: RunKey | None

    @property
    def is_loop(self) -> bool:
        return self.path.parent.parent.name == LOOPS


class Forgetting:
    """Looks for files, a few in each call. It remembers how far it came; its calls do not overlap.
    `database`: how the names of writers begin whose runs are in the database that is asked.
    """

    def __init__(self, folder: Path, database: str = "", at_once: int = AT_ONCE) -> None:
        self._folder = folder
        self._database = database
        self._at_once = at_once
        self._before = 0
        self._looking: Iterator[Candidate | None] = iter(())

    def some(self, before: int) -> list[Candidate]:
        """Look at some files, and remove empty folders. It waits for the disk."""
        self._before = before
        seen = list(islice(self._looking, self._at_once))
        if len(seen) < self._at_once:  # that was the last: from the start, the next time
            self._looking = self._look(self._folder, 0, "")
            seen += islice(self._looking, self._at_once - len(seen))
        return [each for each in seen if each is not None]

    def _look(self, folder: Path, depth: int, workflow_id: str) -> Iterator[Candidate | None]:
        """Each entry; None for what is no file of output."""
        is_old = False
        with suppress(OSError), os.scandir(folder) as entries:  # one after the other: there may be a million
            is_old = self._is_old(folder.stat())
            for entry in entries:
                if depth < DEPTH and entry.is_dir(follow_symlinks=False):
                    yield None
                    inside = Path(entry.path)
                    known = _workflow_in(inside) if depth == 0 else workflow_id
                    yield from self._look(inside, depth + 1, known)
                else:
                    yield self._candidate(entry, depth, workflow_id)
        if depth and is_old:  # a new one may wait for its first file
            with suppress(OSError):  # something is in it
                folder.rmdir()

    def _candidate(self, entry: "os.DirEntry[str]", depth: int, workflow_id: str) -> Candidate | None:
        path = Path(entry.path)
        if depth == PACK_DEPTH:
            writer = writer_of_pack(entry.name)
        else:
            part = part_of(entry.name) if depth == DEPTH else None
            writer = None if part is None else part.writer
        if writer is None:
            return None
        try:
            found = entry.stat(follow_symlinks=False)
            if S_ISREG(found.st_mode):
                tighten(path)  # an older release may have left it open to everybody
            is_old = self._is_old(found)
        except OSError:  # somebody was faster
            return None
        is_ours = writer != "" and writer.startswith(self._database)
        return Candidate(path, is_old, _run_of(path, depth, workflow_id) if is_ours else None)

    def _is_old(self, found: os.stat_result) -> bool:
        return found.st_mtime_ns // 1_000_000 < self._before


def _run_of(path: Path, depth: int, workflow_id: str) -> RunKey | None:
    if depth == PACK_DEPTH and path.parent.parent.name == LOOPS:
        return run_in(path)
    numbers = path.name.split(".")[:2] if depth == PACK_DEPTH else path.parts[-4:-2]
    numbers = [each for each in numbers if each.isdecimal()]
    return RunKey(workflow_id, *map(int, numbers)) if workflow_id and len(numbers) == 2 else None


def _workflow_in(folder: Path) -> str:
    """The workflow whose output is in a folder, as one of its packs says; empty: none does."""
    for path in islice(folder.glob("*k/*.pack"), 1):
        run = run_in(path)
        return "" if run is None else run.workflow_id
    return ""


class Kept:
    """Asks a database which runs it still has, each question once."""

    def __init__(self, store: History) -> None:
        self._store = store
        self._spans: dict[str, Span | None] = {}
        self._asked = 0  # about loops

    async def forgettable(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Those that may be deleted."""
        return [each for each in candidates if await self._is_forgettable(each)]

    async def _is_forgettable(self, candidate: Candidate) -> bool:
        run = candidate.run
        if run is None:
            return candidate.is_old
        if candidate.is_loop:
            self._asked += 1
            asks = candidate.is_old or self._asked <= MOST_ASKED
            return asks and await self._span(run.workflow_id) is None
        span = await self._span(run.workflow_id)
        if span is None or not span.lowest <= run.instance_id <= span.highest:
            return True
        return candidate.is_old and not (await self._store.runs(NamedRuns((run,)))).elements

    async def _span(self, workflow_id: str) -> Span | None:
        if workflow_id not in self._spans:
            self._spans[workflow_id] = await self._store.instance_ids(workflow_id)
        return self._spans[workflow_id]
