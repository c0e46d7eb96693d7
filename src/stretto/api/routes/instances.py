"""Instances and their runs: read."""

from typing import Final

from stretto.actions.reading.instances import (
    get_instance,
    get_run,
    instance_action_map,
    list_instances,
    list_runs,
)
from stretto.api.fields import fields_in
from stretto.api.routing import Calling, Flag, Name, Number, OptionalText, Paging, gets
from stretto.model.actions import InstanceAction
from stretto.model.instance import WorkflowInstance
from stretto.model.page import Page
from stretto.model.status import InstanceStatus


@gets("/workflows/instances/action-map")
async def read_actions() -> dict[InstanceStatus, tuple[InstanceAction, ...]]:
    """What a user can do to an instance in which status."""
    return dict(instance_action_map())


@gets("/workflows/{workflow_id}/instances/{instance_id}/runs/{run}")
async def read_run(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run: Name,
    enriched: Flag = True,
    aggregated: Flag = False,
    fields: OptionalText = None,
) -> WorkflowInstance:
    """One run: a number, or `latest`. `fields`, with commas: only these, and those that say which run."""
    return await get_run(
        call.store,
        call.reader,
        workflow_id,
        instance_id,
        run,
        enriched=enriched,
        aggregated=aggregated,
        fields=fields_in(WorkflowInstance, fields),
    )


@gets("/workflows/{workflow_id}/instances/{instance_id}")
async def read_instance(
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    enriched: Flag = True,
    aggregated: Flag = True,
    fields: OptionalText = None,
) -> WorkflowInstance:
    """The newest run, with the newest state of each step over all runs, or some fields of it."""
    return await get_instance(
        call.store,
        call.reader,
        workflow_id,
        instance_id,
        enriched=enriched,
        aggregated=aggregated,
        fields=fields_in(WorkflowInstance, fields),
    )


@gets("/workflows/{workflow_id}/instances/{instance_id}/runs")
async def read_runs(
    call: Calling, workflow_id: Name, instance_id: Number, page: Paging, fields: OptionalText = None
) -> Page[WorkflowInstance]:
    """The runs of an instance, newest first, or some fields of each."""
    wanted = fields_in(WorkflowInstance, fields)
    return await list_runs(call.store, call.reader, workflow_id, instance_id, page, fields=wanted)


@gets("/workflows/{workflow_id}/instances")
async def read_instances(
    call: Calling, workflow_id: Name, page: Paging, aggregated: Flag = True, fields: OptionalText = None
) -> Page[WorkflowInstance]:
    """The newest run of each instance, newest instance first, or some fields of each."""
    wanted = fields_in(WorkflowInstance, fields)
    return await list_instances(
        call.store, call.reader, workflow_id, page, aggregated=aggregated, fields=wanted
    )


ROUTES: Final = (read_actions, read_run, read_instance, read_runs, read_instances)
