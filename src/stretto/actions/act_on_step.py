"""Stop a step, kill it, or end its wait for signals: the newest attempt, while its run has not ended."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.asking import ask_for_step
from stretto.actions.parts.finding import find_newest_attempt, find_newest_run
from stretto.actions.parts.messages import Patience
from stretto.model.actions import STEP_ACTIONS, StepAction
from stretto.model.errors import WrongState
from stretto.model.response import StepActionResponse
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.store import Store


async def stop_step(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> StepActionResponse:
    """The step ends STOPPED, after its work has ended."""
    seen = await _find(store, caller, workflow_id, instance_id, step_id)
    return await _act(store, caller, seen, StepAction.STOP, patience, hints)


async def kill_step(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> StepActionResponse:
    """The step ends FATALLY_FAILED, after its work has ended; its failure mode says what that means."""
    seen = await _find(store, caller, workflow_id, instance_id, step_id)
    return await _act(store, caller, seen, StepAction.KILL, patience, hints)


async def bypass_step(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    step_id: str,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> StepActionResponse:
    """A step that waits for signals waits no more: what has not come counts as skipped."""
    seen = await _find(store, caller, workflow_id, instance_id, step_id)
    return await _act(store, caller, seen, StepAction.BYPASS_STEP_DEPENDENCIES, patience, hints)


async def _find(
    store: Store, caller: Caller, workflow_id: str, instance_id: int, step_id: str
) -> tuple[RunRow, AttemptRow]:
    """The newest run of an instance, and the newest attempt of a step, which may be of an older run."""
    await check_access(store, caller, Right.RUN, workflow_id)
    run = await find_newest_run(store, workflow_id, instance_id)
    return run, await find_newest_attempt(store, workflow_id, instance_id, step_id)


async def _act(
    store: Store,
    caller: Caller,
    seen: tuple[RunRow, AttemptRow],
    action: StepAction,
    patience: Patience | None,
    hints: Hints,
) -> StepActionResponse:
    run, attempt = seen
    check_step_action(run, attempt, action)
    return await ask_for_step(store, caller, (run, attempt.key), action, patience, hints)


def check_step_action(run: RunRow, attempt: AttemptRow, action: StepAction) -> None:
    """Refuse what the table of actions does not list, and anything once the run has ended. The owner checks
    it again: this is only what the user could have seen.
    """
    place = f"[{attempt.key.run.workflow_id}][{attempt.key.run.instance_id}][{attempt.key.step_id}]"
    verb, status = action.value.lower(), attempt.record.status
    if run.record.status.is_terminal or attempt.key.run != run.key:
        raise WrongState(f"Cannot {verb} step {place}: it is not part of a run that goes on")
    allowed = STEP_ACTIONS[status]
    if action not in allowed:
        raise WrongState(
            f"Cannot {verb} step {place} because it is unsupported by the step action map"
            f" [{', '.join(allowed)}]",
            hint=f"it is {status}",
        )
