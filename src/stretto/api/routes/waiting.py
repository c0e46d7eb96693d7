"""Why something waits, and how it is made to: explain, pause, resume, answer."""

from typing import Final

import msgspec

from stretto.actions.answer_step import answer_step
from stretto.actions.caller import Caller
from stretto.actions.pause import pause, resume
from stretto.actions.preview import Preview
from stretto.actions.reading.why import WhyRun, WhyStep, why_run, why_step
from stretto.actions.reading.why_workflow import WhyWorkflow, why_workflow
from stretto.api.routing import Asks, Calling, Given, Name, Number, acts, carried_out, gets, posts
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.request import CallbackRequest
from stretto.model.response import InstanceActionResponse, StepActionResponse
from stretto.ports.hints import Hints
from stretto.ports.store import Store

INSTANCE: Final = "/workflows/{workflow_id}/instances/{instance_id}"
RUN: Final = f"{INSTANCE}/runs/{{run}}"
ATTEMPT: Final = f"{INSTANCE}/runs/{{run_id}}/steps/{{step_id}}/attempts/{{attempt_id}}"


@gets("/workflows/{workflow_id}/why")
async def explain_workflow(call: Calling, workflow_id: Name) -> WhyWorkflow:
    """What starts a workflow by itself, and what went wrong with its triggers lately."""
    return await why_workflow(call.store, call.reader, workflow_id)


@gets(f"{INSTANCE}/why")
async def explain_run(call: Calling, workflow_id: Name, instance_id: Number) -> WhyRun:
    """Why the newest run of an instance has not ended."""
    return await why_run(call.store, call.reader, workflow_id, instance_id)


@gets(f"{INSTANCE}/steps/{{step_id}}/why")
async def explain_step(call: Calling, workflow_id: Name, instance_id: Number, step_id: Name) -> WhyStep:
    """Why a step of the newest run is where it is."""
    return await why_step(call.store, call.reader, workflow_id, instance_id, step_id)


@gets(f"{RUN}/why")
async def explain_one_run(call: Calling, workflow_id: Name, instance_id: Number, run: Name) -> WhyRun:
    """Why a run, by its number or `latest`, has not ended, or how it has."""
    return await why_run(call.store, call.reader, workflow_id, instance_id, run)


@gets(f"{RUN}/steps/{{step_id}}/why")
async def explain_step_of_run(
    call: Calling, workflow_id: Name, instance_id: Number, run: Name, step_id: Name
) -> WhyStep:
    """Why a step of a run is where it is."""
    return await why_step(call.store, call.reader, workflow_id, instance_id, step_id, run)


@acts(f"{INSTANCE}/actions/pause")
async def pause_instance(
    call: Calling, workflow_id: Name, instance_id: Number, asking: Asks
) -> InstanceActionResponse | Preview:
    """Let nothing new begin in the newest run; what runs goes on to its end."""

    async def act(store: Store, caller: Caller, hints: Hints) -> InstanceActionResponse:
        return await pause(store, caller, workflow_id, instance_id, hints=hints)

    return await carried_out(call, asking, "PAUSE", act, InstanceActionResponse)


@acts(f"{INSTANCE}/actions/resume")
async def resume_instance(
    call: Calling, workflow_id: Name, instance_id: Number, asking: Asks
) -> InstanceActionResponse | Preview:
    """Let a paused run go on."""

    async def act(store: Store, caller: Caller, hints: Hints) -> InstanceActionResponse:
        return await resume(store, caller, workflow_id, instance_id, hints=hints)

    return await carried_out(call, asking, "RESUME", act, InstanceActionResponse)


@posts(f"{ATTEMPT}/callback", reads=CallbackRequest)
async def answer(  # noqa: PLR0913, PLR0917 - it takes five to name an attempt
    call: Calling,
    workflow_id: Name,
    instance_id: Number,
    run_id: Number,
    step_id: Name,
    attempt_id: Number,
    given: Given[CallbackRequest],
    asking: Asks,
) -> StepActionResponse | Preview:
    """Answer for a step that waits for somebody: it goes on with these values, or fails. An answer to a step
    that does not ask yet is kept until it does. A `reason` is the message of an answer that has none.
    """
    attempt = AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, attempt_id)
    known = given.request_id or asking.request_id
    message = given.message or asking.reason or None
    request = msgspec.structs.replace(given, message=message, request_id=known)
    asking = asking._replace(request_id=known)

    async def act(store: Store, caller: Caller, hints: Hints) -> StepActionResponse:
        most, limits = call.desk.early_answers, call.desk.params
        patience = call.patience(blocking=not asking.dry_run)
        return await answer_step(
            store,
            caller,
            attempt,
            request,
            most_early=most,
            limits=limits,
            patience=patience,
            hints=hints,
        )

    return await carried_out(call, asking, "CALLBACK", act, StepActionResponse)


ROUTES: Final = (
    explain_workflow,
    explain_run,
    explain_step,
    explain_one_run,
    explain_step_of_run,
    pause_instance,
    resume_instance,
    answer,
)
