"""Wall clocks that can be set, by libfaketime, while the clocks that nobody sets go on; and what such a clock
has shown.
"""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

PLACES: Final = ("/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/local/lib/faketime")
THREADS, ONE_THREAD = "libfaketimeMT.so.1", "libfaketime.so.1"
SHARED: Final = Path("/dev/shm")  # noqa: S108 - where libfaketime leaves something behind for each process
LEFT_OUT: Final = "set clocks: install libfaketime"


def wall_millis() -> int:
    """Milliseconds since 1970, on the clock of the machine."""
    return time.time_ns() // 1_000_000


class Reached(NamedTuple):
    """When a clock has shown a time first, or a later one.

    at       on the clock of the machine
    skipped  how far beyond it the clock was set at that moment; 0: it went there by itself
    """

    at: int
    skipped: int = 0


class ClockHistory:
    """What a clock has shown. All times are in milliseconds."""

    def __init__(self) -> None:
        self._settings: list[tuple[float, int]] = [(-inf, 0)]  # from when on it was so far ahead

    @property
    def ahead(self) -> int:
        return self._settings[-1][1]

    def note(self, at: int, ahead: int) -> None:
        """It was set."""
        self._settings.append((at, ahead))

    def was_set(self, begin: float, end: float) -> bool:
        """Whether somebody has set it between two moments."""
        return any(begin <= at <= end for at, _ in self._settings)

    def reached(self, shown: int) -> Reached:
        """When it has shown a time first."""
        for (at, ahead), (until, _) in pairwise([*self._settings, (inf, 0)]):
            moment = shown - ahead
            if moment < at:
                return Reached(int(at), int(at) - moment)
            if moment < until:
                return Reached(moment)
        raise AssertionError("it goes on for ever")

    def moments(self, shown: int) -> list[int]:
        """All moments at which it has shown a time: several, if it was set back."""
        spans = pairwise([*self._settings, (inf, 0)])
        return [shown - ahead for (at, ahead), (until, _) in spans if at <= shown - ahead < until]


class WallClock:
    """One that can be set, for all processes that were started with its environment."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._file = file
        self._folder = folder
        self.history = ClockHistory()
        self._write(0)

    def now(self) -> int:
        """As those processes have it."""
        return wall_millis() + self.history.ahead

    def set_ahead(self, millis: int) -> None:
        """Of the clock of the machine; less than nothing: behind it."""
        self._write(millis)
        self.history.note(wall_millis(), millis)

    def environment(self, *, threads: bool = True) -> Mapping[str, str]:
        """Of a process. `threads`: whether it has several; then signals must not ask for the time."""
        return {
            "LD_PRELOAD": str(self._folder / (THREADS if threads else ONE_THREAD)),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # or no wait for the interpreter's lock lasts any time
            "NO_FAKE_STAT": "1",
        }

    def _write(self, millis: int) -> None:
        """At once: who reads half a number gives up."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{millis / 1_000:+.3f}\n", encoding="ascii")
        new.chmod(0o644)
        new.replace(self._file)


def shed() -> None:
    """From now on children of this process have the clock of the machine again: libfaketime refuses to wait
    until a moment on a clock that it does not set, as `time.sleep` asks for. In this process it asks the
    environment each time where the clock is: it must still find it there.
    """
    os.environ.pop("LD_PRELOAD", None)
    for name in [each for each in os.environ if "FAKE" in each]:
        os.putenv(name, os.environ.pop(name))  # back, where only the library looks


def library() -> Path | None:
    """The folder of libfaketime; None: it is not installed."""
    for place in PLACES:
        for folder in sorted(Path("/").glob(place.lstrip("/"))):
            if (folder / THREADS).exists() and (folder / ONE_THREAD).exists():
                return folder
    return None


def remove_leftovers() -> None:
    """What libfaketime could not remove, because processes were killed."""
    for file in [*SHARED.glob("faketime_shm_*"), *SHARED.glob("sem.faketime_sem_*")]:
        if not Path(f"/proc/{file.name.rpartition('_')[2]}").exists():
            with suppress(OSError):  # of somebody else
                file.unlink()


class Clocks:
    """Those of a campaign: the database's, and one for each node. A file has the clock of the machine, which
    all processes share: then nodes have none of their own.
    """

    def __init__(self, folder: Path, found: Path, store: str, nodes: int) -> None:
        self.database = WallClock(folder / "clock", found)
        own = 0 if store == "sqlite" else nodes
        self.nodes = [WallClock(folder / f"clock-{place}", found) for place in range(own)]

    def environment_of(self, place: int) -> Mapping[str, str]:
        """Of the node at a place."""
        return (self.nodes[place % len(self.nodes)] if self.nodes else self.database).environment()
