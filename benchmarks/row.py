"""What a benchmark gives, and how it measures."""

from collections.abc import Callable
from time import process_time
from typing import Final, NamedTuple

SECONDS: Final = 0.5  # of each of the rounds, of which the best counts
ROUNDS: Final = 3


class Row(NamedTuple):
    """One measurement. `ratio` says how many times that of `beside` it is.

    A value `per second` (a unit that ends in `/s`) or `times one` should be high, any other low. `key` is
    what tables and plots find it by.
    """

    name: str
    value: float
    unit: str
    target: float | None
    ratio: float
    beside: str = ""
    key: str = ""

    @property
    def hit(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        high = self.unit.endswith("/s") or self.unit == "times one"
        return self.value >= self.target if high else self.value <= self.target


def rate(work: Callable[[], object]) -> float:
    """How often some work can be done in a second of one core, whoever else uses the machine."""
    work()
    best = 0.0
    for _ in range(ROUNDS):
        count, start = 0, process_time()
        while (spent := process_time() - start) < SECONDS:
            for _ in range(100):
                work()
            count += 100
        best = max(best, count / spent)
    return best


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The time that some long work takes on one core: the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return best
