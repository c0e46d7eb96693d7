"""What users, timeouts and steps above ask of a run, or of some of its steps: end, hold, go on."""

from collections.abc import Iterable
from typing import Final

from stretto.engine.effects_of import wake_timer
from stretto.engine.events import RunActed, RunAction
from stretto.engine.flow import Flow, is_active
from stretto.engine.machine.finish import end_run
from stretto.engine.machine.undo import UNDO
from stretto.engine.records import Compensation, WakeReason
from stretto.engine.turn import Task, Turn
from stretto.model.errors import NotFound, WrongState
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogLevel

S = StepStatus
RUN_ENDS: Final = {
    RunAction.STOP: (S.STOPPED, RunStatus.STOPPED),
    RunAction.KILL: (S.FATALLY_FAILED, RunStatus.FAILED),
    RunAction.TIME_OUT: (S.TIMED_OUT, RunStatus.TIMED_OUT),
}


def run_acted(turn: Turn, flow: Flow, event: RunActed) -> None:
    """Refused if the run is not in a state for it; asking twice for the same end is no harm."""
    run, action = flow.run, event.action
    ends = action in RUN_ENDS
    if ends and not event.steps and run.compensation is Compensation.RUNNING:
        end_from_above(turn, flow, action, _reason(event))
    elif run.ending is not None:
        if ends and not event.steps and run.ending is RUN_ENDS[action][1]:
            return
        raise _refused(flow, action, f"it is being ended ({run.ended_by})")
    elif event.steps:
        _some_acted(turn, flow, event)
    elif ends:
        if action is RunAction.TIME_OUT and run.start_time is None:
            raise _refused(flow, action, "it has not started")
        end_from_above(turn, flow, action, _reason(event))
    elif run.paused is (action is RunAction.PAUSE):
        raise _refused(flow, action, "it is paused already" if run.paused else "it is not paused")
    elif action is RunAction.PAUSE:
        _pause(turn, flow)
        turn.note(flow, run, _reason(event))
    else:
        _go_on(turn, flow)
        turn.note(flow, run, _reason(event))


def _refused(flow: Flow, action: RunAction, why: str) -> WrongState:
    return WrongState(f"Cannot {action.value.lower()} run {flow.run.key}: {why}")


def _reason(event: RunActed) -> str:
    return event.reason or f"{event.action.value.lower()} by {event.user}"


# ----------------------------------------------------------------------------------------------- some steps
def _some_acted(turn: Turn, flow: Flow, event: RunActed) -> None:
    """Suspend, resume or shut down single steps, or those of a stage."""
    unknown = [step_id for step_id in event.steps if step_id not in flow.plan.numbers]
    if unknown:
        message = f"run {flow.run.key} has no step {', '.join(unknown)}"
        raise NotFound(message)
    wanted = frozenset(event.steps)
    run = flow.run
    turn.touch(run, flow)
    if event.action is RunAction.PAUSE:
        if all(_has_ended(flow, step_id) for step_id in wanted):
            raise _refused(flow, event.action, f"{', '.join(event.steps)} ended already")
        run.suspended |= wanted
    elif event.action is RunAction.RESUME:
        if not wanted & run.suspended:
            raise _refused(flow, event.action, f"{', '.join(event.steps)} is not suspended")
        run.suspended -= wanted
        if not run.paused:
            _let_go(turn, flow, [flow.plan.numbers[step_id] for step_id in sorted(wanted)])
    else:
        _shut_down(turn, flow, event)
    turn.later(Task.LOOK, flow)


def _has_ended(flow: Flow, step_id: str) -> bool:
    record = flow.attempts[flow.plan.numbers[step_id]]
    return record is not None and not is_active(record)


def _shut_down(turn: Turn, flow: Flow, event: RunActed) -> None:
    """End what runs of these steps; what has not begun never will."""
    run = flow.run
    status, _ = RUN_ENDS[event.action]
    numbers = {step_id: flow.plan.numbers[step_id] for step_id in event.steps}
    not_begun = {step_id: status for step_id, index in numbers.items() if not flow.has_begun(index)}
    run.shut = {**run.shut, **not_begun}
    flow.held = [index for index in flow.held if flow.plan.steps[index].id not in not_begun]
    for index in numbers.values():
        turn.later(Task.END_STEP, flow, index, status, _reason(event))


# ------------------------------------------------------------------------------------------- hold and go on
def _pause(turn: Turn, flow: Flow) -> None:
    """Nothing new begins, here and in the iterations; what runs goes on, and its result is kept."""
    run = flow.run
    if run.paused or run.ending is not None:
        return
    turn.move_run(flow, RunStatus.PAUSED)
    run.paused = True
    for children in flow.children.values():
        for child in children.values():
            _pause(turn, child)


def _go_on(turn: Turn, flow: Flow) -> None:
    run = flow.run
    if not run.paused or run.ending is not None:
        return
    turn.touch(run, flow)
    status = RunStatus.IN_PROGRESS if run.start_time is not None else RunStatus.CREATED
    if run.status is not status:  # one that was paused in its queue, and has not begun, is CREATED still
        turn.move_run(flow, status)
    run.paused = False
    _let_go(turn, flow, range(len(flow.plan.steps)))
    for children in list(flow.children.values()):
        for child in list(children.values()):
            _go_on(turn, child)
    for index in flow.loops:
        turn.later(Task.LOOP, flow, index)
    turn.later(Task.LOOK, flow)


def _let_go(turn: Turn, flow: Flow, steps: Iterable[int]) -> None:
    """Steps that were held begin; a back-off that ran out meanwhile is looked at again."""
    held, flow.held = set(flow.held), []
    for index in steps:
        if index in held:
            held.discard(index)
            turn.schedule(flow, index)
        record = flow.attempts[index]
        if record is not None and record.wake_at is not None and record.wake_reason is WakeReason.BACK_OFF:
            turn.act(wake_timer(record, record.wake_at))
    flow.held = sorted(held)


# ---------------------------------------------------------------------------------------------------- ends
def end_from_above(
    turn: Turn, flow: Flow, action: RunAction, reason: str, level: LogLevel = LogLevel.INFO
) -> None:
    """End every step of a run that has not ended; the run ends with the last of them."""
    run = flow.run
    if flow.is_over:
        return
    for undoing in flow.children.get(UNDO, {}).values():
        turn.later(Task.END_RUN, undoing, action, reason)
    if run.ending is not None:
        return
    step_status, run_status = RUN_ENDS[action]
    turn.touch(run, flow)
    run.ending, run.ended_by = run_status, reason
    turn.note(flow, run, reason, level)
    flow.held = []
    if run.start_time is None:
        end_run(turn, flow, run_status)
        return
    for plan in flow.plan.steps:
        attempt = flow.attempts[plan.index]
        if attempt is not None and is_active(attempt):
            if action is RunAction.KILL:
                turn.touch(attempt, flow)
                attempt.heedless = True
            turn.later(Task.END_STEP, flow, plan.index, step_status, reason)
    turn.later(Task.LOOK, flow)
