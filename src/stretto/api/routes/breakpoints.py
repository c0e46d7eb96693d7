"""Breakpoints, and the attempts that they hold. The names of their query parameters are Maestro's."""

from typing import Annotated, Final

from litestar.params import QueryParameter

from stretto.actions.delete_breakpoint import delete_breakpoint
from stretto.actions.reading.breakpoints import (
    list_all_breakpoints,
    list_all_paused,
    list_breakpoints,
    list_paused,
)
from stretto.actions.resume_attempt import resume_attempt
from stretto.actions.resume_breakpoint import resume_breakpoint
from stretto.actions.set_breakpoint import set_breakpoint
from stretto.api.routing import Calling, Flag, Given, Name, Number, Paging, acts, deletes, gets, posts
from stretto.api.slashes import slashed
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.breakpoint import PausedStepAttempt, StepBreakpoint
from stretto.model.page import Page
from stretto.model.request import BreakpointRequest
from stretto.model.response import BreakpointDeleteResponse, StepActionResponse
from stretto.model.timeline import TimelineEvent

PLACE: Final = "/workflows/steps/breakpoints"
SHORT: Final = "/breakpoints"
WorkflowId = Annotated[str, QueryParameter(name="workflowId")]
StepId = Annotated[str, QueryParameter(name="stepId")]


@posts([PLACE, SHORT], reads=BreakpointRequest)
async def add(call: Calling, given: Given[BreakpointRequest]) -> StepBreakpoint:
    """Let each new attempt of a step pause before it does anything."""
    return await set_breakpoint(call.store, call.caller, given)


@deletes([PLACE, SHORT])
async def remove(
    call: Calling, workflow_id: WorkflowId, step_id: StepId, resume: Flag = True
) -> BreakpointDeleteResponse:
    """Remove a breakpoint. The attempts that it holds go on, unless `resume=false`: then they stay paused."""
    return await delete_breakpoint(
        call.store, call.caller, workflow_id, step_id, resume=resume, hints=call.hints
    )


@gets(PLACE)
async def read(call: Calling, workflow_id: WorkflowId, step_id: StepId) -> list[StepBreakpoint]:
    """The breakpoints of a step."""
    return await list_breakpoints(call.store, call.reader, workflow_id, step_id)


@gets(f"{PLACE}/paused-step-attempts")
async def read_paused(call: Calling, workflow_id: WorkflowId, step_id: StepId) -> list[PausedStepAttempt]:
    """The attempts of a step that are held."""
    return await list_paused(call.store, call.reader, workflow_id, step_id)


@acts(
    "/workflows/{=steps}/breakpoints/{workflow_id}/instances/{instance_id}/runs/{run_id}/steps/{step_id}/attempts/{attempt_id}/actions/resume"
)
async def resume_one(
    call: Calling, workflow_id: Name, instance_id: Number, run_id: Number, step_id: Name, attempt_id: Number
) -> StepActionResponse:
    """Let one attempt go on; the breakpoint stays."""
    attempt = AttemptKey(RunKey(workflow_id, instance_id, run_id), step_id, attempt_id)
    patience = call.patience(blocking=True)
    return await resume_attempt(call.store, call.caller, attempt, patience=patience, hints=call.hints)


@gets(SHORT)
async def read_all(call: Calling, part: Paging) -> Page[StepBreakpoint]:
    """The breakpoints of all workflows."""
    return await list_all_breakpoints(call.store, call.reader, part)


@gets("/paused")
async def read_all_paused(call: Calling, part: Paging) -> Page[PausedStepAttempt]:
    """The attempts of all workflows that breakpoints hold, by step."""
    return await list_all_paused(call.store, call.reader, part)


@acts(f"{SHORT}/{{breakpoint_id}}/actions/resume")
async def resume_all(call: Calling, breakpoint_id: Name) -> TimelineEvent:
    """Let everything go on that a breakpoint holds; it stays. Its id is `WORKFLOW:STEP`."""
    workflow_id, _, step_id = slashed(breakpoint_id).rpartition(":")
    return await resume_breakpoint(call.store, call.caller, workflow_id, step_id, hints=call.hints)


ROUTES: Final = (add, remove, read, read_paused, resume_one, read_all, read_all_paused, resume_all)
