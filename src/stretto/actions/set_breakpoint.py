"""Set a breakpoint."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.breakpoint_place import kept_under
from stretto.actions.parts.repeat import repeated
from stretto.model.breakpoint import StepBreakpoint
from stretto.model.errors import InvalidRequest
from stretto.model.request import BreakpointRequest
from stretto.ports.store import Store


async def set_breakpoint(store: Store, caller: Caller, request: BreakpointRequest) -> StepBreakpoint:
    """Each new attempt of the step pauses before it does anything, in every run and iteration."""
    await check_access(store, caller, Right.RUN, request.workflow_id)
    narrow = (
        request.workflow_version,
        request.workflow_instance_id,
        request.workflow_run,
        request.step_attempt_id,
    )
    if any(each is not None for each in narrow):
        raise InvalidRequest(
            f"Can not set a breakpoint on step [{request.workflow_id}][{request.step_id}] for a single"
            " version, instance, run or attempt: a breakpoint applies to every run of the workflow",
            hint="send only workflow_id and step_id",
        )
    wanted = StepBreakpoint(
        workflow_id=await kept_under(store, request.workflow_id, request.step_id),
        step_id=request.step_id,
        create_time=await store.now(),
        created_by=caller.user,
    )
    return await repeated(lambda: store.set_breakpoint(wanted))
