"""W5: how long the shortest program takes as a new process, and what an engine weighs, idle and in W3.

python -m benchmarks start

A server, from its start to its first answer, is measured with what it answers: python -m benchmarks api
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.harness.databases import databases
from benchmarks.harness.program import ours, timed
from benchmarks.harness.targets import HELLO, IDLE_MEMORY, PEAK_MEMORY
from benchmarks.harness.usage import Peak
from benchmarks.harness.workloads import W3
from benchmarks.row import Row
from benchmarks.speed import KINDS, NAMES

HERE: Final = Path(__file__).parent
TIMES: Final = 7


def hello() -> float:
    """Seconds, with a new database each time; the median."""
    command = [sys.executable, str(HERE / "ours" / "hello.py")]
    times = []
    for _ in range(1 + TIMES):
        with TemporaryDirectory(prefix="stretto-hello-") as folder:
            times.append(timed(command, Path(folder)))
    return median(times[1:])


def memory() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            for kind in KINDS:
                where, key = f"{NAMES[kind]}, {database}", f"{kind}/{database}"
                with ours(kind, into.new(database)) as program:
                    idle = program.memory()
                    with Peak(program) as peak:
                        program.measure(W3)
                yield Row(f"memory, idle; {where}", idle, "MB", IDLE_MEMORY, 0, key=f"idle/{key}")
                yield Row(f"memory, peak of W3; {where}", peak.most, "MB", PEAK_MEMORY, 0, key=f"peak/{key}")


def run() -> Iterator[Row]:
    yield Row("hello, a new process and a new database", hello(), "s", HELLO, 0, key="hello")
    yield from memory()
