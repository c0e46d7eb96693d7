"""Let one attempt go on that a breakpoint holds."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.asking import ask_for_step
from stretto.actions.parts.messages import Patience, act_on, ask_owner
from stretto.engine.breakpoints import Where, not_paused
from stretto.engine.events import StepActed
from stretto.engine.records import AttemptKey, RunKey
from stretto.model.actions import StepAction
from stretto.model.breakpoint import PausedStepAttempt
from stretto.model.response import StepActionResponse
from stretto.model.status import StepStatus
from stretto.ports.hints import SILENT, Hints
from stretto.ports.run_snapshot import read_attempt, read_run
from stretto.ports.store import Store


async def resume_attempt(
    store: Store,
    caller: Caller,
    attempt: AttemptKey,
    *,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> StepActionResponse:
    """The attempt goes on; the breakpoint stays, and holds the next one."""
    await check_access(store, caller, Right.RUN, attempt.run.workflow_id)
    row = await read_attempt(store, attempt)
    run = await read_run(store, attempt.run)
    if row is None or run is None or row.record.status is not StepStatus.PAUSED:
        where = Where(0, attempt.run.instance_id, attempt.run.run_id, attempt.number)
        raise not_paused(attempt.run.workflow_id, attempt.step_id, where)
    return await ask_for_step(store, caller, (run, attempt), StepAction.RESUME, patience, hints)


async def resume_paused(store: Store, caller: Caller, paused: PausedStepAttempt, hints: Hints) -> bool:
    """The same for one of many: nobody waits for it, and one that is gone is no error."""
    run = RunKey(paused.workflow_id, paused.workflow_instance_id, paused.workflow_run_id)
    row = await read_run(store, run)
    if row is None:
        return False
    attempt = AttemptKey(run, paused.step_id, paused.step_attempt_id)
    event = StepActed(attempt=attempt, action=StepAction.RESUME, user=caller.name)
    await ask_owner(store, act_on(row.group, event), None, hints=hints)
    return True
