"""Workflows: push, read, delete."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.delete_workflow import delete_workflow
from stretto.actions.parts.function_checks import check_functions
from stretto.actions.preview import Preview
from stretto.actions.publish import publish, warnings_about
from stretto.actions.reading.workflows import get_overview, get_timeline, get_version, list_versions
from stretto.api.desk import Call
from stretto.api.routing import (
    Asks,
    Calling,
    Flag,
    Given,
    Name,
    OptionalNumber,
    OptionalText,
    Paging,
    carried_out,
    deletes,
    gets,
    posts,
    words_in,
)
from stretto.definition.reading.read import Format
from stretto.model.page import Page
from stretto.model.response import WorkflowCreateResponse, WorkflowOverviewResponse
from stretto.model.timeline import TimelineEvent, WorkflowTimeline
from stretto.model.words import Word
from stretto.model.workflow import Definition, WorkflowVersion
from stretto.ports.hints import Hints
from stretto.ports.store import Store


class PushExtra(Word):
    """What a push answers with beyond Maestro's fields, if the request asks for it."""

    WARNINGS = "warnings"


@posts("/workflows", reads=Definition)
async def push(
    call: Calling,
    given: Given[Definition],
    if_latest: OptionalNumber = None,
    allow_unknown_functions: Flag = False,
    include: OptionalText = None,
) -> WorkflowCreateResponse:
    """Publish a new version of a workflow. With `if_latest=7` only on top of version 7 (0: as the first one);
    else 409 says who was first. A step whose function no running process knows is refused, unless
    `allow_unknown_functions` says that one will. `include=warnings`: with what the author should look at
    again.
    """
    return await _publish(call, given, if_latest, allow=allow_unknown_functions, include=include)


@posts("/workflows/{=yaml}", reads=Definition, form=Format.YAML)
async def push_yaml(
    call: Calling,
    given: Given[Definition],
    if_latest: OptionalNumber = None,
    allow_unknown_functions: Flag = False,
    include: OptionalText = None,
) -> WorkflowCreateResponse:
    """Publish a new version of a workflow that is written in YAML; the parameters as there."""
    return await _publish(call, given, if_latest, allow=allow_unknown_functions, include=include)


async def _publish(
    call: Call, definition: Definition, if_latest: int | None, *, allow: bool, include: str | None
) -> WorkflowCreateResponse:
    desk = call.desk
    extras = words_in(PushExtra, include, "include")
    if not allow:
        await check_functions(call.store, [definition])
    made = await publish(
        call.store,
        call.caller,
        definition,
        limits=desk.limits,
        hints=call.hints,
        evaluate=desk.evaluate,
        if_latest=if_latest,
    )
    if PushExtra.WARNINGS not in extras:
        return made
    return msgspec.structs.replace(made, warnings=await warnings_about(call.store, definition, desk.limits))


@deletes("/workflows/{workflow_id}")
async def delete(call: Calling, workflow_id: Name, asking: Asks) -> TimelineEvent | Preview:
    """Delete a workflow with everything of it."""

    async def act(store: Store, caller: Caller, hints: Hints) -> TimelineEvent:
        return await delete_workflow(store, caller, workflow_id, hints=hints)

    return await carried_out(call, asking, "DELETE", act, TimelineEvent)


@gets("/workflows/{workflow_id}/versions/{version}")
async def read_version(
    call: Calling, workflow_id: Name, version: Name, enriched: Flag = False
) -> WorkflowVersion:
    """One version: a number, `active`, `latest` or `default`."""
    return await get_version(call.store, call.reader, workflow_id, version, enrich=enriched)


@gets("/workflows/{workflow_id}/versions/pagination")
async def read_versions(call: Calling, workflow_id: Name, page: Paging) -> Page[WorkflowVersion]:
    """All versions, newest first."""
    return await list_versions(call.store, call.reader, workflow_id, page)


@gets("/workflows/{workflow_id}/overview")
async def read_overview(call: Calling, workflow_id: Name) -> WorkflowOverviewResponse:
    """A workflow at a glance."""
    return await get_overview(call.store, call.reader, workflow_id)


@gets("/workflows/{workflow_id}/timeline")
async def read_timeline(call: Calling, workflow_id: Name) -> WorkflowTimeline:
    """The changes of a workflow, newest first."""
    return await get_timeline(call.store, call.reader, workflow_id)


ROUTES: Final = (push, push_yaml, delete, read_version, read_versions, read_overview, read_timeline)
