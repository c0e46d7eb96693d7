"""Lists of runs, page by page."""

from collections.abc import AsyncIterator, Collection

from stretto.actions.parts.finding import find_run
from stretto.actions.parts.near_workflows import why_no_run
from stretto.engine.records import RunKey
from stretto.flow.engine.options import word
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.status import RunStatus
from stretto.ports.history import FilteredRuns, InstancesIn, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


async def unfinished(store: Store, statuses: Collection[RunStatus]) -> AsyncIterator[RunRow]:
    """All runs in some statuses but iterations, newest first; also those that a step has started."""
    cut = Cut()
    while True:
        page = await store.runs(FilteredRuns(RunFilter(statuses=statuses), cut))
        for row in page.elements:
            yield row
        if not page.after:
            return
        last = page.elements[-1]
        cut = Cut(below=(last.record.create_time, last.key))


async def all_instances(
    store: Store, workflow_id: str, statuses: Collection[RunStatus] = ()
) -> AsyncIterator[RunRow]:
    """The newest run of each instance, newest first; only those in some statuses, if any are named."""
    cut = Cut()
    while True:
        page = await store.runs(InstancesIn(workflow_id, statuses, cut))
        for row in page.elements:
            yield row
        if not page.after:
            return
        cut = Cut(below=page.elements[-1].key.instance_id)


async def newest_keys(
    store: Store, workflow_id: str | None, status: str | Collection[str], most: int
) -> list[RunKey]:
    """The newest runs, of all workflows or of one, in some statuses."""
    wanted = [status] if isinstance(status, str) else status
    where = RunFilter(
        workflow_id=workflow_id, statuses=tuple(word(RunStatus, each, "status") for each in wanted)
    )
    page = await store.runs(FilteredRuns(where, Cut(most=most)))
    return [row.key for row in page.elements]


async def key_of(
    store: Store, workflow_id: str, instance_id: int | None, run_id: int | None, request_id: str | None
) -> RunKey:
    """A run by its numbers, or by the request that made it; `NotFound` names what is not there."""
    if (instance_id is None) == (request_id is None):
        raise InvalidRequest("name a run by its instance, or by its request id", hint="give one of the two")
    if instance_id is not None:
        return (await find_run(store, workflow_id, instance_id, str(run_id or "latest"))).key
    found = await store.run_of_request(workflow_id, str(request_id))
    if found is None:
        message = f"Cannot find a run of workflow [{workflow_id}] with the request id [{request_id}]"
        raise NotFound(message, hint=await why_no_run(store, workflow_id))
    return found
