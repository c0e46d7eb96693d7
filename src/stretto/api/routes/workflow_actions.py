"""What can be done to a workflow: check it, start it, switch versions, end all its runs."""

from functools import partial
from typing import Final

import msgspec

from stretto.actions.activate import activate
from stretto.actions.caller import Caller
from stretto.actions.deactivate import deactivate
from stretto.actions.parts.repeated_start import check_repeated_start
from stretto.actions.preview import Preview
from stretto.actions.publish import check_definition
from stretto.actions.reading.started_run import StartedRun, started_run
from stretto.actions.start import start
from stretto.actions.stop_workflow import kill_workflow, stop_workflow
from stretto.actions.unblock import unblock_workflow
from stretto.api.awaiting import awaiting, wait_in
from stretto.api.desk import Call
from stretto.api.routing import (
    Asks,
    Calling,
    Flag,
    Given,
    Name,
    OptionalText,
    acts,
    carried_out,
    start_extras,
    with_extras,
)
from stretto.definition.reading.read import Format
from stretto.model.request import StartRequest
from stretto.model.response import StartResponse, WorkflowActionResponse
from stretto.model.timeline import TimelineEvent
from stretto.model.workflow import Definition
from stretto.ports.hints import Hints
from stretto.ports.store import Store


@acts("/workflows/{workflow_id}/versions/{version}/actions/start", reads=StartRequest)
async def start_run(  # noqa: PLR0913, PLR0917 - one for each parameter of the query
    call: Calling,
    workflow_id: Name,
    version: Name,
    given: Given[StartRequest],
    asking: Asks,
    wait: OptionalText = None,
    include: OptionalText = None,
    check_request_id: Flag = False,
) -> StartedRun | Preview:
    """Start an instance, as far as the run strategy lets it. With `wait=30s` the answer comes when the run
    has ended, or after that time, and says where the run stands. `include=queued`: with what a queued run
    waits for. `check_request_id=true`: 409 if the request id was used before with other parameters.
    """
    desk, extras = call.desk, start_extras(include)
    millis = None if wait is None else wait_in(wait)
    request = given if given.request_id else msgspec.structs.replace(given, request_id=asking.request_id)

    async def begin(store: Store, caller: Caller, hints: Hints) -> StartResponse:
        begin_run = partial(start, store, hints=hints) if asking.dry_run else desk.starts.start
        made = await begin_run(
            caller, workflow_id, version, request, evaluate=desk.evaluate, limits=desk.params
        )
        if check_request_id:
            await check_repeated_start(store, made, request)
        return made

    done = await carried_out(call, asking, "START", begin)
    if isinstance(done, Preview):
        return done
    done = with_extras(done, extras)
    if millis is None:
        return await started_run(call.store, done)
    async with awaiting(call, millis) as again:
        return await started_run(call.store, done, again)


@acts("/workflows/actions/validate", reads=Definition)
async def validate(call: Calling, given: Given[Definition]) -> TimelineEvent:
    """Check a definition as a push would, and store nothing."""
    return await _check(call, given)


@acts("/workflows/actions/validate/yaml", reads=Definition, form=Format.YAML)
async def validate_yaml(call: Calling, given: Given[Definition]) -> TimelineEvent:
    """The same for a definition in YAML."""
    return await _check(call, given)


async def _check(call: Call, definition: Definition) -> TimelineEvent:
    desk = call.desk
    return await check_definition(
        call.store, call.caller, definition, limits=desk.limits, evaluate=desk.evaluate
    )


@acts("/workflows/{workflow_id}/actions/deactivate")
async def switch_off(call: Calling, workflow_id: Name) -> WorkflowActionResponse:
    """Let no version be the active one."""
    return await deactivate(call.store, call.caller, workflow_id, hints=call.hints)


@acts("/workflows/{workflow_id}/versions/{version}/actions/activate")
async def switch_on(call: Calling, workflow_id: Name, version: Name) -> WorkflowActionResponse:
    """Make a version the active one."""
    return await activate(call.store, call.caller, workflow_id, version, hints=call.hints)


@acts("/workflows/{workflow_id}/actions/stop", status=202)
async def stop_all(call: Calling, workflow_id: Name, asking: Asks) -> TimelineEvent | Preview:
    """Stop all runs of a workflow."""

    async def act(store: Store, caller: Caller, hints: Hints) -> TimelineEvent:
        return await stop_workflow(store, caller, workflow_id, hints=hints)

    return await carried_out(call, asking, "STOP", act, TimelineEvent)


@acts("/workflows/{workflow_id}/actions/kill", status=202)
async def kill_all(call: Calling, workflow_id: Name, asking: Asks) -> TimelineEvent | Preview:
    """Kill all runs of a workflow."""

    async def act(store: Store, caller: Caller, hints: Hints) -> TimelineEvent:
        return await kill_workflow(store, caller, workflow_id, hints=hints)

    return await carried_out(call, asking, "KILL", act, TimelineEvent)


@acts("/workflows/{workflow_id}/actions/unblock")
async def unblock_all(call: Calling, workflow_id: Name, asking: Asks) -> TimelineEvent | Preview:
    """Let a strictly sequential queue go on past all failed runs."""

    async def act(store: Store, caller: Caller, hints: Hints) -> TimelineEvent:
        return await unblock_workflow(store, caller, workflow_id, hints=hints)

    return await carried_out(call, asking, "UNBLOCK", act, TimelineEvent)


ROUTES: Final = (start_run, validate, validate_yaml, switch_off, switch_on, stop_all, kill_all, unblock_all)
