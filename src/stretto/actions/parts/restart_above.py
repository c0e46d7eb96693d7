"""A restart that begins in a run which goes on: a new attempt of its step, or an iteration of its loop."""

from stretto.actions.parts.finding import step_in
from stretto.actions.parts.messages import Patience, act_on, ask_owner
from stretto.actions.parts.restarting import Again
from stretto.actions.parts.step_attempt import newest_attempt_of
from stretto.actions.reading.definitions import definition_of
from stretto.engine.events import StepActed
from stretto.engine.records import AttemptKey
from stretto.engine.restart_path import current_node
from stretto.model.actions import StepAction
from stretto.model.errors import Conflict
from stretto.model.param import Params
from stretto.model.status import StepStatus
from stretto.model.step import ForeachStep
from stretto.model.timeline import LogEvent
from stretto.ports.rows import AttemptRow
from stretto.ports.store import Store


async def restart_step_above(
    store: Store, again: Again, patience: Patience | None
) -> tuple[AttemptKey, LogEvent]:
    """Ask the owner for the next attempt of the step, or, of a foreach that still runs, for one iteration of
    it; returns the key of the attempt, and a line for the timeline.
    """
    step_id = current_node(again.config).step_id or ""
    key = again.row.key
    newest = await newest_attempt_of(store, again.row, step_id)
    within = await _is_within(store, again, newest, step_id)
    event = StepActed(
        attempt=AttemptKey(key, step_id, 0),
        action=StepAction.RESTART,
        user=again.caller.name,
        params=_params(again, step_id),
        restart=again.config,
        reason=again.caller.reason or None,
    )
    outcome = await ask_owner(store, act_on(again.row.group, event), patience, hints=again.hints)
    before = newest.key.number if newest is not None and newest.key.run == key else 0
    made = None if outcome is None else outcome.attempt
    attempt = made or AttemptKey(key, step_id, before if within else before + 1)
    message = f"User [{again.caller.name}] restarted step {attempt}"
    return attempt, LogEvent(timestamp=await store.now(), message=message)


async def _is_within(store: Store, again: Again, newest: AttemptRow | None, step_id: str) -> bool:
    """Whether something in a loop that still runs is restarted. Below any other step that has not ended
    nothing can be. The owner looks at it once more.
    """
    if again.is_end_of_path or newest is None or newest.record.status.is_restartable:
        return False
    status = newest.record.status
    workflow = await definition_of(store, again.row)
    if status is StepStatus.RUNNING and isinstance(step_in(workflow.steps, step_id), ForeachStep):
        return True
    what = f"run {again.row.key}" if status.is_terminal else "it"
    raise Conflict(
        f"Cannot restart below step {newest.key} now, as it is {status}",
        hint=f"try again once {what} has ended",
    )


def _params(again: Again, step_id: str) -> Params:
    """Those of the request are for the step that the user named, not for the steps above it."""
    given = again.config.step_restart_params or {}
    return dict(given.get(step_id, {})) if again.is_end_of_path else {}
