"""W1 to W4 and W6: NoOp steps and Python functions, on SQLite and PostgreSQL, in a process of their own.

python -m benchmarks speed
"""

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.harness.databases import Databases, databases
from benchmarks.harness.program import ours
from benchmarks.harness.targets import START_P50, START_P99, rate_target
from benchmarks.harness.workloads import BY_NAME, RATED, W6, Measured
from benchmarks.row import Row

KINDS: Final = ("noop", "async")
NAMES: Final = {
    "noop": "NoOp",
    "async": "Python",
    "sync": "Python in threads",
    "busy": "Python, 5 ms each",
    "waiting": "Python in threads, 50 ms each",
}


def measured(into: Databases, kinds: Sequence[str], wanted: Sequence[str]) -> Iterator[Row]:
    """All workloads for each kind of step on each kind of database."""
    for database in wanted:
        for kind in kinds:
            with ours(kind, into.new(database)) as program:
                for workload in (*RATED, W6):
                    yield from rows_of(program.measure(workload), kind, database)


def rows_of(found: Measured, kind: str, database: str) -> Iterator[Row]:
    """The figure, and where there is one, the spread of the runs behind it."""
    workload = BY_NAME[found.workload]
    where, key = f"{NAMES[kind]}, {database}", f"{workload.name}/{kind}/{database}"
    if found.figure is not None:
        name = f"{workload.name} {found.size:,} {workload.what}; {where}"
        yield Row(name, found.figure, workload.unit, rate_target(kind, database, workload.name), 0, key=key)
        yield Row(f"{workload.name} CPU of a step; {where}", found.cpu, "us", None, 0, key=f"{key}/cpu")
    if found.p50 is None or found.p99 is None:
        return
    what, scale, unit = "submit to end", 1, "s"
    targets: tuple[float | None, float | None] = (None, rate_target(kind, database, f"{workload.name} p99"))
    if workload is W6:
        what, scale, unit, targets = "start to first step", 1_000, "ms", (START_P50, START_P99)
    for rank, value, target in zip(("p50", "p99"), (found.p50, found.p99), targets, strict=True):
        name = f"{workload.name} {what}, {rank}; {where}"
        yield Row(name, value * scale, unit, target, 0, key=f"{key}/{rank}")


def run() -> Iterator[Row]:
    with databases() as into:
        yield from measured(into, KINDS, into.kinds)
