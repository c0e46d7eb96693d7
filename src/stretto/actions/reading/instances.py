"""Instances and their runs, for readers."""

from collections.abc import Mapping

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import find_newest_run, find_run
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields
from stretto.actions.reading.flows import load_run
from stretto.actions.reading.inherited_params import Starters
from stretto.actions.reading.instance_view import instance_view, view_of
from stretto.actions.reading.paging import cut_of, page_of
from stretto.actions.reading.steps import views_in_run
from stretto.model.actions import INSTANCE_ACTIONS, InstanceAction
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.step_instance import StepInstance
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


async def get_run_status(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str
) -> RunStatus:
    """Where one run stands."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    return (await find_run(store, workflow_id, instance_id, run)).record.status


async def get_run_with_steps(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, run: str
) -> tuple[WorkflowInstance, list[StepInstance]]:
    """One run, and the newest attempt of each of its steps: from the same rows."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    row = await find_run(store, workflow_id, instance_id, run)
    loaded = await load_run(store, await definition_of(store, row), row)
    view = await view_of(store, loaded.state, loaded.workflow, enriched=False, aggregated=False)
    view.run_params = await Starters(store).run_params(row.record)
    return view, await views_in_run(store, loaded)


async def list_instances(
    store: Store,
    caller: Caller,
    workflow_id: str,
    request: PageRequest,
    *,
    aggregated: bool = True,
    fields: Fields = None,
) -> Page[WorkflowInstance]:
    """The newest run of each instance, newest instance first; an unknown workflow has none."""
    await check_access(store, caller, Right.VIEW, workflow_id)
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
    """The runs of an instance, newest first; an unknown instance has none."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    rows = await store.runs_of(workflow_id, instance_id, cut_of(request))
    views = await _views(store, rows, aggregated=False, fields=fields)
    span = await store.run_ids(workflow_id, instance_id)
    return page_of(views, span, lambda each: each.workflow_run_id)


async def _views(
    store: Store, rows: Slice[RunRow], *, aggregated: bool, fields: Fields
) -> Slice[WorkflowInstance]:
    starters = Starters(store)
    views = [
        await instance_view(
            store, row, enriched=False, aggregated=aggregated, fields=fields, starters=starters
        )
        for row in rows.elements
    ]
    return Slice(elements=tuple(views), before=rows.before, after=rows.after)
