"""Clocks of other processes can be set, while what counts durations goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chaos.clock import LEFT_OUT, Clocks, WallClock, library, wall_millis
from tests.ports.postgresql_server import Missing, missing

HOUR = 3_600_000
ROOT = Path(__file__).parents[2]
ASKS = """
import sys, time
for line in sys.stdin:
    print(time.time_ns() // 1_000_000, time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic(), flush=True)
"""


SHEDS = f"""
from chaos.clock import shed
shed()
{ASKS}"""
CHILD = """
import subprocess, sys
from chaos.clock import shed
shed()
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
CROWD = """
import resource, sys, threading
sys.setswitchinterval(5)
ended = False
def spin():
    while not ended:
        pass
threads = [threading.Thread(target=spin) for _ in range(3)]
for each in threads:
    each.start()
for _ in range(1_000_000):
    pass
ended = True
for each in threads:
    each.join()
print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw)
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

    def __init__(self, clock: WallClock, *words: str, threads: bool = True) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-c", *(words or (ASKS,))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
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


@pytest.mark.parametrize(("words", "follows"), [((SHEDS,), True), ((CHILD, ASKS), False)])
def test_a_node_keeps_its_clock_and_its_children_have_none(
    found: Path, tmp_path: Path, words: tuple[str, ...], *, follows: bool
) -> None:
    clock = WallClock(tmp_path / "clock", found)
    other = Asked(clock, *words)
    try:
        other.times()
        for ahead in (HOUR, -HOUR):
            clock.set_ahead(ahead)
            begin = wall_millis()
            wall, *_ = other.times()
            end = wall_millis()
            shown = ahead if follows else 0
            assert begin + shown - 1 <= wall <= end + shown + 1
    finally:
        other.end()


def test_threads_wait_for_each_other_as_they_do_without_the_library(found: Path, tmp_path: Path) -> None:
    """Waits that are over at once make each thread ask all others to stop: a node crawls then."""
    clock = WallClock(tmp_path / "clock", found)
    words = [sys.executable, "-c", CROWD]
    done = subprocess.run(  # noqa: S603 - our own
        words, env={**os.environ, **clock.environment()}, check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 1_000


def test_which_process_has_which_clock(tmp_path: Path) -> None:
    on_file = Clocks(tmp_path, tmp_path, "sqlite", 1)
    assert on_file.environment_of(0) == on_file.database.environment()
    on_server = Clocks(tmp_path, tmp_path, "postgresql", 2)
    own = [each.environment() for each in on_server.nodes]
    assert [on_server.environment_of(place) for place in (0, 1, 2)] == [*own, own[0]]
    assert on_server.database.environment() not in own
