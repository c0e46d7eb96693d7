"""Remove a breakpoint."""

from functools import partial

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.breakpoint_place import found_under
from stretto.actions.parts.repeat import repeated
from stretto.actions.resume_breakpoint import attempts_text, resume_held
from stretto.engine.breakpoints import Where, no_such_breakpoint
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.response import BreakpointDeleteResponse
from stretto.model.timeline import LogEvent
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store


async def delete_breakpoint(
    store: Store,
    caller: Caller,
    workflow_id: str,
    step_id: str,
    *,
    resume: bool = True,
    hints: Hints = SILENT,
) -> BreakpointDeleteResponse:
    """No new attempt pauses. Attempts that are paused go on, unless `resume` is false: then each stays paused
    until somebody resumes it. The breakpoint is deleted before the paused attempts are read: an attempt that
    pauses in between finds no breakpoint any more. A caller who repeats an interrupted call finds no
    breakpoint, and resumes the attempts that it held.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    gone, resumed = False, 0
    for kept in await found_under(store, workflow_id, step_id):
        wanted = StepBreakpoint(workflow_id=kept, step_id=step_id)
        gone |= await repeated(partial(store.delete_breakpoint, wanted))
        resumed += await resume_held(store, caller, kept, step_id, hints) if resume else 0
    if not gone and not resumed:
        raise no_such_breakpoint(workflow_id, step_id, Where())
    message = f"User [{caller.name}] removed the breakpoint and resumed {attempts_text(resumed)}"
    event = LogEvent(timestamp=await store.now(), message=message)
    return BreakpointDeleteResponse(workflow_id=workflow_id, step_id=step_id, timeline_event=event)
