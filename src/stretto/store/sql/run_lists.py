"""Runs of all workflows by time, filtered.

Each filter has an index of its own that keeps the order. Those with several values (statuses; with or without
nested runs, where nothing else is asked for) are lists of their own, merged: each is walked along its index.
"""

from functools import lru_cache
from itertools import product
from typing import Any, Final

from stretto.ports.history import RunFilter
from stretto.ports.paging import Cut
from stretto.store.sql.database import Transaction
from stretto.store.sql.paging import Listing, Page
from stretto.store.sql.rows.runs import ROW, prefixed
from stretto.store.sql.statement import RUN_KEY, same

ORDER: Final = ("listed_at", "workflow_id", "instance_id", "run_id")
CONDITIONS: Final = {
    "status": "run.status = :status",
    "since": "run.listed_at >= :since",
    "until": "run.listed_at < :until",
    "workflow_id": "run.workflow_id = :workflow_id",
    "owner": "run.owner = :owner",
    "correlation_id": "run.correlation_id = :correlation_id",
    "nested": "run.nested = :nested",
    "tag": "run_tag.tag = :tag",
}
LEADING: Final = frozenset({"status", "workflow_id", "owner", "correlation_id", "tag"})


async def page_of_runs(tx: Transaction, cut: Cut, wanted: RunFilter) -> Page:
    """A page of the runs that are wanted, with the columns of `ROW`."""
    single = {
        "since": wanted.since,
        "until": wanted.until,
        "workflow_id": wanted.workflow_id,
        "owner": wanted.owner,
        "correlation_id": wanted.correlation_id,
        "tag": wanted.tag,
    }
    asked: dict[str, list[Any]] = {name: [value] for name, value in single.items() if value is not None}
    if wanted.statuses:
        asked["status"] = sorted(set(wanted.statuses))
    if wanted.roots:
        asked["nested"] = [0]
    elif LEADING.isdisjoint(asked):
        asked["nested"] = [0, 1]
    lists = [dict(zip(asked, values, strict=True)) for values in product(*asked.values())]
    page = await _listing(frozenset(asked)).merged(tx, cut, lists)
    return page._replace(rows=[row[len(ORDER) :] for row in page.rows])


@lru_cache
def _listing(asked: frozenset[str]) -> Listing:
    """What is not asked for is not looked at, so that the index of what is can be used."""
    conditions = {name: CONDITIONS[name] for name in sorted(asked)}
    source, first = "run", "run"
    if "tag" in asked:
        if asked & LEADING == {"tag"}:
            source, first = f"run_tag JOIN run ON {same(RUN_KEY, 'run', 'run_tag')}", "run_tag"
        else:
            tagged = f"{CONDITIONS['tag']} AND {same(RUN_KEY, 'run_tag', 'run')}"
            conditions["tag"] = f"EXISTS (SELECT 1 FROM run_tag WHERE {tagged})"
    order = [f"{first}.{name}" for name in ORDER]
    bounds = [conditions.pop(name) for name in ("since", "until") if name in conditions]
    where = " AND ".join(["run.listed_at IS NOT NULL", *conditions.values()])
    columns = f"{', '.join(order)}, {prefixed(ROW, 'run')}"
    return Listing(columns, f"{source} WHERE {where}", order, newest_first=True, bounds=bounds)
