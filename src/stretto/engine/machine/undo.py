"""Compensation: when a run has failed, its completed steps are undone in reverse, one by one, durably."""

from typing import Final

import msgspec

from stretto.engine.context import step_facts
from stretto.engine.earlier import EarlierRun
from stretto.engine.flow import Flow
from stretto.engine.inline_ids import Loop
from stretto.engine.kinds.loops import Body, ancestors_of, inline_id, open_iteration
from stretto.engine.plan import Plan
from stretto.engine.records import AttemptRecord, Compensation, LoopRecord
from stretto.engine.turn import Task, Turn
from stretto.model.initiator import TemplateInitiator
from stretto.model.status import RunStatus, StepStatus
from stretto.model.step import AnyStep, Transition, TypedStep

UNDO: Final = -1  # stands where the number of a loop's step stands: no step waits for this


def compensate(turn: Turn, flow: Flow) -> bool:
    """Begin to undo a failed run; False if there is nothing to undo."""
    undone = _to_undo(flow)
    if not undone:
        return False
    turn.touch(flow.run, flow)
    flow.run.compensation = Compensation.RUNNING
    flow.active += 1
    turn.note(flow, flow.run, f"Compensating {len(undone)} steps")
    last = undone[0][0]
    inline = inline_id(flow, last, Loop.COMPENSATION)
    loop = LoopRecord(key=last.key, inline_id=inline, run_id=flow.run.key.run_id)
    initiator = TemplateInitiator(ancestors=ancestors_of(flow, last))
    child = open_iteration(turn, flow, UNDO, loop, 0, Body(undo_plan(flow), initiator, {}))
    child.earlier = undo_facts(flow)
    return True


def undo_plan(flow: Flow) -> Plan:
    """The steps that undo a failed run. They follow from its records and need no row of their own."""
    return Plan(_chain([step for _, step in _to_undo(flow)]))


def undo_facts(flow: Flow) -> EarlierRun:
    """What the steps that undo a run may know of those that they undo."""
    done = (record for record in flow.attempts if record is not None and record.status.is_complete)
    return EarlierRun(steps={record.key.step_id: step_facts(flow, record) for record in done})


def _to_undo(flow: Flow) -> list[tuple[AttemptRecord, AnyStep]]:
    """Steps that succeeded and say how to undo them, the last to end first."""
    found = [
        (record, plan.step.compensation)
        for plan, record in zip(flow.plan.steps, flow.attempts, strict=True)
        if record is not None
        and record.status is StepStatus.SUCCEEDED
        and isinstance(plan.step, TypedStep)
        and plan.step.compensation is not None
    ]
    return sorted(found, key=lambda pair: (pair[0].end_time or 0, pair[0].sequence), reverse=True)


def _chain(steps: list[AnyStep]) -> tuple[AnyStep, ...]:
    """One after the other, whatever edges they had."""
    following = [*(step.id for step in steps[1:]), None]
    return tuple(
        msgspec.structs.replace(step, transition=Transition(successors={after: "true"} if after else {}))
        for step, after in zip(steps, following, strict=True)
    )


def compensated(turn: Turn, child: Flow) -> None:
    """The undoing has ended; the run ends FAILED either way, and says which."""
    assert child.parent is not None  # noqa: S101 - only the undoing of a run comes here
    flow, _ = child.parent
    child.drop()
    turn.touch(flow.run, flow)
    good = child.run.status is RunStatus.SUCCEEDED
    flow.run.compensation = Compensation.COMPENSATED if good else Compensation.FAILED
    turn.note(flow, flow.run, "Compensated" if good else "The compensation failed")
    flow.active -= 1
    turn.later(Task.LOOK, flow)
