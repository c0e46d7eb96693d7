"""Instances and their runs, for readers."""

from collections.abc import Mapping

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_newest_run, find_run, find_workflow
from stretto.actions.reading.fields import Fields
from stretto.actions.reading.instance_view import instance_view
from stretto.actions.reading.paging import cut_of, page_of
from stretto.engine.inline_ids import is_inline
from stretto.model.actions import INSTANCE_ACTIONS, InstanceAction
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import InstanceStatus
from stretto.ports.paging import Slice
from stretto.ports.rows import RunRow
from stretto.ports.store import Store


def instance_action_map() -> Mapping[InstanceStatus, tuple[InstanceAction, ...]]:
    """What a user can do to an instance in which status."""
    return INSTANCE_ACTIONS


async def get_instance(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    *,
    enriched: bool = True,
    aggregated: bool = True,
    fields: Fields = None,
) -> WorkflowInstance:
    """The newest run, with the newest state of each step over all runs."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    return await instance_view(store, row, enriched=enriched, aggregated=aggregated, fields=fields)


async def get_run(  # noqa: PLR0913 - it takes three to name a run, and three say how it is shown
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run: str,
    *,
    enriched: bool = True,
    aggregated: bool = False,
    fields: Fields = None,
) -> WorkflowInstance:
    """One run: a number, or `latest`."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    return await instance_view(store, row, enriched=enriched, aggregated=aggregated, fields=fields)


async def list_instances(
    store: Store,
    caller: Caller,
    workflow_id: str,
    request: PageRequest,
    *,
    aggregated: bool = True,
    fields: Fields = None,
) -> Page[WorkflowInstance]:
    """The newest run of each instance, newest instance first."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    if not is_inline(workflow_id):
        await find_workflow(store, workflow_id)
    rows = await store.instances(workflow_id, cut_of(request))
    views = await _views(store, rows, aggregated=aggregated, fields=fields)
    return page_of(views, await store.instance_ids(workflow_id), lambda each: each.workflow_instance_id)


async def list_runs(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    request: PageRequest,
    *,
    fields: Fields = None,
) -> Page[WorkflowInstance]:
    """The runs of an instance, newest first."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    await find_newest_run(store, workflow_id, instance_id)
    rows = await store.runs_of(workflow_id, instance_id, cut_of(request))
    views = await _views(store, rows, aggregated=False, fields=fields)
    span = await store.run_ids(workflow_id, instance_id)
    return page_of(views, span, lambda each: each.workflow_run_id)


async def _views(
    store: Store, rows: Slice[RunRow], *, aggregated: bool, fields: Fields
) -> Slice[WorkflowInstance]:
    views = [
        await instance_view(store, row, enriched=False, aggregated=aggregated, fields=fields)
        for row in rows.elements
    ]
    return Slice(elements=tuple(views), before=rows.before, after=rows.after)
