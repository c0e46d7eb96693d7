"""Files of output to be tried, on a clock that stands still until it is told to go on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from tests.waiting import PATIENCE

from stretto.engine.records import AttemptKey, RunKey
from stretto.ports.logs import LogLine
from stretto.ports.runtime import Launch
from stretto.runtimes.logs.files import LogFiles

NOON = 1_794_800_000_123  # 2026-11-16T03:33:20.123Z
RUN = RunKey("etl", 12, 1)
ATTEMPT = AttemptKey(RUN, "load", 1)
LAUNCH = Launch(ATTEMPT, 5, 0)
KB = 1024
MADE: list[LogFiles] = []  # that a test leaves open


class Clock:
    """In milliseconds."""

    def __init__(self) -> None:
        self.at = NOON

    def now(self) -> int:
        return self.at


def files_in(folder: Path, most_bytes: int = 1024 * KB, most_open: int = 64) -> LogFiles:
    made = LogFiles(folder, most_bytes, Clock().now, most_open=most_open)
    MADE.append(made)
    return made


def lines_of(files: LogFiles, attempt: AttemptKey = ATTEMPT) -> list[LogLine]:
    """All that is there."""

    async def read() -> list[LogLine]:
        return [line async for line in files.read(attempt)]

    return asyncio.run(read())


def texts_of(files: LogFiles, attempt: AttemptKey = ATTEMPT) -> list[str]:
    return [line.text for line in lines_of(files, attempt)]


async def some_of(lines: AsyncIterator[LogLine], count: int) -> list[str]:
    """So many lines, once they come."""
    async with asyncio.timeout(PATIENCE):
        return [(await anext(lines)).text for _ in range(count)]


def file_of(folder: Path, name: str = "1.5.0.log") -> Path:
    """A file of the launch alone, as releases before packs have written them."""
    return folder / "etl" / "12" / "1" / "load" / name


def packs_in(folder: Path) -> list[Path]:
    """All packs, the oldest first."""
    return sorted(folder.rglob("*.pack"), key=lambda path: path.stat().st_mtime_ns)


def pack_of(folder: Path) -> Path:
    """The only pack."""
    (path,) = packs_in(folder)
    return path


def size_of(folder: Path) -> int:
    """Bytes of all files, without the headers of sections."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    headers = [
        each for path in found for each in path.read_bytes().splitlines(True) if each.startswith(b"# ")
    ]
    return sum(path.stat().st_size for path in found) - sum(map(len, headers))
