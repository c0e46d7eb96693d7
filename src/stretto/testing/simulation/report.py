"""What a campaign has tried, as tables."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from stretto.engine import events
from stretto.model.status import RunStatus, StepStatus
from stretto.testing.simulation.counters import Counters

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
# Statuses that no event can meet, whatever is tried.
NEVER_MET: Final[Mapping[StepStatus, str]] = {
    S.DISABLED: "nothing switches a step off",
    S.INITIALIZED: "passed within one decision",
}
WAY: Final = (  # of an attempt; whatever has ended comes behind all of them
    *(S.NOT_CREATED, S.CREATED, S.INITIALIZED, S.PAUSED, S.WAITING_FOR_SIGNALS, S.EVALUATING_PARAMS),
    *(S.WAITING_FOR_PERMITS, S.STARTING, S.RUNNING, S.FINISHING),
)
# Before an attempt has come so far, nobody can bring the event.
EARLIEST: Final[Mapping[str, tuple[StepStatus, str]]] = {
    "Reported": (S.STARTING, "nothing is launched"),
    "WorkLost": (S.STARTING, "nothing is launched"),
    "StepTimeDue": (S.STARTING, "its time counts from its start"),
    "Woken": (S.STARTING, "it has no time to wake at"),
    "BreakpointGone": (S.PAUSED, "it is not held"),
    "SignalCame": (S.WAITING_FOR_SIGNALS, "nobody waits for a signal"),
    "Evaluated": (S.EVALUATING_PARAMS, "nothing was asked for"),
    "Granted": (S.WAITING_FOR_PERMITS, "no permit was asked for"),
    "ChildStarted": (S.RUNNING, "no child was asked for"),
    "ChildRefused": (S.RUNNING, "no child was asked for"),
    "ChildEnded": (S.RUNNING, "no child was asked for"),
    "ChildCounted": (S.RUNNING, "no child was asked for"),
    "CalledBack": (S.RUNNING, "it does not wait for anybody"),
    "Resumed": (S.RUNNING, "no loop has begun"),
    "SignalsAnnounced": (S.FINISHING, "nothing is announced yet"),
}
TIMERS: Final = frozenset({"Woken", "StepTimeDue"})  # the node drops those that count no more


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
    yield "Never met"
    impossible: dict[str, list[str]] = {}
    for status in StepStatus:
        missing = [name for name in OF_ATTEMPTS if not pairs[status.value, name]]
        if status in NEVER_MET and len(missing) == len(OF_ATTEMPTS):
            impossible[f"any event: {NEVER_MET[status]}"] = [status.value]
            continue
        reasons = {name: why_never(status, name) for name in missing}
        for name, reason in reasons.items():
            if reason is not None:
                impossible.setdefault(f"{name}: {reason}", []).append(status.value)
        possible = [name for name, reason in reasons.items() if reason is None]
        if possible:
            yield f"  {status.value:<32} {', '.join(possible)}"
    for run in RunStatus:
        missing = [name for name in OF_RUNS if not pairs[f"run {run}", name]]
        if missing:
            yield f"  {f'run {run}':<32} {', '.join(missing)}"
    yield ""
    yield "Can not happen"
    for what, statuses in sorted(impossible.items()):
        yield f"  {what:<60} {', '.join(statuses)}"


def why_never(status: StepStatus, event: str) -> str | None:
    """Why an event can not meet an attempt in a status; None: it can."""
    if event in EARLIEST:
        first, reason = EARLIEST[event]
        if status in WAY and WAY.index(status) < WAY.index(first):
            return reason
    if event in TIMERS and status.is_terminal and not status.is_retryable:
        return "timers that count no more are dropped"
    return None
