"""Let a strictly sequential queue go on past failed runs."""

from stretto.actions.caller import Caller
from stretto.actions.dequeue import dequeue
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.decisions import decision_of, detail_of
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.latest_run import state_of
from stretto.actions.parts.near_workflows import hinting_at_workflows
from stretto.actions.parts.repeat import repeated
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, WrongState
from stretto.model.properties import RunStrategy
from stretto.model.response import InstanceActionResponse
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.timeline import ActionEvent
from stretto.ports.admission import SnapshotDetail, TransactionScope, WorkflowDecision, WorkflowSnapshot
from stretto.ports.hints import SILENT, Hints
from stretto.ports.rows import RunState
from stretto.ports.store import Store
from stretto.strategies import unblock as ask_strategy


async def unblock(
    store: Store,
    caller: Caller,
    workflow_id: str,
    instance_id: int,
    run_id: int | None = None,
    *,
    hints: Hints = SILENT,
) -> InstanceActionResponse:
    """The failure of the newest run blocks nobody any more; the run stays FAILED. Its timeline says who did
    it, and why.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    row = await find_newest_run(store, workflow_id, instance_id)
    _check(state_of(row), run_id)
    unblocked = 0
    if not is_inline(workflow_id):  # iterations block nobody
        unblocked = await _unblock(store, caller, workflow_id, row.key, hints)
    info = f"Unblocked run {row.key}" if unblocked else f"Run {row.key} does not block anything"
    event = _event(caller, await store.now(), info, f"Unblock run {row.key}")
    return InstanceActionResponse(
        workflow_id=workflow_id,
        workflow_instance_id=instance_id,
        workflow_run_id=row.key.run_id,
        workflow_instance_status=InstanceStatus.FAILED,
        info=info,
        timeline_event=event,
        completed=True,
    )


async def unblock_workflow(
    store: Store, caller: Caller, workflow_id: str, *, hints: Hints = SILENT
) -> ActionEvent:
    """No failure of the workflow blocks its queue any more. The timelines of the failed runs say who did it,
    and why.
    """
    await check_access(store, caller, Right.RUN, workflow_id)
    unblocked = await _unblock(store, caller, workflow_id, None, hints)
    message = f"Unblocked [{unblocked}] failed runs of workflow [{workflow_id}]"
    return _event(caller, await store.now(), message, f"Unblock workflow [{workflow_id}]")


def _event(caller: Caller, now: int, message: str, what: str) -> ActionEvent:
    """`what` was asked for; it is the reason, if the caller gives none."""
    return ActionEvent(
        timestamp=now, action="UNBLOCK", author=caller.user, message=message, reason=caller.reason or what
    )


def _check(state: RunState, run_id: int | None) -> None:
    newest = state.key.run_id
    if run_id not in {None, newest}:
        raise InvalidRequest(
            f"Cannot UNBLOCK the workflow instance run [{run_id}] as it is not the latest run [{newest}]"
        )
    if state.status is not RunStatus.FAILED:
        raise WrongState(f"Cannot unblock run {state.key}: it is {state.status}, not FAILED")


async def _unblock(store: Store, caller: Caller, workflow_id: str, run: RunKey | None, hints: Hints) -> int:
    scope = TransactionScope(detail=_detail_of)
    async with hinting_at_workflows(store, workflow_id):
        done = await repeated(
            lambda: store.transact(workflow_id, scope, lambda snapshot: decide_unblock(snapshot, run, caller))
        )
    hints.hint(done.hints)
    await dequeue(store, workflow_id, hints=hints)
    return done.answer


def _detail_of(strategy: RunStrategy) -> SnapshotDetail:
    return detail_of(strategy)._replace(failed=True)


def decide_unblock(snapshot: WorkflowSnapshot, run: RunKey | None, caller: Caller) -> WorkflowDecision[int]:
    """Marks instead of standing failures, and whoever may start for it."""
    what = f"Unblock workflow [{snapshot.workflow_id}]" if run is None else f"Unblock run {run}"
    unblocked = ask_strategy(
        snapshot.strategy,
        snapshot.queue,
        snapshot.counts.running,
        snapshot.failed,
        run,
        snapshot.paused,
    )
    event = _event(caller, snapshot.now, f"User [{caller.name}] unblocked the run", what)
    return decision_of(
        snapshot, unblocked.admission, len(unblocked.marks), marks=unblocked.marks, mark_event=event
    )
