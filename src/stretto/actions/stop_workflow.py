"""Stop or kill all runs of a workflow."""

from typing import Final
from uuid import uuid4

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.messages import act_on
from stretto.actions.parts.near_workflows import hinting_at_workflows
from stretto.actions.parts.repeat import repeated
from stretto.actions.stop import ENDS_IN
from stretto.engine.events import RunActed, RunAction
from stretto.model.timeline import ActionEvent, LogEvent
from stretto.ports.admission import (
    QueuedEnd,
    SnapshotDetail,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.hints import SILENT, Hints
from stretto.ports.places import group_of_run
from stretto.ports.store import Store

BATCH: Final = 10  # queued runs that end in one transaction: the lock is held only briefly


async def stop_workflow(
    store: Store, caller: Caller, workflow_id: str, *, hints: Hints = SILENT
) -> ActionEvent:
    """Queued runs end at once, batch after batch; running ones are told to end, and do so later."""
    return await _end_all(store, caller, workflow_id, RunAction.STOP, hints)


async def kill_workflow(
    store: Store, caller: Caller, workflow_id: str, *, hints: Hints = SILENT
) -> ActionEvent:
    """As `stop_workflow`, but they end FAILED."""
    return await _end_all(store, caller, workflow_id, RunAction.KILL, hints)


async def _end_all(
    store: Store, caller: Caller, workflow_id: str, action: RunAction, hints: Hints
) -> ActionEvent:
    await check_access(store, caller, Right.RUN, workflow_id)
    verb = action.value.lower()
    reason = f"User [{caller.name}] asked to {verb} all runs of workflow [{workflow_id}]{caller.because}"
    scope = TransactionScope(detail=lambda _strategy: SnapshotDetail(queue=BATCH, paused=BATCH))
    queued = 0
    while True:
        async with hinting_at_workflows(store, workflow_id):
            done = await repeated(
                lambda: store.transact(workflow_id, scope, lambda now: end_queued(now, action, reason))
            )
        hints.hint(done.hints)
        queued += done.answer
        if done.answer < BATCH:
            break
    ref = str(uuid4())
    running = await repeated(
        lambda: store.transact(
            workflow_id,
            TransactionScope(detail=lambda _strategy: SnapshotDetail(running=True)),
            lambda now: end_running(now, action, caller.name, reason, ref),
        )
    )
    hints.hint(running.hints)
    message = f"Terminated [{queued}] queued instances and terminating [{running.answer}] running instances"
    return ActionEvent(
        timestamp=await store.now(), action=action.value, author=caller.user, message=message, reason=reason
    )


def end_queued(snapshot: WorkflowSnapshot, action: RunAction, reason: str) -> WorkflowDecision[int]:
    event = LogEvent(timestamp=snapshot.now, message=reason)
    waiting = sorted((*snapshot.queue, *snapshot.paused))[:BATCH]
    ended = tuple(QueuedEnd(run=run, status=ENDS_IN[action], event=event) for run in waiting)
    return WorkflowDecision(answer=len(ended), ended=ended)


def end_running(
    snapshot: WorkflowSnapshot, action: RunAction, user: str, reason: str, ref: str
) -> WorkflowDecision[int]:
    """Each is asked of its owner; one that ends before the request comes is left as it ended."""
    sent = tuple(
        act_on(group_of_run(run), RunActed(run=run, action=action, user=user, reason=reason), f"{ref} {run}")
        for run in snapshot.running
    )
    return WorkflowDecision(answer=len(sent), sent=sent)
