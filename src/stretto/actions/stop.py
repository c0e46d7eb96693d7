"""Stop or kill a run: the newest of an instance."""

from typing import Final

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.latest_run import Ruling, Target, act_on_latest, answer_of, is_queued
from stretto.engine.events import RunActed, RunAction
from stretto.model.errors import WrongState
from stretto.model.response import InstanceActionResponse
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.admission import QueuedEnd
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunState
from stretto.ports.store import Store

ENDS_IN: Final = {RunAction.STOP: RunStatus.STOPPED, RunAction.KILL: RunStatus.FAILED}


async def stop(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run_id: int | None = None,
    *,
    reason: str = "",
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """A queued run ends STOPPED at once. A running one is told to end its steps; not `completed` yet.

    The reason stands on the timeline, behind who has asked.
    """
    target = Target(workflow_id, instance_id, run_id)
    return await _end(store, caller, target, RunAction.STOP, reason, hints)


async def kill(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run_id: int | None = None,
    *,
    reason: str = "",
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """As `stop`, but it ends FAILED, whatever the failure modes of its steps say."""
    target = Target(workflow_id, instance_id, run_id)
    return await _end(store, caller, target, RunAction.KILL, reason, hints)


async def _end(
    store: Store, caller: Caller, target: Target, action: RunAction, reason: str, hints: Hints
) -> InstanceActionResponse:
    await check_access(store, caller, Right.RUN, target.workflow_id)
    return await act_on_latest(
        store, target, action, lambda state, now: decide_end(state, now, caller, action, reason), hints
    )


def decide_end(state: RunState, now: int, caller: Caller, action: RunAction, why: str = "") -> Ruling:
    """What ending comes down to in each phase."""
    status = ENDS_IN[action]
    if state.status is status:
        info = f"Run {state.key} has already ended {status}"
        return Ruling(answer=answer_of(state, now, info, status))
    if state.status.is_terminal:
        raise WrongState(
            f"Cannot terminate a workflow instance {state.key.workflow_id} from status [{state.status}]"
            f" to [{status}]: run {state.key} has ended"
        )
    because = f": {why}" if why else caller.because
    reason = f"User [{caller.name}] asked to {action.value.lower()} run {state.key}{because}"
    if is_queued(state):
        end = QueuedEnd(run=state.key, status=status, event=LogEvent(timestamp=now, message=reason))
        return Ruling(answer=answer_of(state, now, reason, status), end=end)
    ask = RunActed(run=state.key, action=action, user=caller.name, reason=reason)
    return Ruling(answer=answer_of(state, now, reason), ask=ask)
