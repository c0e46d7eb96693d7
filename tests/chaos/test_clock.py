"""Clocks of other processes can be set, while what counts durations goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chaos.clock import LEFT_OUT, Clocks, WallClock, library, wall_millis
from tests.ports.postgresql_server import Missing, missing

HOUR = 3_600_000
ASKS = """
import sys, time
for line in sys.stdin:
    print(time.time_ns() // 1_000_000, time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic(), flush=True)
"""


@pytest.fixture
def found() -> Path:
    """Where libfaketime is."""
    folder = library()
    if folder is None:
        missing(Missing(LEFT_OUT))
    assert folder is not None
    return folder


class Asked:
    """Another process that says what time it is."""

    def __init__(self, clock: WallClock, *, threads: bool) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", ASKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **clock.environment(threads=threads)},
            text=True,
        )

    def times(self) -> list[float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("?\n")
        self._process.stdin.flush()
        return [float(word) for word in self._process.stdout.readline().split()]

    def end(self) -> None:
        self._process.communicate()


@pytest.mark.parametrize("threads", [True, False])
def test_a_wall_clock_is_set_and_no_other(found: Path, tmp_path: Path, *, threads: bool) -> None:
    clock = WallClock(tmp_path / "clock", found)
    other = Asked(clock, threads=threads)
    try:
        before = other.times()
        for ahead in (0, HOUR, -HOUR):
            clock.set_ahead(ahead)
            begin = wall_millis()
            wall, boot, steady = other.times()
            end = wall_millis()
            assert begin + ahead - 1 <= wall <= end + ahead + 1
            assert begin + ahead <= clock.now()
            assert boot - before[1] < HOUR / 1_000 / 2
            assert abs((boot - before[1]) - (steady - before[2])) < HOUR / 1_000 / 2
    finally:
        other.end()


def test_which_process_has_which_clock(tmp_path: Path) -> None:
    on_file = Clocks(tmp_path, tmp_path, "sqlite", 1)
    assert on_file.environment_of(0) == on_file.database.environment()
    on_server = Clocks(tmp_path, tmp_path, "postgresql", 2)
    own = [each.environment() for each in on_server.nodes]
    assert [on_server.environment_of(place) for place in (0, 1, 2)] == [*own, own[0]]
    assert on_server.database.environment() not in own
