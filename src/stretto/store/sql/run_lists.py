"""Runs of all workflows by time, filtered.

Each filter has an index of its own that keeps the order. Those with several values (statuses; with or without
nested runs, where nothing else is asked for) are lists of their own, merged: each is walked along its index.
Some filters have none: who asks for them asks for one that has, too. What a run, or a step of it, has started
is sorted: there are no more of these than it has steps.
"""

from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

from stretto.model.status import RunStatus
from stretto.ports.history import Counted, RunFilter, RunTimes
from stretto.ports.paging import Cut
from stretto.store.sql.database import Transaction
from stretto.store.sql.paging import Listing, Page
from stretto.store.sql.rows.runs import ROW, prefixed
from stretto.store.sql.statement import RUN_KEY, Statement, given, same

ORDER: Final = ("listed_at", "workflow_id", "instance_id", "run_id")
CONDITIONS: Final = {
    "status": "run.status = :status",
    "since": "run.listed_at >= :since",
    "until": "run.listed_at < :until",
    "workflow_id": "run.workflow_id = :workflow_id",
    "owner": "run.owner = :owner",
    "correlation_id": "run.correlation_id = :correlation_id",
    "uuid": "run.uuid = :uuid",
    "initiator": "run.initiator = :initiator",
    "version_id": "run.version_id = :version_id",
    "parent": given(RUN_KEY, prefix="parent_", column_prefix="run.parent_"),
    "parent_step": "run.parent_step_id = :parent_step",
    "parent_attempt": "run.parent_attempt_no = :parent_attempt",
    "nested": "run.nested = :nested",
    "tag": "run_tag.tag = :tag",
}
LEADING: Final = ("uuid", "parent", "correlation_id", "workflow_id", "owner", "tag", "status")
"""Filters that have an index of their own. What comes first leads, where a database is told."""
TIMES: Final = ("since", "until")
EVERY: Final = "1"  # nothing else is asked for: the index alone tells
MOST_FETCHED: Final = 1_500  # rows that a count looks at, where the index does not tell
BELOW: Final = ("parent", "parent_step", "parent_attempt")


async def page_of_runs(tx: Transaction, cut: Cut, wanted: RunFilter) -> Page:
    """A page of the runs that are wanted, with the columns of `ROW`."""
    asked, lists = _lists(wanted)
    page = await _listing(asked).merged(tx, cut, lists)
    return page._replace(rows=[row[len(ORDER) :] for row in page.rows])


async def count_of_runs(tx: Transaction, wanted: RunFilter, most: int) -> Counted:
    """How many are wanted, as far as so many entries of each index tell."""
    asked, lists = _lists(wanted)
    reach = most if _walk(asked).fits == EVERY else min(most, MOST_FETCHED)
    value, exact = 0, True
    for values in lists:
        ((found, seen),) = await tx.all(counting(asked), **values, most=reach + 1)
        value += int(found or 0)  # a sum of nothing is null
        exact = exact and seen <= reach
    return Counted(min(value, most), exact and value <= most)


async def times_of_runs(tx: Transaction, wanted: RunFilter, width: int, most: int) -> RunTimes:
    """When those were created that are wanted, as far as so many entries of each index tell."""
    asked, lists = _lists(wanted)
    counts: dict[int, dict[RunStatus, int]] = {}
    seen_from: list[int] = []
    for values in lists:
        rows = await tx.all(spreading(asked), **values, width=width, most=most + 1)
        for begin, status, count, _seen, _oldest in rows:
            if count:
                found = counts.setdefault(begin, {})
                found[RunStatus(status)] = found.get(RunStatus(status), 0) + int(count)
        if sum(row[3] for row in rows) > most:
            seen_from.append(min(row[4] for row in rows))
    return RunTimes(counts=dict(sorted(counts.items())), from_here=max(seen_from, default=None))


def _lists(wanted: RunFilter) -> tuple[frozenset[str], list[dict[str, Any]]]:
    """The names of what is asked for, and the values of each list."""
    above = wanted.parent
    single = {
        "since": wanted.since,
        "until": wanted.until,
        "workflow_id": wanted.workflow_id,
        "owner": wanted.owner,
        "correlation_id": wanted.correlation_id,
        "uuid": wanted.uuid,
        "initiator": wanted.initiator,
        "version_id": wanted.version_id,
        "tag": wanted.tag,
        "parent": above,
        "parent_step": above and above.step_id,
        "parent_attempt": above and above.attempt,
    }
    asked: dict[str, list[Any]] = {name: [value] for name, value in single.items() if value is not None}
    if wanted.statuses:
        asked["status"] = sorted(set(wanted.statuses))
    if wanted.roots:
        asked["nested"] = [0]
    elif asked.keys().isdisjoint(LEADING):
        asked["nested"] = [0, 1]
    lists = [dict(zip(asked, values, strict=True)) for values in product(*asked.values())]
    if above is not None:
        run = {f"parent_{field.name}": part for field, part in zip(RUN_KEY, above.run, strict=True)}
        lists = [{name: value for name, value in each.items() if name != "parent"} | run for each in lists]
    return frozenset(asked), lists


@lru_cache
def _listing(asked: frozenset[str]) -> Listing:
    """What is not asked for is not looked at, so that the index of what is can be used."""
    source, first, conditions = _source(asked)
    order = [f"{first}.{name}" for name in ORDER]
    bounds = [conditions.pop(name) for name in TIMES if name in conditions]
    where = " AND ".join(["run.listed_at IS NOT NULL", *conditions.values()])
    columns = f"{', '.join(order)}, {prefixed(ROW, 'run')}"
    return Listing(columns, f"{source} WHERE {where}", order, newest_first=True, bounds=bounds)


def _source(asked: frozenset[str]) -> tuple[str, str, dict[str, str]]:
    """Where rows come from, the table whose key they are sorted by, and conditions by name."""
    conditions = {name: CONDITIONS[name] for name in sorted(asked)}
    if "tag" in asked:
        if asked.intersection(LEADING) == {"tag"}:
            return f"run_tag JOIN run ON {same(RUN_KEY, 'run', 'run_tag')}", "run_tag", conditions
        tagged = f"{CONDITIONS['tag']} AND {same(RUN_KEY, 'run_tag', 'run')}"
        conditions["tag"] = f"EXISTS (SELECT 1 FROM run_tag WHERE {tagged})"
    return "run", "run", conditions


class _Walk(NamedTuple):
    """Along the index of the filter that leads; what else is asked for is looked at on the way."""

    source: str
    first: str
    where: str
    fits: str


@lru_cache
def counting(asked: frozenset[str]) -> Statement:
    """How many fit, and at how many entries of an index it has looked."""
    walk = _walk(asked)
    walked = f"SELECT {walk.fits} AS fits FROM {walk.source} WHERE {walk.where} LIMIT :most"
    return Statement(f"SELECT SUM(fits), COUNT(*) FROM ({walked}) seen")


@lru_cache
def spreading(asked: frozenset[str]) -> Statement:
    """For each time and status: how many fit, at how many entries it has looked, and the oldest of them."""
    walk = _walk(asked)
    time = f"{walk.first}.listed_at"
    columns = f"{time} - (({time} - :since) % :width) AS begin_at, run.status AS status, {time} AS listed_at"
    walked = (
        f"SELECT {columns}, {walk.fits} AS fits FROM {walk.source} WHERE {walk.where} "
        f"ORDER BY {time} DESC LIMIT :most"
    )
    return Statement(
        f"SELECT begin_at, status, SUM(fits), COUNT(*), MIN(listed_at) FROM ({walked}) seen "
        "GROUP BY begin_at, status"
    )


def _walk(asked: frozenset[str]) -> _Walk:
    source, first, conditions = _source(asked)
    lead = next((name for name in LEADING if name in asked), "nested")
    leading = {lead, *TIMES, *(BELOW if lead == "parent" else ())}
    inside = [text for name, text in conditions.items() if name in leading]
    rest = [text for name, text in conditions.items() if name not in leading]
    where = " AND ".join(["run.listed_at IS NOT NULL", *inside])
    fits = f"CASE WHEN {' AND '.join(rest)} THEN 1 ELSE 0 END" if rest else EVERY
    return _Walk(source, first, where, fits)
