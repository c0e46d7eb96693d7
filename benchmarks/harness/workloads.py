"""W1 to W6: how much of each, and what the figure of a measurement is."""

from collections.abc import Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from benchmarks.ours.shapes import SHORT


class Workload(NamedTuple):
    """One kind of work. `steps` of a size are counted in its rate."""

    name: str
    what: str
    size: int
    unit: str
    steps: int = 1

    def figure(self, seconds: float, size: int) -> float:
        """Milliseconds per step where less is better, else steps or items per second."""
        if self.unit == "ms/step":
            return seconds / size * 1_000
        return size * self.steps / seconds


W1: Final = Workload("W1", "steps in a row", 100, "ms/step")
W2: Final = Workload("W2", "parallel steps, then a join", 1_000, "steps/s")
W3: Final = Workload("W3", f"runs of {SHORT} steps, submitted at once", 200, "steps/s", SHORT)
W4: Final = Workload("W4", "items of a loop", 2_000, "items/s")
W6: Final = Workload("W6", "starts, one after the other", 30, "ms")
RATED: Final = (W1, W2, W3, W4)
BY_NAME: Final = {each.name: each for each in (*RATED, W6)}


class Measured(NamedTuple):
    """What came out of some rounds of a workload: the median figure, the processor time of a step in
    microseconds, and the spread of its runs in seconds.
    """

    workload: str
    size: int
    figure: float | None
    cpu: float
    p50: float | None = None
    p99: float | None = None


def measured(workload: Workload, size: int, answers: Sequence[dict[str, Any]]) -> Measured:
    """The middle one of some answers."""
    late = median_spread([each["late"] for each in answers if each.get("late")])
    cpu = median(each["cpu"] for each in answers) / (size * workload.steps) * 1e6
    if workload is W6:
        return Measured(workload.name, size, None, cpu, *late)
    spent = median(each["seconds"] for each in answers)
    return Measured(workload.name, size, workload.figure(spent, size), cpu, *late)


def median_spread(rounds: Sequence[Sequence[float]]) -> tuple[float, float] | tuple[()]:
    """The medians of p50 and p99."""
    if not rounds:
        return ()
    return median(percentile(each, 50) for each in rounds), median(percentile(each, 99) for each in rounds)


def percentile(values: Sequence[float], rank: int) -> float:
    """The smallest value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * rank // 100) - 1)]
