"""What users, timeouts and steps above ask of a run, or of some of its steps: end, hold, go on."""

from collections.abc import Iterator
from typing import Final

from stretto.engine.events import RunActed, RunAction, RunHeld
from stretto.engine.flow import UNDO, Flow, is_active
from stretto.engine.machine.finish import end_run, run_outcome
from stretto.engine.machine.holds import let_go, release_undo, release_undos_below, set_holds
from stretto.engine.records import AttemptRecord, Compensation, RunRecord, held_line
from stretto.engine.run_text import pause_text
from stretto.engine.turn import Task, Turn
from stretto.model.errors import NotFound, WrongState
from stretto.model.run_config import RunPolicy
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogLevel

S = StepStatus
RUNNING: Final = Compensation.RUNNING
UNDO_GOES_ON: Final = (
    "this run undoes the runs before it and finishes first; kill it to leave the rest as it is"
)
STILL_UNDONE: Final = "what the run did is being undone all the same; kill it to leave the rest as it is"
RUN_ENDS: Final = {
    RunAction.STOP: (S.STOPPED, RunStatus.STOPPED),
    RunAction.KILL: (S.FATALLY_FAILED, RunStatus.FAILED),
    RunAction.TIME_OUT: (S.TIMED_OUT, RunStatus.TIMED_OUT),
}


def run_acted(turn: Turn, flow: Flow, event: RunActed) -> None:
    """Refused if the run is not in a state for it; asking twice for the same end is no harm."""
    run, action = flow.run, event.action
    ends = action in RUN_ENDS
    if event.replaced and run.policy is RunPolicy.UNDO:
        turn.note(flow, run, f"{_reason(event)}: {UNDO_GOES_ON}", LogLevel.WARN)
    elif ends and not event.steps and run.compensation is RUNNING:
        if action is RunAction.KILL:
            end_from_above(turn, flow, action, _reason(event))
        elif run.ending is not RUN_ENDS[action][1]:
            # Who stops a run does not wait for an answer: the timeline has it.
            turn.note(flow, run, f"{_reason(event)}: {STILL_UNDONE}", LogLevel.WARN)
            end_from_above(turn, flow, action, _reason(event))
    elif run.ending is not None:
        if action is RunAction.KILL and not event.steps and _give_up_undos(turn, flow, _reason(event)):
            return
        if ends and not event.steps and run.ending is RUN_ENDS[action][1]:
            return
        raise _refused(flow, action, f"it is being ended ({run.ended_by})")
    elif event.steps:
        _some_acted(turn, flow, event)
    elif ends:
        if action is RunAction.TIME_OUT and run.start_time is None:
            raise _refused(flow, action, "it has not started")
        end_from_above(turn, flow, action, _reason(event))
    else:
        _acted_on_pause(turn, flow, event)


def _give_up_undos(turn: Turn, flow: Flow, reason: str) -> bool:
    """End what undoes the iterations of a run that waits for nothing else; False if nothing does."""
    undos = [
        each for each in flow.tree.live.values() if each is not flow and each.run.compensation is RUNNING
    ]
    for each in undos:
        turn.later(Task.END_RUN, each, RunAction.KILL, reason)
    return bool(undos)


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
        if not run.is_paused:
            let_go(turn, flow, [flow.plan.numbers[step_id] for step_id in sorted(wanted)])
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
def _acted_on_pause(turn: Turn, flow: Flow, event: RunActed) -> None:
    """A user pauses a run, or resumes one that a user paused."""
    run, wanted = flow.run, event.action is RunAction.PAUSE
    if run.paused is wanted:
        why = "it is paused already" if wanted else _why_not_resumed(run)
        raise _refused(flow, event.action, why)
    turn.note(flow, run, _reason(event))
    set_holds(turn, flow, paused=wanted, held=run.held)


def _why_not_resumed(run: RunRecord) -> str:
    return f"{pause_text(run)}: resume that one" if run.held else "it is not paused"


def run_held(turn: Turn, flow: Flow, event: RunHeld) -> None:
    """The run whose step waits for this one is paused, or goes on. A run that is being ended is not held."""
    run = flow.run
    if run.ending is not None or run.held is event.held:
        return
    turn.note(flow, run, held_line(event.parent, held=event.held))
    set_holds(turn, flow, paused=run.paused, held=event.held)


# ---------------------------------------------------------------------------------------------------- ends
def end_from_above(
    turn: Turn, flow: Flow, action: RunAction, reason: str, level: LogLevel = LogLevel.INFO
) -> None:
    """End every step of a run that has not ended; the run ends with the last of them."""
    run = flow.run
    if flow.is_over:
        return
    if run.compensation is RUNNING:
        if action is RunAction.KILL:  # nothing else ends the undo of a run before it is done
            for undo in flow.children[UNDO].values():
                turn.later(Task.END_RUN, undo, action, reason)
        else:
            release_undo(turn, flow, run_outcome(flow), reason)
        return
    if run.ending is not None:
        return
    step_status, run_status = RUN_ENDS[action]
    turn.touch(run, flow)
    run.ending, run.ended_by = run_status, reason
    turn.note(flow, run, reason, level)
    flow.held = []
    release_undos_below(turn, flow, reason, run_outcome)
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


# ------------------------------------------------------------------------------------------------ iterations
def end_iterations(turn: Turn, flow: Flow, index: int, left: Iterator[Flow] | None = None) -> None:
    """End the iterations of a step that is being ended, one after the other and as many as one decision may.

    The rest follow after its commit. Nothing begins in those meanwhile: `ending` of the step stands.
    """
    attempt = flow.attempts[index]
    if attempt is None or attempt.ending is None:
        return
    if left is None:
        left = iter(list(flow.children.get(index, {}).values()))
    child = next((each for each in left if not each.is_over and each.run.ending is None), None)
    if child is None:
        return
    if turn.is_full:
        turn.resume_later(attempt)
        return
    _end_iteration(turn, child, attempt)
    turn.later(Task.END_ITERATIONS, flow, index, left)  # once it is known what this one costs


def reach(turn: Turn, flow: Flow) -> bool:
    """An end that is on its way to a run, or to one around it, gets there before anything else does.

    True: the outermost run that it has not reached was asked to end; then there may be another one.
    """
    found, at = None, flow
    while (around := at.loop_around) is not None:
        above, attempt = around
        waits = at.run.ending is None and at.run.compensation is not RUNNING and not at.is_over
        if attempt.ending is not None and waits:
            found = (at, attempt)
        at = above
    if found is not None:
        _end_iteration(turn, *found)
    return found is not None


def _end_iteration(turn: Turn, child: Flow, attempt: AttemptRecord) -> None:
    """End an iteration as the step around it is being ended."""
    action = RunAction.TIME_OUT if attempt.ending is S.TIMED_OUT else RunAction.STOP
    end_from_above(turn, child, action, attempt.reason or "")
