"""Several engines on one PostgreSQL: each is given the same work at the same time, and all do some of it.

python -m benchmarks processes
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import Final

from benchmarks.harness.databases import Databases, databases
from benchmarks.harness.program import Program, ours
from benchmarks.harness.targets import TWO_PROCESSES
from benchmarks.harness.workloads import W3
from benchmarks.row import Row
from benchmarks.speed import NAMES

RUNS: Final = {"async": 400, "busy": 150, "waiting": 200}  # by kind of step
COUNTS: Final = {"waiting": (1, 2, 4)}  # where the processors are not the limit, more than there are
TARGETS: Final = {"busy": TWO_PROCESSES, "waiting": TWO_PROCESSES}  # where the database is not the limit
ROUNDS: Final = 3
SPREAD_WITHIN: Final = 20.0  # seconds: eight of 64 groups change hands with each beat, of two seconds


def rate(programs: list[Program], runs: int) -> float:
    """Steps per second of all together, until the last has all its runs."""
    spent = []
    for _ in range(1 + ROUNDS):
        begun = time.perf_counter()
        for each in programs:
            each.tell(W3.name, runs)
        for each in programs:
            each.heard()
        spent.append(time.perf_counter() - begun)
    return len(programs) * runs * W3.steps / median(spent[1:])


def curve(into: Databases, kind: str) -> Iterator[Row]:
    alone, runs = 0.0, RUNS[kind]
    for count in COUNTS.get(kind, (1, 2)):
        url = into.new("postgresql")
        with ExitStack() as stack:
            programs = [stack.enter_context(ours(kind, url)) for _ in range(count)]
            time.sleep(SPREAD_WITHIN)
            found = rate(programs, runs)
        alone = alone or found
        what = "process" if count == 1 else "processes"
        name = f"W3-like, {count} {what}, {runs} runs each; {NAMES[kind]}, postgresql"
        yield Row(name, found, "steps/s", None, found / alone, "one process", f"processes/{kind}/{count}")
        if count == 2:
            key, target = f"processes/{kind}/2 beside 1", TARGETS.get(kind)
            yield Row(f"two processes; {NAMES[kind]}", found / alone, "times one", target, 0, key=key)


def run() -> Iterator[Row]:
    with databases() as into:
        for kind in RUNS:
            yield from curve(into, kind)
