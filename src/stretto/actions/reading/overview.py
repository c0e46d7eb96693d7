"""Is all well, and what needs somebody: everything at a glance.

Nothing here looks through all runs. How runs ended comes from counters; everything else is the beginning of
an index, read up to a number that is far above what anybody looks at: where that was not enough, it says so.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import merge
from typing import Any, Final

import msgspec

import stretto
from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.living import nodes_now
from stretto.actions.reading.histogram import Histogram, histogram, width_of
from stretto.actions.reading.lines import RunRef, run_ref
from stretto.actions.reading.listing import Sight
from stretto.actions.reading.percentiles import Spread, spread
from stretto.model.page import Count
from stretto.model.status import RunStatus
from stretto.ports.clock import Clock
from stretto.ports.groups import NodeState
from stretto.ports.history import Counted, QuarantinedRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import FirstError, RunGlance
from stretto.ports.store import Store
from stretto.ports.triggers import FiresBetween, TimeTriggerRow
from stretto.ports.views import NewestIn, RecentRuns, by_workflow
from stretto.ports.workflows import TOTALS_EVERY

BUCKETS: Final = 48
MOST_FAILED: Final = 300  # newest failures among which failing workflows are found
MOST_FAILING: Final = 32  # workflows that are looked at: twice as many as are read at once
LONGEST_STREAK: Final = 14  # newest runs of each that are looked at
MOST_WAITING: Final = 1_000  # newest unfinished runs whose waits are counted
SAMPLE: Final = 300  # newest successes whose durations are looked at
MOST_FIRES: Final = 10
MOST_ASIDE: Final = 100
NEVER: Final = 2**62
LATE_AFTER: Final = 60_000  # milliseconds that a fire may be late before it is said
UNFINISHED: Final = {
    "running": RunStatus.IN_PROGRESS,
    "paused": RunStatus.PAUSED,
    "queued": RunStatus.CREATED,
}
BAD: Final = frozenset({RunStatus.FAILED, RunStatus.TIMED_OUT})


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow whose newest runs failed: how many in a row, the last of them, and what was wrong."""

    workflow_id: str
    streak: Count
    run: RunRef
    status: RunStatus
    end_time: int | None = None
    first_error: FirstError | None = None


class FireLine(msgspec.Struct, frozen=True, kw_only=True):
    """A time trigger, and when it fires, or should have."""

    trigger_id: str
    workflow_id: str
    time: int


class NodeCounts(msgspec.Struct, frozen=True, kw_only=True):
    alive: int
    leaving: int
    silent: int  # their beats have stopped, and nobody has buried them yet
    dead: int


class OverviewOfAll(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at a glance.

    waits   What unfinished runs wait for, the oldest wait of each, by its kind.
    ended   How runs ended in the window, by when that was.
    late    Fires that are overdue.
    """

    time: int
    version: str
    failing: tuple[Failing, ...]
    failing_count: Count
    running: Count
    paused: Count
    queued: Count
    waits: Mapping[str, int]
    waits_exact: bool
    quarantined: Count
    parked: Count
    late: tuple[FireLine, ...]
    next: tuple[FireLine, ...]
    ended: Histogram
    duration: Spread
    start_delay: Spread
    nodes: NodeCounts
    database_latency: int  # microseconds


async def get_overview(store: Store, caller: Caller, clock: Clock, window: int) -> OverviewOfAll:
    """Over the last `window` milliseconds."""
    check_role(caller, Role.VIEWER, "see the overview")
    latency, now = await _latency(store, clock)
    width = width_of(window, BUCKETS, TOTALS_EVERY)
    until = now - now % TOTALS_EVERY + TOTALS_EVERY
    since = until - width * BUCKETS
    sight = Sight(store, caller)
    failing, standing, fires, ended, samples, nodes = await asyncio.gather(
        _failing(store, sight, since),
        _standing(store),
        _fires(store, sight, now),
        store.totals(since, until, width),
        store.glances(NewestIn(RunStatus.SUCCEEDED, since=since, most=SAMPLE, summaries=False)),
        nodes_now(store),
    )
    states = Counter(node.state for node in nodes)
    return OverviewOfAll(
        time=now,
        version=stretto.__version__,
        **failing,
        **standing,
        **fires,
        ended=histogram(since, width, BUCKETS, ((each.begin, each.statuses) for each in ended)),
        duration=spread(run.duration for run in samples.elements),
        start_delay=spread(run.start_time and run.start_time - run.create_time for run in samples.elements),
        nodes=NodeCounts(
            alive=states[NodeState.ALIVE],
            leaving=states[NodeState.LEAVING],
            silent=states[NodeState.SILENT],
            dead=states[NodeState.DEAD],
        ),
        database_latency=latency,
    )


async def _latency(store: Store, clock: Clock) -> tuple[int, int]:
    """How long the database takes to say what time it is, and that."""
    before = clock.steady()
    now = await store.now()
    return round((clock.steady() - before) * 1_000_000), now


# ---------------------------------------------------------------------------------------------------- failing
async def _failing(store: Store, sight: Sight, since: int) -> dict[str, Any]:
    lists = await asyncio.gather(
        *(
            store.glances(NewestIn(status, since=since, most=MOST_FAILED, summaries=False))
            for status in sorted(BAD)
        )
    )
    newest = merge(*(each.elements for each in lists), key=lambda run: run.create_time, reverse=True)
    ids = list(dict.fromkeys(run.key.workflow_id for run in newest))
    looked_at = ids[:MOST_FAILING]
    recent = by_workflow((await store.glances(RecentRuns(looked_at, LONGEST_STREAK))).elements)
    seen = await sight.of(looked_at)
    found = [each for each in map(_streak, (recent.get(each, []) for each in looked_at)) if each is not None]
    shown = tuple(each for each in found if each.workflow_id in seen)
    exact = len(looked_at) == len(ids) and all(len(each.elements) < MOST_FAILED for each in lists)
    return {"failing": shown, "failing_count": Count(value=len(found), exact=exact)}


def _streak(runs: Sequence[RunGlance]) -> Failing | None:
    """Of the newest runs first; one that was stopped says nothing, and one that goes on nothing yet."""
    over = [run for run in runs if run.status in BAD or run.status is RunStatus.SUCCEEDED]
    well = next((place for place, run in enumerate(over) if run.status not in BAD), None)
    bad = over[:well]
    if not bad:
        return None
    last = bad[0]
    return Failing(
        workflow_id=last.key.workflow_id,
        streak=Count(value=len(bad), exact=well is not None or len(runs) < LONGEST_STREAK),
        run=run_ref(last.key),
        status=last.status,
        end_time=last.end_time,
        first_error=last.summary.first_error,
    )


# --------------------------------------------------------------------------------------------------- standing
async def _standing(store: Store) -> dict[str, Any]:
    going_on, aside, parked, counted = await asyncio.gather(
        store.glances(NewestIn(RunStatus.IN_PROGRESS, most=MOST_WAITING)),
        store.runs(QuarantinedRuns(Cut(most=MOST_ASIDE))),
        store.parked_messages(Cut(most=MOST_ASIDE)),
        asyncio.gather(*(store.count_runs(RunFilter(statuses=[status])) for status in UNFINISHED.values())),
    )
    waits = Counter(run.summary.wait.kind for run in going_on.elements if run.summary.wait is not None)
    return {
        **{name: _count(each) for name, each in zip(UNFINISHED, counted, strict=True)},
        "waits": dict(sorted(waits.items())),
        "waits_exact": len(going_on.elements) < MOST_WAITING,
        "quarantined": Count(value=len(aside.elements), exact=not aside.after),
        "parked": Count(value=len(parked.elements), exact=not parked.after),
    }


def _count(counted: Counted) -> Count:
    return Count(value=counted.value, exact=counted.exact)


# ------------------------------------------------------------------------------------------------------ fires
async def _fires(store: Store, sight: Sight, now: int) -> dict[str, Any]:
    late, coming = await asyncio.gather(
        store.time_triggers(FiresBetween(0, now - LATE_AFTER, most=MOST_FIRES)),
        store.time_triggers(FiresBetween(now - LATE_AFTER, NEVER, most=MOST_FIRES)),
    )
    seen = await sight.of(row.workflow_id for row in (*late.elements, *coming.elements))
    return {"late": _lines(late.elements, seen), "next": _lines(coming.elements, seen)}


def _lines(rows: Iterable[TimeTriggerRow], seen: frozenset[str]) -> tuple[FireLine, ...]:
    return tuple(
        FireLine(trigger_id=row.trigger_id, workflow_id=row.workflow_id, time=row.next_fire_at)
        for row in rows
        if row.workflow_id in seen and row.next_fire_at is not None
    )
