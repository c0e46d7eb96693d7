"""Messages to a run that is still in its queue: nobody owns it there, and its workflow's lock decides."""

from collections.abc import Callable

from stretto.actions.dequeue import dequeue
from stretto.engine.events import RunActed, RunHeld
from stretto.engine.records import held_line
from stretto.model.errors import NotFound
from stretto.model.status import RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.admission import (
    QueuedEnd,
    QueuedPause,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.commit import Decided
from stretto.ports.failures import Stale
from stretto.ports.hints import Hints
from stretto.ports.rows import Phase, RunState
from stretto.ports.store import Store


async def end_queued(store: Store, message_id: int, stop: RunActed, *, hints: Hints) -> Decided | None:
    """End a queued run, with the message that asks for it; None: that is done.

    One that has ended, or never was, needs nothing: the answer consumes the message. Stale: it was admitted
    meanwhile, and its owner has to do it.
    """
    return await _change(store, message_id, stop, lambda state, now: _end(state, now, stop.user), hints)


async def hold_queued(store: Store, message_id: int, hold: RunHeld, *, hints: Hints) -> Decided | None:
    """Hold a queued run, or let it go, with the run whose step waits for it; answers as `end_queued`."""
    return await _change(store, message_id, hold, lambda state, now: _hold(state, now, hold), hints)


async def _change(
    store: Store,
    message_id: int,
    event: RunActed | RunHeld,
    decision: Callable[[RunState, int], WorkflowDecision[None]],
    hints: Hints,
) -> Decided | None:
    def decide(snapshot: WorkflowSnapshot) -> WorkflowDecision[None]:
        state = snapshot.runs.get(event.run)
        if state is None or state.phase is Phase.ENDED:
            return WorkflowDecision(answer=None)
        if state.phase is not Phase.QUEUED:
            raise Stale(f"{event.run} is {state.phase}")
        return decision(state, snapshot.now)

    workflow_id = event.run.workflow_id
    try:
        done = await store.transact(
            workflow_id, TransactionScope(runs=(event.run,), consumes=(message_id,)), decide
        )
    except NotFound:
        return Decided(consumed=(message_id,))
    hints.hint(done.hints)
    if done.queued:  # it may go on itself, or no longer be in the way of others
        await dequeue(store, workflow_id, hints=hints)
    return None


def _end(state: RunState, now: int, user: str) -> WorkflowDecision[None]:
    event = LogEvent(timestamp=now, message=f"Stopped by {user} before it could begin")
    return WorkflowDecision(
        answer=None, ended=(QueuedEnd(run=state.key, status=RunStatus.STOPPED, event=event),)
    )


def _hold(state: RunState, now: int, hold: RunHeld) -> WorkflowDecision[None]:
    if state.held is hold.held:
        return WorkflowDecision(answer=None)
    event = LogEvent(timestamp=now, message=held_line(hold.parent, held=hold.held))
    held = QueuedPause(run=state.key, paused=state.paused, held=hold.held, event=event)
    return WorkflowDecision(answer=None, paused=(held,))
