"""How a schedule was kept: no fire is left out, none comes twice, none is late without a reason.

The schedule follows the database's clock, which somebody may set. Moments that the clock leaves out are
missed fires, of which the newest are started; moments that come again are not fired again. A fire is judged
only if nobody has set the clock while it was due: otherwise it may be there, once, or not.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from chaos.clock import ClockHistory
from stretto.model.initiator import TimeInitiator
from stretto.ports.rows import RunRow

MOST_LAG: Final = 10_000  # milliseconds, during which a node could reach a database that answers
MARGIN: Final = 100  # milliseconds by which the moment is known at which the clock was set
STARTED: Final = 300_000  # milliseconds: missed fires that are not older are started, 100 at most

Without = Callable[[int, int], int]  # milliseconds between two moments during which no node could do anything


class Fire(NamedTuple):
    """When a run was due, and when its start was committed; milliseconds on the database's clock."""

    due: int
    started: int


def fires_in(rows: Iterable[RunRow]) -> list[Fire]:
    """Of all runs that a schedule has started, the earliest first."""
    return sorted(
        Fire(row.record.initiator.trigger_time or 0, row.record.create_time)
        for row in rows
        if isinstance(row.record.initiator, TimeInitiator)
    )


class Schedule:
    """One with a fire every so many milliseconds, on a clock that may have been set."""

    def __init__(self, every: int, without: Without, clock: ClockHistory) -> None:
        self._every = every
        self._without = without
        self._clock = clock

    def is_certain(self, due: int) -> bool:
        """Whether this moment must have been fired, and in time."""
        at, skipped = self._clock.reached(due)
        end, longer = at, at + MOST_LAG
        while longer > end:  # what does not count lengthens the time, in which more may not count
            end, longer = longer, at + MOST_LAG + self._without(at, longer)
        begin = at + 1 if skipped else at - MARGIN
        return skipped <= STARTED and not self._clock.was_set(begin, end)

    def lag(self, fire: Fire, *, counts: bool = False) -> int | None:
        """Milliseconds from due to started; None: it was started before. `counts`: without the time that does
        not count.
        """
        at = self._clock.reached(fire.due).at
        later = [moment for moment in self._clock.moments(fire.started) if moment >= at - MARGIN]
        if not later:
            return None
        return max(0, min(later) - at - (self._without(at, min(later)) if counts else 0))

    def lags(self, fires: Sequence[Fire], *, counts: bool = False) -> list[float]:
        """Seconds from due to started, sorted."""
        found = [self.lag(each, counts=counts) for each in fires if self.is_certain(each.due)]
        return sorted(each / 1_000 for each in found if each is not None)

    def violations(self, fires: Sequence[Fire]) -> Iterator[str]:
        """Nothing, if all is well."""
        times = Counter(each.due for each in fires)
        for due, number in times.items():
            if number > 1:
                yield f"doubled: the fire due at {due} has started {number} runs"
        if not times:
            yield "lost: the schedule has started nothing"
            return
        for due in range(min(times), max(times), self._every):
            if due not in times and self.is_certain(due):
                yield f"lost: the fire due at {due} has started no run"
        for each in fires:
            if self.is_certain(each.due):
                yield from self._late(each)

    def _late(self, fire: Fire) -> Iterator[str]:
        lag = self.lag(fire, counts=True)
        if lag is None:
            yield f"the fire due at {fire.due} has started its run before it was due"
        elif lag > MOST_LAG:
            late = f"{lag / 1_000:.1f} s late, where a node could"
            yield f"the fire due at {fire.due} has started its run {late}"
