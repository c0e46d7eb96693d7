"""Pause a run, and let it go on."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.latest_run import Ruling, Target, act_on_latest, answer_of, is_queued
from stretto.engine.events import RunActed, RunAction
from stretto.model.errors import WrongState
from stretto.model.response import InstanceActionResponse
from stretto.model.timeline import LogEvent
from stretto.ports.admission import QueuedPause
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import NodeId, RunState
from stretto.ports.store import Store


async def pause(  # noqa: PLR0913 - three name the run, and three say what of it, for how long, and hint
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run_id: int | None = None,
    *,
    steps: tuple[str, ...] = (),
    node: NodeId | None = None,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """Nothing new begins, in the run, its iterations and its subworkflows; what runs goes on to its end. A
    queued run is PAUSED and passed over, unless the run strategy keeps the order. With `steps` only these do
    not begin, such as those of a stage. `node`: pause it only as long as this one looks after it.
    """
    target = Target(workflow_id, instance_id, run_id, node)
    return await _hold(store, caller, target, RunAction.PAUSE, steps, hints)


async def resume(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run_id: int | None = None,
    *,
    steps: tuple[str, ...] = (),
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """What was held begins; what has ended is not repeated. A queued run has its place in the queue again.
    With `steps` only these are let go.
    """
    target = Target(workflow_id, instance_id, run_id)
    return await _hold(store, caller, target, RunAction.RESUME, steps, hints)


async def _hold(
    store: Store, caller: Caller, target: Target, action: RunAction, steps: tuple[str, ...], hints: Hints
) -> InstanceActionResponse:
    await check_access(store, caller, Right.RUN, target.workflow_id)
    return await act_on_latest(
        store, target, action, lambda state, now: decide_hold(state, now, caller, action, steps), hints
    )


def decide_hold(
    state: RunState, now: int, caller: Caller, action: RunAction, steps: tuple[str, ...] = ()
) -> Ruling:
    """Refused for a run that has ended, is paused already, or is not paused; single steps can be held and let
    go as long as their run goes on.
    """
    verb = action.value.lower()
    if state.status.is_terminal:
        raise WrongState(f"Cannot {verb} run {state.key}: it has ended {state.status}")
    if steps and is_queued(state):
        raise WrongState(f"Cannot {verb} steps of run {state.key}: it has not begun")
    wanted = action is RunAction.PAUSE
    if not steps and state.paused is wanted:
        raise WrongState(f"Cannot {verb} run {state.key}: {_why_not(state)}")
    what = f"steps [{', '.join(steps)}] of run" if steps else "run"
    info = f"User [{caller.name}] asked to {verb} {what} {state.key}{caller.because}"
    if is_queued(state):
        event = LogEvent(timestamp=now, message=info)
        held = QueuedPause(run=state.key, paused=wanted, held=state.held, event=event)
        return Ruling(answer=answer_of(state, now, info, held.status), pause=held)
    ask = RunActed(run=state.key, action=action, user=caller.name, reason=info, steps=steps)
    return Ruling(answer=answer_of(state, now, info), ask=ask)


def _why_not(state: RunState) -> str:
    """Why a run can not be paused, or not be resumed."""
    if not state.held or state.paused:
        return f"it is {state.status}"
    above = "the run that it belongs to" if state.parent is None else f"run {state.parent.attempt.run}"
    return f"{above} is paused, and holds it; resume that one"
