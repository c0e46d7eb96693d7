"""Two runs of one seed tell the same story, to the byte, whatever the process and the machine do."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

START = 7_000
SOME = 40
MANY = 200
TELL = (
    "import sys, hashlib;"
    "from stretto.testing.simulation.campaign import story_of;"
    "from stretto.testing.simulation.scenario import make_scenario;"
    "[print(seed, hashlib.sha256('\\n'.join(story_of(make_scenario(seed))).encode()).hexdigest())"
    " for seed in range(int(sys.argv[1]), int(sys.argv[2]))]"
)
BUSY = "while True: sum(range(10_000))"


@contextmanager
def load() -> Iterator[None]:
    """Somebody else wants the processor, too."""
    busy = subprocess.Popen([sys.executable, "-c", BUSY])  # noqa: S603 - our own code
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def stories(seeds: range, hashes: str) -> list[str]:
    """A line for each seed, told by a process of its own."""
    told = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", TELL, str(seeds.start), str(seeds.stop)],
        env={**os.environ, "PYTHONHASHSEED": hashes},
        capture_output=True,
        check=True,
        text=True,
    )
    return told.stdout.splitlines()


def compared(seeds: range) -> None:
    with load():
        first, second = stories(seeds, "1"), stories(seeds, "2")
    assert len(first) == len(seeds)
    assert len({line.split()[1] for line in first}) == len(seeds)  # each has a story of its own
    nothing = hashlib.sha256(b"").hexdigest()
    assert all(nothing not in line for line in first)
    assert first == second


def test_some_seeds_are_the_same_in_every_process() -> None:
    compared(range(START, START + SOME))


@pytest.mark.prove
def test_many_seeds_are_the_same_in_every_process() -> None:
    compared(range(START, START + MANY))
