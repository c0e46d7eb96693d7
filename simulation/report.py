"""What a campaign has tried, as tables."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from simulation.counters import Counters
from stretto.engine import events
from stretto.model.status import RunStatus, StepStatus

OF_ATTEMPTS: Final = tuple(
    name
    for name, each in vars(events).items()
    if isinstance(each, type) and issubclass(each, events.Event) and "attempt" in each.__struct_fields__
)
OF_RUNS: Final = tuple(
    name
    for name, each in vars(events).items()
    if isinstance(each, type) and issubclass(each, events.Event) and "run" in each.__struct_fields__
)
S = StepStatus
ENOUGH: Final = 100  # times that a long campaign must have met each pair
# Statuses in which no event can find an attempt: no decision ends in them.
IMPOSSIBLE: Final[Mapping[StepStatus, str]] = {
    S.INITIALIZED: "passed within one decision: an attempt waits before it, or behind it",
    S.DISABLED: "no construct of a definition and no action switches a step off",
}
PAIRS: Final = (
    *((status.value, name) for status in S if status not in IMPOSSIBLE for name in OF_ATTEMPTS),
    *((f"run {status}", name) for status in RunStatus for name in OF_RUNS),
)


def tables(counters: Counters) -> Iterator[str]:
    """All tables, line by line."""
    yield from _counts("Figures", counters.figures)
    yield from _counts("Constructs", counters.constructs)
    yield from _counts("Trouble", counters.troubles)
    yield from _pairs(counters.pairs)


def _counts(title: str, counts: Counter[str]) -> Iterator[str]:
    yield ""
    yield title
    for name, count in sorted(counts.items()):
        yield f"  {name:<40} {count:>12,}"


def _pairs(pairs: Counter[tuple[str, str]]) -> Iterator[str]:
    """How often each event was decided in each status; what was never met stands apart."""
    yield ""
    yield "Events by the status of the attempt, or run, that they met"
    statuses = sorted({status for status, _ in pairs})
    for status in statuses:
        met = {event: count for (at, event), count in sorted(pairs.items()) if at == status}
        line = ", ".join(f"{event} {count:,}" for event, count in met.items())
        yield f"  {status:<32} {line}"
    yield ""
    yield "Can not be met"
    for status, reason in IMPOSSIBLE.items():
        yield f"  {status.value:<32} any event: {reason}"
    yield from _missing("Never met", pairs, 1)
    yield from _missing(f"Met fewer than {ENOUGH} times", pairs, ENOUGH)


def _missing(title: str, pairs: Counter[tuple[str, str]], least: int) -> Iterator[str]:
    """Which pairs a campaign has not met so often."""
    found: dict[str, list[str]] = {}
    for status, event in PAIRS:
        if pairs[status, event] < least:
            found.setdefault(status, []).append(f"{event} {pairs[status, event]:,}")
    yield ""
    yield f"{title}: {sum(map(len, found.values())):,} of {len(PAIRS):,} pairs"
    for status, names in found.items():
        yield f"  {status:<32} {', '.join(names)}"
