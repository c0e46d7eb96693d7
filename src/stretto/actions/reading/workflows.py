"""Workflows and their versions, for readers."""

from functools import partial

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access, check_may
from stretto.actions.parts.finding import VERSION_WORDS, choose_version, find_newest_run, find_workflow
from stretto.actions.parts.near_workflows import near_workflow
from stretto.actions.parts.offload import offload
from stretto.actions.reading.definitions import definition_of
from stretto.actions.reading.enriched import enriched
from stretto.actions.reading.graph_view import GraphView, graph_of
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.actions.reading.paging import cut_of, page_of
from stretto.actions.reading.runtime_workflow_view import runtime_workflow
from stretto.actions.reading.version_view import shown, version_view
from stretto.engine.inline_ids import is_inline
from stretto.model.errors import NotFound
from stretto.model.page import Page, PageInfo
from stretto.model.properties import PropertiesSnapshot
from stretto.model.request import PageRequest
from stretto.model.response import WorkflowOverviewResponse
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.timeline import WorkflowTimeline
from stretto.model.workflow import Metadata, WorkflowVersion
from stretto.ports.paging import Slice, Span
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow


async def get_version(
    store: Store, caller: Caller, workflow_id: str, version: str, *, enrich: bool = False
) -> WorkflowVersion:
    """A version: `active`, `latest`, `default` or a number. Enriched: with what it does not say itself. That
    of a loop's inline workflow is the version around it, with the steps of the loop.
    """
    await check_access(store, caller, Right.VIEW, workflow_id)
    if is_inline(workflow_id):
        return await _inline_version(store, workflow_id, version)
    found = await version_view(store, workflow_id, version)
    return await enriched(store, found) if enrich else found


async def _inline_version(store: Store, workflow_id: str, version: str) -> WorkflowVersion:
    """An inline workflow has one version, that of the run around it: the words mean it, too."""
    row = await find_newest_run(store, workflow_id, 1)
    if version.strip().lower() not in VERSION_WORDS:
        number = choose_version(await find_workflow(store, row.root.workflow_id), version)
        if number != row.record.version_id:
            raise NotFound(f"Cannot find workflow version [{workflow_id}][{number}]")
    around = await version_view(store, row.root.workflow_id, row.record.version_id)
    workflow = await runtime_workflow(store, row, await definition_of(store, row), None)
    metadata = Metadata(workflow_id=workflow_id, workflow_version_id=row.record.version_id)
    return msgspec.structs.replace(around, metadata=metadata, workflow=workflow)


async def get_graph(store: Store, caller: Caller, workflow_id: str, version: str) -> GraphView:
    """The graph of a version, as live views read it."""
    found = await get_version(store, caller, workflow_id, version)
    graph = await offload(len(found.workflow.steps), graph_of, found.workflow)
    return msgspec.structs.replace(graph, workflow_version_id=_number(found))


async def list_versions(
    store: Store, caller: Caller, workflow_id: str, request: PageRequest
) -> Page[WorkflowVersion]:
    """All versions, newest first; an unknown workflow has none."""
    cut, row = cut_of(request), await read_workflow(store, workflow_id)
    check_may(caller, Right.VIEW, workflow_id, None if row is None else row.properties)
    if row is None:
        return Page(page_info=PageInfo(), total_count=0)
    found = await store.versions(workflow_id, cut)
    versions = tuple(shown(each, _number(each), row) for each in found.elements)
    page = Slice(elements=versions, before=found.before, after=found.after)
    return page_of(page, Span(1, row.latest_version), _number)


def _number(version: WorkflowVersion) -> int:
    assert version.metadata is not None  # noqa: S101 - `publish` writes it
    return version.metadata.workflow_version_id or 0


async def get_properties(store: Store, caller: Caller, workflow_id: str) -> PropertiesSnapshot:
    """The properties as they stand."""
    properties = (await find_workflow(store, workflow_id)).properties
    check_may(caller, Right.VIEW, workflow_id, properties)
    return properties


async def list_properties(
    store: Store, caller: Caller, workflow_id: str, request: PageRequest
) -> Page[PropertiesSnapshot]:
    """The properties as they stood, newest first: each until the next one came."""
    row = await find_workflow(store, workflow_id)
    check_may(caller, Right.VIEW, workflow_id, row.properties)
    listing = Listing(
        fetch=partial(store.properties_history, workflow_id),
        key=lambda each: each.create_time,
        key_type=int,
        newest_first=True,
    )
    return await page_of_list(store, caller, request, listing)


async def get_overview(store: Store, caller: Caller, workflow_id: str) -> WorkflowOverviewResponse:
    """A workflow at a glance; a run strategy that nobody set is shown as the default."""
    found = await store.workflow_overview(workflow_id)
    if found is None:
        raise NotFound(f"Cannot find workflow [{workflow_id}]", hint=await near_workflow(store, workflow_id))
    row = found.row
    check_may(caller, Right.VIEW, workflow_id, row.properties)
    unfinished = (status for status in RunStatus if not status.is_terminal)
    return WorkflowOverviewResponse(
        workflow_id=workflow_id,
        active_version_id=row.active_version or None,
        latest_version_id=row.latest_version,
        default_version_id=row.default_version,
        properties_snapshot=msgspec.structs.replace(row.properties, run_strategy=row.strategy),
        step_concurrency=row.properties.step_concurrency,
        nonterminal_instances={InstanceStatus(each): found.statuses.get(each, 0) for each in unfinished},
        failed_instances=found.failed,
        latest_instance_id=found.latest_instance_id,
    )


async def get_timeline(store: Store, caller: Caller, workflow_id: str) -> WorkflowTimeline:
    """The changes of a workflow, newest first; an unknown one has none."""
    await check_access(store, caller, Right.VIEW, workflow_id)
    events = await store.workflow_timeline(workflow_id)
    return WorkflowTimeline(workflow_id=workflow_id, timeline_events=events)
