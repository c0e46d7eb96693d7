"""Workflows of the task engine's surface."""

from typing import Final

from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.parts.offload import offload
from stretto.actions.reading.all_workflows import list_workflows
from stretto.actions.reading.instance_lines import list_instance_lines
from stretto.actions.reading.workflows import get_version
from stretto.api.routing import Calling, Given, Name, OptionalText, Text
from stretto.api.v1.execution import check_names, run_params_of, task_params_of
from stretto.api.v1.listing import Limit, Offset, window
from stretto.api.v1.publishing import publish_text
from stretto.api.v1.routing import deletes, gets, posts
from stretto.api.v1.shapes import (
    V1Content,
    V1Execution,
    V1Id,
    V1IdAnswer,
    V1InstanceList,
    V1InstanceListAnswer,
    V1PublishedAnswer,
    V1Started,
    V1StartedAnswer,
    V1WorkflowAnswer,
    V1WorkflowList,
    V1WorkflowListAnswer,
)
from stretto.api.v1.views import instance_key, instance_line, workflow_line, workflow_view
from stretto.api.v1.words import instance_id, instance_word, statuses_in
from stretto.model.errors import InvalidRequest
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.response import StartStatus
from stretto.model.status import RunStatus
from stretto.ports.workflows import WorkflowFilter

SOME: Final = 20
ORDERS: Final = ("asc", "desc")


@gets("/workflows")
async def read_all(call: Calling, limit: Limit = SOME, offset: Offset = 0) -> V1WorkflowListAnswer:
    """All workflows, by id."""
    found = await window(
        lambda page: list_workflows(call.store, call.reader, WorkflowFilter(), page),
        lambda each: each.workflow_id,
        limit,
        offset,
    )
    items = tuple(map(workflow_line, found.elements))
    return V1WorkflowListAnswer(data=V1WorkflowList(total=found.total, items=items, has_more=found.has_more))


@posts("/workflows", reads=V1Content)
async def upload(call: Calling, given: Given[V1Content]) -> V1PublishedAnswer:
    """Publish the workflows of a text in YAML, each as a new version where it is new."""
    return V1PublishedAnswer(data=await publish_text(call, given.content))


@gets("/workflows/{workflow_id}")
async def read(call: Calling, workflow_id: Name) -> V1WorkflowAnswer:
    """The newest version of a workflow, with its tasks."""
    version = await get_version(call.store, call.reader, workflow_id, "latest")
    metadata = version.metadata
    number = 0 if metadata is None else metadata.workflow_version_id or 0
    view = await offload(len(version.workflow.steps), workflow_view, version, number)
    return V1WorkflowAnswer(data=view)


@deletes("/workflows/{workflow_id}")
async def delete(call: Calling, workflow_id: Name) -> V1IdAnswer:
    """Delete a workflow with everything of it."""
    await delete_workflow(call.store, call.reader, workflow_id, hints=call.hints)
    return V1IdAnswer(data=V1Id(id=workflow_id))


@posts("/workflows/{workflow_id}/execute", reads=V1Execution)
async def execute(call: Calling, workflow_id: Name, given: Given[V1Execution]) -> V1StartedAnswer:
    """Start an instance of the newest version."""
    version = await get_version(call.store, call.reader, workflow_id, "latest")
    workflow = version.workflow
    await offload(len(workflow.steps), check_names, workflow, given)
    request = StartRequest(
        initiator=ManualInitiator(),
        run_params=run_params_of(workflow, given.params),
        step_run_params=await offload(len(given.task_params), task_params_of, workflow, given.task_params),
    )
    made = await call.desk.starts.start(
        call.reader,
        workflow_id,
        "latest",
        request,
        evaluate=call.desk.evaluate,
        limits=call.desk.params,
    )
    status = RunStatus.STOPPED if made.status is StartStatus.STOPPED else RunStatus.CREATED
    return V1StartedAnswer(
        data=V1Started(
            instance_id=instance_id(workflow_id, made.workflow_instance_id),
            workflow_id=workflow_id,
            version=made.workflow_version_id,
            status=instance_word(status),
        )
    )


@gets("/workflows/{workflow_id}/history")
async def read_history(
    call: Calling,
    workflow_id: Name,
    status: OptionalText = None,
    limit: Limit = SOME,
    offset: Offset = 0,
    order: Text = "desc",
) -> V1InstanceListAnswer:
    """The instances of a workflow, newest first; `order=asc`: oldest first."""
    if order.lower() not in ORDERS:
        raise InvalidRequest(f"Invalid order [{order[:80]}]", hint=f"one of {', '.join(ORDERS)}")
    statuses = statuses_in(status)
    found = await window(
        lambda page: list_instance_lines(call.store, call.reader, workflow_id, page, statuses),
        instance_key,
        limit,
        offset,
        oldest_first=order.lower() == "asc",
    )
    items = tuple(map(instance_line, found.elements))
    return V1InstanceListAnswer(data=V1InstanceList(total=found.total, items=items, has_more=found.has_more))


ROUTES: Final = (read_all, upload, read, delete, execute, read_history)
