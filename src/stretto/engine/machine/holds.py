"""Who holds a run: a user, or the run that it belongs to; and what goes on when nobody does."""

from collections.abc import Callable, Iterable

from stretto.engine.flow import BEFORE_WORK, Flow
from stretto.engine.kinds.subworkflow import hold_children
from stretto.engine.policies import wake_timer
from stretto.engine.records import Compensation, WakeReason
from stretto.engine.turn import Task, Turn
from stretto.model.status import RunStatus


def set_holds(turn: Turn, flow: Flow, *, paused: bool, held: bool) -> None:
    """A run is paused as long as a user, or the run that it belongs to, holds it."""
    run = flow.run
    was_paused = run.is_paused
    turn.touch(run, flow)
    run.paused, run.held = paused, held
    if run.is_paused and not was_paused:
        turn.move_run(flow, RunStatus.PAUSED)
        _hold_below(turn, flow)
    elif was_paused and not run.is_paused:
        _go_on(turn, flow)


def _hold_below(turn: Turn, flow: Flow) -> None:
    """What belongs to a run is held, or goes on, with it: iterations at once, children by a message."""
    for children in list(flow.children.values()):
        for child in list(children.values()):
            if child.run.ending is None:
                set_holds(turn, child, paused=child.run.paused, held=flow.run.is_paused)
    hold_children(turn, flow)


def _go_on(turn: Turn, flow: Flow) -> None:
    run = flow.run
    status = RunStatus.IN_PROGRESS if run.start_time is not None else RunStatus.CREATED
    if run.status is not status:  # an earlier release left a run that was paused in its queue CREATED
        turn.move_run(flow, status)
    let_go(turn, flow, range(len(flow.plan.steps)))
    _hold_below(turn, flow)
    for index in flow.loops:
        turn.look_at_loop(flow, index)
    turn.later(Task.LOOK, flow)


def let_go(turn: Turn, flow: Flow, steps: Iterable[int]) -> None:
    """Steps that were held begin, or start their work; a back-off that ran out is looked at again."""
    held, flow.held = set(flow.held), []
    for index in steps:
        if index in held:
            held.discard(index)
            turn.schedule(flow, index)
        record = flow.attempts[index]
        if record is not None and record.status in BEFORE_WORK:
            turn.later(Task.ADVANCE, flow, index)
        if record is not None and record.wake_at is not None and record.wake_reason is WakeReason.BACK_OFF:
            turn.act(wake_timer(record, record.wake_at))
    flow.held = sorted(held)


# ----------------------------------------------------------------------------------------------------- undos
def release_undo(turn: Turn, flow: Flow, outcome: RunStatus, reason: str) -> None:
    """A run that is being undone is asked to end: its undo goes on to its end, also if the run is paused.

    The run is being ended from now on, with the status that it has anyway, so that nobody holds it again.
    """
    run = flow.run
    if not run.is_paused:
        return
    turn.touch(run, flow)
    run.ending, run.ended_by = outcome, reason  # a run that was being ended before could not be paused
    _release(turn, flow)


def release_undos_below(turn: Turn, flow: Flow, reason: str, outcome_of: Callable[[Flow], RunStatus]) -> None:
    """A run is being ended, and can not be resumed any more: what undoes its iterations goes on, also where
    the step around them was asked to end before.
    """
    for children in list(flow.children.values()):
        for child in list(children.values()):
            if child.run.compensation is Compensation.RUNNING:
                release_undo(turn, child, outcome_of(child), reason)
            else:
                release_undos_below(turn, child, reason, outcome_of)


def _release(turn: Turn, flow: Flow) -> None:
    """End every pause of a run, and of the iterations in it."""
    set_holds(turn, flow, paused=False, held=False)
    for children in list(flow.children.values()):
        for child in list(children.values()):
            _release(turn, child)
