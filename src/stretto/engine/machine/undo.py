"""Compensation: what has succeeded in a run that ends badly is undone in reverse, one by one, durably."""

from typing import Final

from stretto.engine.compensation import origins, undo_ids
from stretto.engine.context import step_facts
from stretto.engine.earlier import NO_EARLIER, EarlierRun
from stretto.engine.flow import UNDO, Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.batch import is_tolerated
from stretto.engine.kinds.loops import Body, ancestors_of, inline_id, open_iteration
from stretto.engine.kinds.reruns import Rerun
from stretto.engine.plan import Kind
from stretto.engine.records import AttemptKey, AttemptRecord, Compensation, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.initiator import TemplateInitiator
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogLevel

MOST_NAMED: Final = 10  # failed undos that a timeline names one by one


def undoes(flow: Flow, status: RunStatus) -> bool:
    """Whether a run that is about to end so is undone, if there is something to undo."""
    run = flow.run
    if run.policy is RunPolicy.UNDO or run.compensation is not None:
        return False
    if status is RunStatus.STOPPED:
        return bool(flow.tree.workflow.undo_on_stop)
    return status in {RunStatus.FAILED, RunStatus.TIMED_OUT} and not is_tolerated(flow)


def is_undoable(flow: Flow) -> bool:
    """Whether something stands in a run that has ended, and could be undone. A run that has undone itself, or
    has tried to, is left alone.
    """
    return flow.run.compensation is None and flow.run.policy is not RunPolicy.UNDO and _leaves(flow)


def _leaves(flow: Flow) -> bool:
    attempts = flow.attempts
    for index in flow.plan.compensated:
        record = attempts[index]
        if record is not None and record.has_delivered:
            return True
    if any(record is not None and record.undoable for record in attempts):
        return True
    return bool(flow.earlier is not None and flow.earlier.undo and undo_order(flow))


def undo_order(flow: Flow) -> tuple[str, ...]:
    """The steps that undo a run: the last step to end is undone first. What an earlier run of the instance
    left, and this one has not run again, comes last.
    """
    ended = [
        (record.end_time or 0, record.sequence, undo_ids(plan.step, record))
        for plan, record in zip(flow.plan.steps, flow.attempts, strict=True)
        if record is not None
    ]
    own = [each for _, _, ids in sorted(ended, reverse=True) for each in ids]
    earlier = flow.earlier or NO_EARLIER
    if earlier.undo:
        of = origins(flow.plan.given)
        own += [each for each in earlier.undo if not _has_run(flow, of[each])]
    return tuple(own)


def _has_run(flow: Flow, step_id: str) -> bool:
    index = flow.plan.numbers.get(step_id)
    return index is not None and flow.attempts[index] is not None


def compensate(turn: Turn, flow: Flow, ids: tuple[str, ...]) -> None:
    """Begin to undo these steps of a run, in this order. From now on its own timeout does not count."""
    run = flow.run
    turn.touch(run, flow)
    run.compensation = Compensation.RUNNING
    run.timeout_at = None
    flow.active += 1
    turn.note(flow, run, f"Compensating {len(ids)} step{'' if len(ids) == 1 else 's'}")
    step_id = origins(flow.plan.given)[ids[0]]
    at = AttemptRecord(key=AttemptKey(run.key, step_id, 1), sequence=0)
    loop = LoopRecord(key=at.key, inline_id=inline_id(flow, at, Loop.COMPENSATION), run_id=run.key.run_id)
    initiator = TemplateInitiator(ancestors=ancestors_of(flow, at))
    rerun = Rerun(run.key.run_id, RunPolicy.UNDO, None, ids, undo_facts(flow))
    open_iteration(turn, flow, UNDO, loop, 0, Body(flow.plan, initiator, {}, rerun))


def undo_facts(flow: Flow) -> EarlierRun:
    """What the steps that undo a run may know of those that they undo."""
    earlier = flow.earlier or NO_EARLIER
    records = [record for record in flow.attempts if record is not None]
    done = (record for record in records if record.status.is_complete or record.has_delivered)
    loops = {record.key.step_id: record.loop_run for record in records if record.loop_run is not None}
    children = {
        record.key.step_id: child
        for record in records
        if (child := record.child or record.earlier_child) is not None
    }
    return EarlierRun(
        steps={**earlier.steps, **{record.key.step_id: step_facts(flow, record) for record in done}},
        loop_runs={**earlier.loop_runs, **loops},
        children={**earlier.children, **children},
    )


def note_undone(turn: Turn, flow: Flow) -> None:
    """A run that undoes others ends: keep which steps are undone, so that their success counts no more. What
    was undone in part, below a step, is no success either.
    """
    undone: dict[str, int] = {}
    undoes = flow.plan.undoes or {}
    for plan, record in zip(flow.plan.steps, flow.attempts, strict=True):
        if record is None:
            continue
        begun = plan.kind is Kind.UNDO and (record.loop_run is not None or record.child is not None)
        if begun or record.status is StepStatus.SUCCEEDED:
            step_id = undoes[plan.id]
            undone[step_id] = max(undone.get(step_id, 0), (begun and record.loop_run) or 0)
    turn.touch(flow.run, flow)
    flow.run.undone = undone


def compensated(turn: Turn, child: Flow) -> None:
    """The undo of a run has ended; the run ends as it would have without, and says how it went."""
    assert child.parent is not None  # noqa: S101 - only the undo of a run comes here
    flow, _ = child.parent
    child.drop()
    turn.touch(flow.run, flow)
    good = child.run.status is RunStatus.SUCCEEDED
    flow.run.compensation = Compensation.COMPENSATED if good else Compensation.FAILED
    flow.run.undone = child.run.undone
    if good:
        turn.note(flow, flow.run, "Compensated")
    else:
        _say_what_stands(turn, flow, child)
    flow.active -= 1
    turn.later(Task.LOOK, flow)


def _say_what_stands(turn: Turn, flow: Flow, child: Flow) -> None:
    """Name what could not be undone."""
    undoes = child.plan.undoes or {}
    left = [
        (plan, record)
        for plan, record in zip(child.plan.steps, child.attempts, strict=True)
        if record is None or not record.status.is_complete
    ]
    for plan, record in left[:MOST_NAMED]:
        why = f" ({child.run.ended_by})" if child.run.ended_by else ""
        text = f"its undo [{plan.id}] did not begin{why}"
        if record is not None:
            reason = f": {record.reason}" if record.reason else ""
            text = f"its undo [{plan.id}] ended {record.status}{reason}"
        turn.note(flow, flow.run, f"Step [{undoes[plan.id]}] is not undone: {text}", LogLevel.ERROR)
    all_steps, is_or_are = len(child.plan.steps), "is" if len(left) == 1 else "are"
    text = f"The compensation failed: {len(left)} of {all_steps} steps {is_or_are} not undone"
    turn.note(flow, flow.run, text, LogLevel.ERROR)
