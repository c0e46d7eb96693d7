"""Lists of runs, page by page."""

from collections.abc import AsyncIterator, Collection

from stretto.model.status import RunStatus
from stretto.ports.history import RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


async def unfinished(store: Store, statuses: Collection[RunStatus]) -> AsyncIterator[RunRow]:
    """All runs in some statuses but iterations, newest first; also those that a step has started."""
    cut = Cut()
    while True:
        page = await store.all_runs(cut, RunFilter(statuses=statuses))
        for row in page.elements:
            yield row
        if not page.after:
            return
        last = page.elements[-1]
        cut = Cut(below=(last.record.create_time, last.key))


async def all_instances(store: Store, workflow_id: str) -> AsyncIterator[RunRow]:
    """The newest run of each instance, newest first."""
    cut = Cut()
    while True:
        page = await store.instances(workflow_id, cut)
        for row in page.elements:
            yield row
        if not page.after:
            return
        cut = Cut(below=page.elements[-1].key.instance_id)
