"""Ten times the work: how many times the time; and a very long loop: how much memory.

python -m benchmarks growth
"""

from collections.abc import Iterator
from statistics import median
from typing import Final

from benchmarks.harness.databases import databases
from benchmarks.harness.program import Program, ours
from benchmarks.harness.targets import GROWTH, LOOP_MEMORY
from benchmarks.harness.usage import Peak
from benchmarks.row import Row
from benchmarks.speed import KINDS, NAMES

SIZES: Final = {"W2": 900, "W3": 200, "W4": 2_000}  # a definition may have 10,000 steps
TIMES: Final = 10
ROUNDS: Final = 2
LOOP: Final = 100_000


def ratio(program: Program, workload: str, size: int) -> float:
    """The two in turn, so that whoever else uses the machine disturbs both alike."""
    small: list[float] = []
    large: list[float] = []
    for each in (size, size * TIMES):  # both are published and warm before anything counts
        program.ask(workload, each)
    for _ in range(ROUNDS):
        small.append(program.ask(workload, size)["seconds"])
        large.append(program.ask(workload, size * TIMES)["seconds"])
    return median(large) / median(small)


def growth() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            for kind in KINDS:
                with ours(kind, into.new(database)) as program:
                    for workload, size in SIZES.items():
                        value = ratio(program, workload, size)
                        name = f"{workload} of {size * TIMES:,} beside {size:,}; {NAMES[kind]}, {database}"
                        key = f"growth/{workload}/{kind}/{database}"
                        yield Row(name, value, "times", GROWTH, value / TIMES, "linear time", key)


def loop() -> Iterator[Row]:
    """One that is as long as most get, in a process that has done nothing else."""
    with databases() as into:
        for kind in KINDS:
            with ours(kind, into.new("sqlite")) as program, Peak(program) as peak:
                spent = program.ask("W4", LOOP)["seconds"]
            where = f"{NAMES[kind]}, sqlite"
            yield Row(f"foreach of {LOOP:,}; {where}", LOOP / spent, "items/s", None, 0, key=f"loop/{kind}")
            name = f"foreach of {LOOP:,}, most memory; {where}"
            yield Row(name, peak.most, "MB", LOOP_MEMORY, 0, key=f"loop memory/{kind}")


def run() -> Iterator[Row]:
    yield from growth()
    yield from loop()
