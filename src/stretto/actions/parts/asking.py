"""A request about a step, put to the owner of its run."""

from stretto.actions.caller import Caller
from stretto.actions.parts.messages import Patience, act_on, ask_owner
from stretto.actions.reading.step_view import runtime_state
from stretto.engine.events import StepActed
from stretto.engine.records import AttemptKey
from stretto.model.actions import ENDS_IN, StepAction
from stretto.model.response import StepActionResponse
from stretto.model.timeline import LogEvent
from stretto.ports.hints import Hints
from stretto.ports.rows import RunRow
from stretto.ports.run_snapshot import read_attempt
from stretto.ports.store import Store


async def ask_for_step(
    store: Store,
    caller: Caller,
    place: tuple[RunRow, AttemptKey],
    action: StepAction,
    patience: Patience | None,
    hints: Hints,
) -> StepActionResponse:
    """Ask, and answer with the state of the attempt, if the caller has waited: once it has ended, or, of an
    action that ends nothing, once the step goes on.
    """
    run, attempt = place
    event = StepActed(attempt=attempt, action=action, user=caller.name, reason=caller.reason or None)
    lasting = action in ENDS_IN
    outcome = await ask_owner(store, act_on(run.group, event), patience, lasting=lasting, hints=hints)
    found = None if outcome is None else await read_attempt(store, outcome.attempt or attempt)
    reached = found is not None and (found.record.status.is_terminal or not lasting)
    state = runtime_state(found) if found is not None and reached else None
    message = f"User [{caller.name}] took action [{action}] on step {attempt}{caller.because}"
    return StepActionResponse(
        workflow_id=attempt.run.workflow_id,
        workflow_instance_id=attempt.run.instance_id,
        workflow_run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        step_runtime_state=state,
        timeline_event=LogEvent(timestamp=await store.now(), message=message),
    )
