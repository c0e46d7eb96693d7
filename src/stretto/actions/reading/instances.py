"""Instances and their runs, for readers."""

from collections.abc import Mapping

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.finding import LATEST, find_run, find_run_snapshot
from stretto.actions.parts.offload import free, give_way
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.fields import Fields
from stretto.actions.reading.flows import load_run
from stretto.actions.reading.instance_view import InstanceViews, shows_steps
from stretto.actions.reading.paging import cut_of, page_of
from stretto.actions.reading.steps import views_in_run
from stretto.model.actions import INSTANCE_ACTIONS, InstanceAction
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.step_instance import StepInstance
from stretto.ports.paging import Slice, Span
from stretto.ports.run_snapshot import InstancePage, NamedRuns, RunDetail, RunPage, RunSnapshot
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
    return await get_run(
        store,
        caller,
        workflow_id,
        instance_id,
        LATEST,
        enriched=enriched,
        aggregated=aggregated,
        fields=fields,
    )


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
    snapshot, row = await find_run_snapshot(store, workflow_id, instance_id, run, _detail(fields))
    view = await InstanceViews(snapshot).of(row, enriched=enriched, aggregated=aggregated, fields=fields)
    await free(snapshot.drain())
    return view


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
    snapshot, row = await find_run_snapshot(store, workflow_id, instance_id, run, RunDetail(below=None))
    loaded = await load_run(snapshot, await definition_of(snapshot, row), row)
    views = InstanceViews(snapshot)
    view = await views.of_state(loaded.state, loaded.workflow, enriched=False, aggregated=False)
    return view, await views_in_run(store, snapshot, loaded)


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
    selection = InstancePage(workflow_id, cut_of(request))
    views, span = await _page(store, selection, aggregated=aggregated, fields=fields)
    return page_of(views, span, lambda each: each.workflow_instance_id)


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
    selection = RunPage(workflow_id, instance_id, cut_of(request))
    views, span = await _page(store, selection, aggregated=False, fields=fields)
    return page_of(views, span, lambda each: each.workflow_run_id)


def _detail(fields: Fields) -> RunDetail:
    return RunDetail(steps=shows_steps(fields))


async def _page(
    store: Store, selection: InstancePage | RunPage, *, aggregated: bool, fields: Fields
) -> tuple[Slice[WorkflowInstance], Span | None]:
    """A page of runs, and the lowest and the highest number of the whole list. Runs with many steps are read
    some at a time; one that is deleted meanwhile is left out.
    """
    snapshot = first = await store.read_runs(selection, _detail(fields))
    found = await _views(snapshot, aggregated=aggregated, fields=fields)
    while snapshot.left:
        snapshot = await store.read_runs(NamedRuns(snapshot.left), _detail(fields))
        found += await _views(snapshot, aggregated=aggregated, fields=fields)
    page = Slice(elements=tuple(found), before=first.page.before, after=first.page.after)
    return page, first.span


async def _views(snapshot: RunSnapshot, *, aggregated: bool, fields: Fields) -> list[WorkflowInstance]:
    """The runs of a snapshot."""
    views = InstanceViews(snapshot)
    made = []
    for row in snapshot.page.elements:
        made.append(await views.of(row, enriched=False, aggregated=aggregated, fields=fields))
        await give_way()
    await free(snapshot.drain())
    return made
