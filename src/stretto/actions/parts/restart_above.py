"""A restart that begins in a run which goes on: a new attempt of its step on the path."""

from stretto.actions.parts.messages import Patience, act_on, ask_owner
from stretto.actions.parts.restarting import Again
from stretto.actions.parts.step_attempt import newest_attempt_of
from stretto.engine.events import StepActed
from stretto.engine.records import AttemptKey
from stretto.engine.restart_path import current_node
from stretto.model.actions import StepAction
from stretto.model.errors import Conflict
from stretto.model.param import Params
from stretto.model.timeline import ActionEvent
from stretto.ports.store import Store


async def restart_step_above(
    store: Store, again: Again, patience: Patience | None
) -> tuple[AttemptKey, ActionEvent]:
    """Ask the owner for the next attempt of the step; returns its key, and a line for the timeline.

    A loop that still runs goes on with its other iterations: what failed in it is restarted once it ended.
    """
    step_id = current_node(again.config).step_id or ""
    key = again.row.key
    newest = await newest_attempt_of(store, again.row, step_id)
    if not again.is_end_of_path and newest is not None and not newest.record.status.is_restartable:
        raise Conflict(
            f"Cannot restart below step {newest.key} now, as it is {newest.record.status}",
            hint="try again once it has ended",
        )
    event = StepActed(
        attempt=AttemptKey(key, step_id, 0),
        action=StepAction.RESTART,
        user=again.caller.name,
        params=_params(again, step_id),
    )
    outcome = await ask_owner(store, act_on(again.row.group, event), patience)
    before = newest.key.number if newest is not None and newest.key.run == key else 0
    made = None if outcome is None else outcome.attempt
    attempt = made or AttemptKey(key, step_id, before + 1)
    message = f"User [{again.caller.name}] restarted step {attempt}"
    line = ActionEvent(
        timestamp=await store.now(), action="RESTART", author=again.caller.user, message=message
    )
    return attempt, line


def _params(again: Again, step_id: str) -> Params:
    """Those of the request are for the step that the user named, not for the steps above it."""
    given = again.config.step_restart_params or {}
    return dict(given.get(step_id, {})) if again.is_end_of_path else {}
