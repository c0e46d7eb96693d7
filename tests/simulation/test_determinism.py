"""Two runs of one seed tell the same story, to the byte, whatever the process and the machine do."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

START = 7_000
SEEDS = 200
TELL = (
    "import sys, hashlib;"
    "from simulation.campaign import story_of;"
    "from simulation.scenario import make_scenario;"
    "[print(seed, hashlib.sha256('\\n'.join(story_of(make_scenario(seed))).encode()).hexdigest())"
    " for seed in range(int(sys.argv[1]), int(sys.argv[2]))]"
)
BUSY = "import os; os.nice(5)\nwhile True: sum(range(10_000))"


@contextmanager
def load() -> Iterator[None]:
    """Others want the processor, too: one more than there are cores."""
    command = [sys.executable, "-c", BUSY]
    busy = [subprocess.Popen(command) for _ in range((os.cpu_count() or 1) + 1)]  # noqa: S603 - our own code
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def teller(seeds: range, hashes: str) -> subprocess.Popen[str]:
    """A process of its own that says a line for each seed."""
    return subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", TELL, str(seeds.start), str(seeds.stop)],
        env={**os.environ, "PYTHONHASHSEED": hashes},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_seeds_are_the_same_in_every_process() -> None:
    seeds = range(START, START + SEEDS)
    with load():
        tellers = [teller(seeds, "1"), teller(seeds, "2")]  # at the same time
        first, second = (each.communicate()[0].splitlines() for each in tellers)
    assert [each.returncode for each in tellers] == [0, 0]
    assert len(first) == len(seeds)
    assert len({line.split()[1] for line in first}) == len(seeds)  # each has a story of its own
    nothing = hashlib.sha256(b"").hexdigest()
    assert all(nothing not in line for line in first)
    assert first == second
