"""How a schedule was kept: no fire is left out, none comes twice, none is late without a reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from stretto.model.initiator import TimeInitiator
from stretto.ports.rows import RunRow

MOST_LAG: Final = 10.0  # seconds, during which a node could reach a database that answers


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


def lags_of(fires: Sequence[Fire], without: Callable[[int, int], int]) -> list[float]:
    """Seconds from due to started, sorted. `without`: how much of a time does not count, in milliseconds."""
    return sorted((each.started - each.due - without(*each)) / 1_000 for each in fires)


def schedule_violations(
    fires: Sequence[Fire], every: int, without: Callable[[int, int], int]
) -> Iterator[str]:
    """Of one schedule with a fire every so many milliseconds."""
    times = Counter(each.due for each in fires)
    for due, number in times.items():
        if number > 1:
            yield f"doubled: the fire due at {due} has started {number} runs"
    if not times:
        yield "lost: the schedule has started nothing"
        return
    for due in range(min(times), max(times), every):
        if due not in times:
            yield f"lost: the fire due at {due} has started no run"
    for each in fires:
        lag = (each.started - each.due - without(*each)) / 1_000
        if lag > MOST_LAG:
            yield f"the fire due at {each.due} has started its run {lag:.1f} s late, where a node could"
