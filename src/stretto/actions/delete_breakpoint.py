"""Remove a breakpoint."""

from functools import partial

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.breakpoint_place import found_under
from stretto.actions.parts.repeat import repeated
from stretto.actions.resume_breakpoint import resume_held
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
    """No new attempt pauses; with `resume` those that are paused go on. First the deletion, then the look:
    an attempt that pauses in between finds that there is no breakpoint any more. Who repeats it because it
    was broken off finds no breakpoint, and lets go whom it held.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    gone, resumed = False, 0
    for kept in await found_under(store, workflow_id, step_id):
        wanted = StepBreakpoint(workflow_id=kept, step_id=step_id)
        gone |= await repeated(partial(store.delete_breakpoint, wanted))
        resumed += await resume_held(store, caller, kept, step_id, hints) if resume else 0
    if not gone and not resumed:
        raise no_such_breakpoint(workflow_id, step_id, Where())
    message = f"User [{caller.name}] removed the breakpoint, and resumed [{resumed}] step attempts"
    event = LogEvent(timestamp=await store.now(), message=message)
    return BreakpointDeleteResponse(workflow_id=workflow_id, step_id=step_id, timeline_event=event)
