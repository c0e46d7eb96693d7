"""What a user asks of the newest run of an instance: done at once while it is queued, and asked of its owner
while it runs.
"""

from collections.abc import Callable
from typing import NamedTuple
from uuid import uuid4

import msgspec

from stretto.actions.dequeue import dequeue
from stretto.actions.parts.finding import find_newest_run
from stretto.actions.parts.messages import act_on, send
from stretto.actions.parts.near_workflows import hinting_at_workflows
from stretto.actions.parts.repeat import repeated
from stretto.engine.events import RunActed, RunAction
from stretto.engine.inline_ids import is_inline
from stretto.engine.records import RunKey
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.response import InstanceActionResponse
from stretto.model.status import InstanceStatus, RunStatus
from stretto.model.timeline import LogEvent
from stretto.ports.admission import (
    QueuedEnd,
    QueuedPause,
    TransactionScope,
    WorkflowDecision,
    WorkflowSnapshot,
)
from stretto.ports.hints import Hints
from stretto.ports.places import group_of_run
from stretto.ports.rows import NodeId, Phase, RunRow, RunState
from stretto.ports.store import Store


class Target(NamedTuple):
    """An instance, and the run that the user saw; None: whichever is the newest."""

    workflow_id: str
    instance_id: int
    run_id: int | None = None
    node: NodeId | None = None  # ask this one, and only as long as it looks after the run; None: the owner


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, and at most one thing to do for it; nothing to do: it is as the user wants it already."""

    answer: InstanceActionResponse
    end: QueuedEnd | None = None
    pause: QueuedPause | None = None
    ask: RunActed | None = None


Decide = Callable[[RunState, int], Ruling]  # pure: the newest run and the time


async def act_on_latest(
    store: Store, target: Target, action: RunAction, decide: Decide, hints: Hints
) -> InstanceActionResponse:
    """Decide under the workflow's lock, so that no admission comes in between. An iteration is never queued:
    its owner alone decides.
    """
    ref = str(uuid4())
    if is_inline(target.workflow_id):
        row = await find_newest_run(store, target.workflow_id, target.instance_id)
        _check_run(target, row.key.run_id, action)
        ruling = decide(state_of(row), await store.now())
        if ruling.ask is not None:
            await send(store, act_on(row.group, ruling.ask, ref), hints)
        return ruling.answer
    scope = TransactionScope(instances=(target.instance_id,))
    async with hinting_at_workflows(store, target.workflow_id):
        done = await repeated(
            lambda: store.transact(
                target.workflow_id, scope, lambda snapshot: _verdict(snapshot, target, action, ref, decide)
            )
        )
    hints.hint(done.hints | _own_group(target, done.answer))
    if done.queued:  # one that is resumed, or that no longer holds up others
        await dequeue(store, target.workflow_id, hints=hints)
    return done.answer


def _own_group(target: Target, answer: InstanceActionResponse) -> frozenset[int]:
    """Of a run whose node is asked by its name, and looks for its mail with that of its groups."""
    run = RunKey(answer.workflow_id, answer.workflow_instance_id, answer.workflow_run_id)
    return frozenset() if target.node is None else frozenset({group_of_run(run)})


def _verdict(
    snapshot: WorkflowSnapshot, target: Target, action: RunAction, ref: str, decide: Decide
) -> WorkflowDecision[InstanceActionResponse]:
    latest = snapshot.latest.get(target.instance_id)
    if latest is None:
        raise NotFound(f"Cannot find workflow instance [{target.workflow_id}][{target.instance_id}]")
    _check_run(target, latest.key.run_id, action)
    ruling = decide(latest, snapshot.now)
    return WorkflowDecision(
        answer=ruling.answer,
        ended=() if ruling.end is None else (ruling.end,),
        paused=() if ruling.pause is None else (ruling.pause,),
        sent=() if ruling.ask is None else (act_on(latest.group, ruling.ask, ref, target.node),),
    )


def _check_run(target: Target, newest: int, action: RunAction) -> None:
    if target.run_id not in {None, newest}:
        raise InvalidRequest(
            f"Cannot {action} the workflow instance run [{target.run_id}] as it is not the latest run"
            f" [{newest}] of [{target.workflow_id}][{target.instance_id}]"
        )


def state_of(row: RunRow) -> RunState:
    """A run as a workflow transaction sees it."""
    record = row.record
    return RunState(
        key=row.key,
        uuid=record.uuid,
        version_id=record.version_id,
        group=row.group,
        phase=row.phase,
        status=record.status,
        failure=row.failure,
        paused=record.paused,
        held=record.held,
        parent=row.parent,
    )


def answer_of(
    state: RunState, now: int, info: str, status: RunStatus | None = None
) -> InstanceActionResponse:
    """What the user is told. With the status that the run has now it is done, else it goes on."""
    event = LogEvent(timestamp=now, message=info)
    return InstanceActionResponse(
        workflow_id=state.key.workflow_id,
        workflow_instance_id=state.key.instance_id,
        workflow_run_id=state.key.run_id,
        workflow_instance_status=InstanceStatus(status or state.status),
        info=info,
        timeline_event=event,
        completed=status is not None,
    )


def is_queued(state: RunState) -> bool:
    return state.phase is Phase.QUEUED
