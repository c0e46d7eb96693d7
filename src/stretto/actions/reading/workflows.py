"""Workflows and their versions, for readers."""

import msgspec

from stretto.actions.parts.finding import find_workflow
from stretto.actions.reading.enriched import enriched
from stretto.actions.reading.paging import PageRequest, cut_of, page_of
from stretto.actions.reading.version_view import shown, version_view
from stretto.model.errors import NotFound
from stretto.model.page import Page
from stretto.model.properties import PropertiesSnapshot
from stretto.model.response import WorkflowOverviewResponse
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.timeline import WorkflowTimeline
from stretto.model.workflow import WorkflowVersion
from stretto.ports.paging import Slice, Span
from stretto.ports.store import Store


async def get_version(
    store: Store, workflow_id: str, version: str, *, enrich: bool = False
) -> WorkflowVersion:
    """A version: `active`, `latest`, `default` or a number. Enriched: with what it does not say itself."""
    found = await version_view(store, workflow_id, version)
    return await enriched(store, found) if enrich else found


async def list_versions(store: Store, workflow_id: str, request: PageRequest) -> Page[WorkflowVersion]:
    """All versions, newest first."""
    row = await find_workflow(store, workflow_id)
    found = await store.versions(workflow_id, cut_of(request))
    versions = tuple(shown(each, _number(each), row) for each in found.elements)
    page = Slice(elements=versions, before=found.before, after=found.after)
    return page_of(page, Span(1, row.latest_version), _number)


def _number(version: WorkflowVersion) -> int:
    assert version.metadata is not None  # noqa: S101 - `publish` writes it
    return version.metadata.workflow_version_id or 0


async def get_properties(store: Store, workflow_id: str) -> PropertiesSnapshot:
    """The properties as they stand."""
    return (await find_workflow(store, workflow_id)).properties


async def get_overview(store: Store, workflow_id: str) -> WorkflowOverviewResponse:
    """A workflow at a glance; a run strategy that nobody set is shown as the default."""
    found = await store.workflow_overview(workflow_id)
    if found is None:
        raise NotFound(f"Cannot find workflow [{workflow_id}]")
    row = found.row
    unfinished = (status for status in RunStatus if not status.is_terminal)
    return WorkflowOverviewResponse(
        workflow_id=workflow_id,
        active_version_id=row.active_version or None,
        latest_version_id=row.latest_version,
        default_version_id=row.active_version or row.latest_version,
        properties_snapshot=msgspec.structs.replace(row.properties, run_strategy=row.strategy),
        step_concurrency=row.properties.step_concurrency,
        nonterminal_instances={InstanceStatus(each): found.statuses.get(each, 0) for each in unfinished},
        failed_instances=found.failed,
        latest_instance_id=found.latest_instance_id,
    )


async def get_timeline(store: Store, workflow_id: str) -> WorkflowTimeline:
    """The changes of a workflow, newest first; an unknown one has none."""
    events = await store.workflow_timeline(workflow_id)
    return WorkflowTimeline(workflow_id=workflow_id, timeline_events=events)
