"""W1 to W4 with limits that never bind, beside the same without limits, in one process and in turn.

python -m benchmarks permits

NoOp steps pass permits in the commit that ends them. Functions hold them: their permits are rows, granted and
given back.
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

ROUNDS: Final = {"noop": 20, "async": 20}  # each of five is first four times
GROUPS: Final = 8  # runs at once that share a tag, each in a group of its own
NAMES: Final = {
    Limit.WORKFLOW: "`step_concurrency`",
    Limit.INSTANCE: "`instance_step_concurrency`",
    Limit.FREE_TAG: "a tag that nobody limits",
    Limit.TAG: "a tag with a limit",
}
KINDS: Final = {"noop": "NoOp", "async": "functions"}
# Of one run, where that is less than the whole workload: functions take their time.
ALONE: Final = {"noop": {}, "async": {"W1": 50, "W2": 500, "W3": 100, "W4": 500}}
# Of each of the runs that share a tag.
SHARED_SIZES: Final = {"noop": {"W2": 250, "W4": 250}, "async": {"W1": 25, "W2": 60, "W4": 60}}


def run() -> Iterator[Row]:
    with databases() as into:
        for database in into.kinds:
            for kind in KINDS:
                with ours(kind, into.new(database)) as program:
                    yield from measured(program, kind, database)


def measured(program: Program, kind: str, database: str) -> Iterator[Row]:
    for workload in RATED:
        size = ALONE[kind].get(workload.name, workload.size)
        yield from beside_plain(program, workload, size, list(NAMES), LIMITED, kind, database)
    for workload in RATED:
        if workload.name != "W3":  # which has many runs anyhow
            size = SHARED_SIZES[kind].get(workload.name, workload.size)
            yield from beside_plain(program, workload, size, [Limit.TAG], SHARED, kind, database, GROUPS)


def beside_plain(  # noqa: PLR0913, PLR0917 - what is measured, and with what
    program: Program,
    workload: Workload,
    size: int,
    limits: Sequence[Limit],
    target: float,
    kind: str,
    database: str,
    runs: int = 1,
) -> Iterator[Row]:
    """The time of a workload with each of some limits, as a multiple of that without: the median of some
    rounds, in each of which all of them have their turn, and each time another one is first: SQLite copies
    its log every 16 MB, which would meet the same one in each round.
    """
    shapes = [Limit.NONE, *limits]
    spent: dict[Limit, list[float]] = {limit: [] for limit in shapes}
    for turn in range(ROUNDS[kind] + 1):
        first = turn % len(shapes)
        for limit in shapes[first:] + shapes[:first]:
            found = program.ask(f"{workload.name}/{limit}/{runs}", size)["seconds"]
            if turn:  # the first round warms up
                spent[limit].append(found)
    plain = median(spent[Limit.NONE])
    what = f"{workload.name} {size:,} {workload.what}"
    where = f"{KINDS[kind]}, {database}"
    if runs > 1:
        where = f"{runs} runs at once; {where}"
    key = f"permits/{kind}/{database}/{workload.name}/{runs}"
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
