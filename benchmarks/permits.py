"""W1 to W4 with limits that never bind, beside the same without limits, in one process and in turn.

python -m benchmarks permits
"""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from benchmarks.harness.databases import databases
from benchmarks.harness.program import Program, ours
from benchmarks.harness.targets import LIMITED, SHARED
from benchmarks.harness.workloads import RATED, Workload
from benchmarks.ours.shapes import Limit
from benchmarks.row import Row

ROUNDS: Final = 9
GROUPS: Final = 8  # runs at once that share a tag, each in a group of its own
NAMES: Final = {
    Limit.WORKFLOW: "`step_concurrency`",
    Limit.INSTANCE: "`instance_step_concurrency`",
    Limit.FREE_TAG: "a tag that nobody limits",
    Limit.TAG: "a tag with a limit",
}
SIZES: Final = {"W2": 250, "W4": 250}  # of each of the runs that share a tag


def run() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            with ours("noop", into.new(database)) as program:
                yield from measured(program, database)


def measured(program: Program, database: str) -> Iterator[Row]:
    for workload in RATED:
        yield from beside_plain(program, workload, workload.size, list(NAMES), LIMITED, database)
    for workload in RATED:
        if workload.name != "W3":  # which has many runs anyhow
            size = SIZES.get(workload.name, workload.size)
            yield from beside_plain(program, workload, size, [Limit.TAG], SHARED, database, GROUPS)


def beside_plain(
    program: Program,
    workload: Workload,
    size: int,
    limits: Sequence[Limit],
    target: float,
    database: str,
    runs: int = 1,
) -> Iterator[Row]:
    """The time of a workload with each of some limits, as a multiple of that without: the median of some
    rounds, in each of which all of them have their turn.
    """
    shapes = [Limit.NONE, *limits]
    spent: dict[Limit, list[float]] = {limit: [] for limit in shapes}
    for turn in range(ROUNDS + 1):
        for limit in shapes:
            found = program.ask(f"{workload.name}/{limit}/{runs}", size)["seconds"]
            if turn:  # the first round warms up
                spent[limit].append(found)
    plain = median(spent[Limit.NONE])
    what = f"{workload.name} {size:,} {workload.what}"
    where = f"{runs} runs at once; {database}" if runs > 1 else database
    key = f"permits/{workload.name}/{runs}/{database}"
    yield Row(f"{what}, without limits; {where}", plain * 1_000, "ms", None, 0, key=key)
    for limit in limits:
        ratios = [each / other for each, other in zip(spent[limit], spent[Limit.NONE], strict=True)]
        yield Row(
            f"{what}, {NAMES[limit]}; {where}",
            median(ratios),
            "times plain",
            target,
            0,
            key=f"{key}/{limit}",
        )
