"""Let everything go on that a breakpoint holds."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.breakpoint_place import found_under
from stretto.actions.reading.breakpoints import all_paused
from stretto.actions.resume_attempt import resume_paused
from stretto.engine.breakpoints import no_breakpoint
from stretto.model.timeline import ActionEvent
from stretto.ports.breakpoints import BreakpointsAt
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store


async def resume_breakpoint(
    store: Store, caller: Caller, workflow_id: str, step_id: str, *, hints: Hints = SILENT
) -> ActionEvent:
    """Those that are paused go on; the breakpoint stays, and holds the next ones."""
    await check_access(store, caller, Right.RUN, workflow_id)
    places = await found_under(store, workflow_id, step_id)
    places = [each for each in places if (await store.breakpoints(BreakpointsAt(each, step_id))).elements]
    if not places:
        raise no_breakpoint(workflow_id, step_id)
    resumed = sum([await resume_held(store, caller, each, step_id, hints) for each in places])
    message = f"User [{caller.name}] resumed {attempts_text(resumed)}"
    return ActionEvent(
        timestamp=await store.now(), action="RESUME", author=caller.user, message=message, info=resumed
    )


def attempts_text(count: int) -> str:
    return f"[{count}] step attempt{'' if count == 1 else 's'}"


async def resume_held(store: Store, caller: Caller, kept: str, step_id: str, hints: Hints) -> int:
    """All attempts that are held under a place where breakpoints are kept; how many there were."""
    resumed = 0
    async for attempt in all_paused(store, kept, step_id):
        resumed += await resume_paused(store, caller, attempt, hints)
    return resumed
