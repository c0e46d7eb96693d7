"""Instances of a workflow as lists show them."""

from collections.abc import Collection

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_workflow
from stretto.actions.reading.lines import RunLine, run_line
from stretto.actions.reading.paging import cut_of, filtered_page_of, page_of
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import RunStatus
from stretto.ports.history import InstancesIn
from stretto.ports.paging import Slice
from stretto.ports.store import Store


async def list_instance_lines(
    store: Store,
    caller: Caller,
    workflow_id: str,
    request: PageRequest,
    statuses: Collection[RunStatus] = (),
) -> Page[RunLine]:
    """The newest run of each instance, newest instance first; of these, those in some status."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    await find_workflow(store, workflow_id)
    rows = await store.runs(InstancesIn(workflow_id, statuses, cut_of(request)))
    lines = Slice(elements=tuple(map(run_line, rows.elements)), before=rows.before, after=rows.after)
    if statuses:
        return filtered_page_of(lines, request, _number)
    return page_of(lines, await store.instance_ids(workflow_id), _number)


def _number(line: RunLine) -> int:
    return line.workflow_instance_id
