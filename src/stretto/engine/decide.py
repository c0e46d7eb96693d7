"""The one entry: what an event changes, and what the outside must do about it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from stretto.engine import events as happened
from stretto.engine.effects import AnyEffect
from stretto.engine.elsewhere import keep_answer
from stretto.engine.flow import UNDO, Flow, is_active
from stretto.engine.kinds.batch import run_batch, sum_up
from stretto.engine.kinds.foreach import iteration_failed, run_foreach
from stretto.engine.kinds.loops import count_iteration, note_loop_runs
from stretto.engine.kinds.subworkflow import child_counted, child_ended, child_refused, child_started
from stretto.engine.kinds.undo import run_undo, undo_ended
from stretto.engine.kinds.whiles import carry_over, run_while
from stretto.engine.machine.advance import advance
from stretto.engine.machine.ask import (
    breakpoint_gone,
    called_back,
    end_from_outside,
    step_acted,
    step_timed_out,
)
from stretto.engine.machine.ask_run import (
    RUN_ENDS,
    end_from_above,
    end_iterations,
    reach,
    run_acted,
    run_held,
)
from stretto.engine.machine.begin import begin, begin_again
from stretto.engine.machine.faults import faulted, give_up, run_faulted
from stretto.engine.machine.finish import end_run, look, signals_announced
from stretto.engine.machine.placement import functions_found, functions_missing, functions_never_found
from stretto.engine.machine.report import (
    conclude,
    end_as_asked,
    evaluation_failed,
    look_again,
    output_told,
    report,
    work_lost,
)
from stretto.engine.machine.undo import compensated, is_undoable
from stretto.engine.plan import Kind
from stretto.engine.policies import run_timer, timeout_of
from stretto.engine.records import AttemptKey, Record, RunKey, WakeReason
from stretto.engine.turn import Task, Turn
from stretto.model.errors import StrettoError, WrongState
from stretto.model.run_config import RunPolicy
from stretto.model.signal_instance import SignalDependencies, SignalDependencyStatus
from stretto.model.status import RunStatus, StepStatus
from stretto.model.timeline import LogLevel
from stretto.params import MissingKeys

S = StepStatus


class Decision(msgspec.Struct, frozen=True):
    """Records that were made or changed, and effects to carry out once they are committed."""

    changes: list[Record]
    effects: list[AnyEffect]
    before: list[StepStatus | RunStatus | None]  # of each change: its status before; None: new, or a loop
    weight: int = 0  # kilobytes of parameters that were evaluated


COMMANDS: Final = (happened.StepActed, happened.RunActed, happened.CalledBack)
ANSWERS: Final = (happened.Reported, happened.Faulted)  # with which work that was asked to end is over


def decide(flow: Flow, event: happened.Event, clock: int) -> Decision:
    """Apply an event to a run and run it to quiescence.

    An event for something that is no longer there changes nothing. What a user may not ask is refused with
    an error, and nothing is changed. A fault of our own fails the step that it happened in, or that the
    event is about, with the reason on its timeline; the run goes on without it.
    """
    turn = Turn(flow, clock)
    try:
        _apply(turn, flow, event)
    except BaseException as fault:
        turn.undo()
        refused = isinstance(event, COMMANDS) and isinstance(fault, StrettoError)
        if refused or not isinstance(fault, Exception):
            raise
        turn = Turn(flow, clock)
        if not _contained(turn, flow, event, fault):
            raise
    return Decision(turn.changes(), turn.effects, turn.before(), turn.weight)


def _apply(turn: Turn, flow: Flow, event: happened.Event) -> None:
    target = _target(flow, event)
    # An answer counts all the same: who gave it was told that it was accepted.
    while target is not None and not isinstance(event, happened.CalledBack) and reach(turn, target):
        turn.settle(WORKERS)
    if target is None or target.is_over:
        if isinstance(event, COMMANDS) and not _is_so_already(target, event):
            raise _too_late(target, event)
        return
    HANDLERS[type(event)](turn, target, event)
    turn.settle(WORKERS)


def _target(flow: Flow, event: Any) -> Flow | None:
    key: RunKey = event.run if hasattr(event, "run") else event.attempt.run
    return flow.tree.live.get(key)


def _is_so_already(target: Flow | None, event: Any) -> bool:
    """Whether a run is asked to end as it has ended."""
    if target is None or not isinstance(event, happened.RunActed) or event.action not in RUN_ENDS:
        return False
    return target.run.status is RUN_ENDS[event.action][1]


def _too_late(target: Flow | None, event: Any) -> WrongState:
    key: RunKey = event.run if hasattr(event, "run") else event.attempt.run
    if target is not None and isinstance(event, happened.RunActed) and event.action in RUN_ENDS:
        status, wanted = target.run.status, RUN_ENDS[event.action][1]
        return WrongState(
            f"Cannot terminate a workflow instance {key.workflow_id} from status [{status}] to [{wanted}]"
        )
    how = f" {target.run.status}" if target is not None else ", or it never began"
    return WrongState(f"Nothing can be asked of run {key}: it has ended{how}", hint="restart it")


def _contained(turn: Turn, flow: Flow, event: Any, fault: Exception) -> bool:
    """Fail the step that an event is about, and nothing else. False if it is about no step."""
    target = _target(flow, event)
    key: AttemptKey | None = getattr(event, "attempt", None)
    attempt = target.attempt(key) if target is not None and key is not None else None
    if target is None or attempt is None or not is_active(attempt):
        return False
    if attempt.ending is not None and not isinstance(event, ANSWERS):
        return False  # what it waits for may still come
    text = (
        str(fault) if isinstance(fault, StrettoError) else f"internal error: {type(fault).__name__}: {fault}"
    )
    try:
        give_up(turn, target, target.plan.steps[target.plan.numbers[attempt.key.step_id]], attempt, text)
        turn.settle(WORKERS)
    except BaseException:
        turn.undo()
        raise
    return True


# ------------------------------------------------------------------------------------------------- handlers
def _launched(turn: Turn, flow: Flow, _event: happened.Launched) -> None:
    run = flow.run
    if run.start_time is not None:
        return
    turn.touch(run, flow)
    if not run.is_paused:
        turn.move_run(flow, RunStatus.IN_PROGRESS)
    elif run.status is RunStatus.CREATED:  # paused in its queue by an earlier release
        turn.move_run(flow, RunStatus.PAUSED)
    run.start_time = turn.now
    turn.note(flow, run, "Workflow instance is dequeued.")
    if run.policy is not RunPolicy.UNDO:  # how long an undo may take is up to its steps
        try:
            run.timeout_at = turn.clock + timeout_of(flow, flow.tree.workflow.timeout, turn.now)
        except StrettoError as error:
            turn.note(flow, run, str(error), LogLevel.ERROR)
            end_run(turn, flow, RunStatus.FAILED)
            return
        turn.act(run_timer(run, run.timeout_at))
    for source in flow.plan.sources:
        if flow.begins_itself(flow.plan.steps[source]):
            turn.schedule(flow, source)
    turn.later(Task.LOOK, flow)


def _woken(turn: Turn, flow: Flow, event: happened.Woken) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.wake_at != event.due or attempt.wake_reason is not event.reason:
        return
    index = flow.plan.numbers[event.attempt.step_id]
    if event.reason is WakeReason.BACK_OFF:
        # If it is held back, letting it go sets the timer again.
        if (
            attempt.decided is None
            and flow.run.ending is None
            and not flow.holds_back(flow.plan.steps[index])
        ):
            begin_again(turn, flow, index)
        return
    turn.touch(attempt, flow)
    attempt.wake_at = attempt.wake_reason = None
    if event.reason is WakeReason.POLL:
        look_again(turn, attempt)
    elif event.reason is WakeReason.FUNCTION:
        functions_never_found(turn, flow, flow.plan.steps[index], attempt)
    else:
        turn.later(Task.CONCLUDE, flow, index, happened.ResultState.DONE, None)


def _step_time_due(turn: Turn, flow: Flow, event: happened.StepTimeDue) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.status.is_terminal or attempt.timeout_at != event.due:
        return
    step_timed_out(turn, flow, flow.plan.steps[flow.plan.numbers[event.attempt.step_id]], attempt)


def _run_time_due(turn: Turn, flow: Flow, event: happened.RunTimeDue) -> None:
    if flow.run.timeout_at == event.due:
        end_from_above(turn, flow, happened.RunAction.TIME_OUT, "the run timed out")


def _granted(turn: Turn, flow: Flow, event: happened.Granted) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is not None and attempt.status is S.WAITING_FOR_PERMITS:
        turn.touch(attempt, flow)
        attempt.granted = True
        turn.later(Task.ADVANCE, flow, flow.plan.numbers[event.attempt.step_id])


def _signal_came(turn: Turn, flow: Flow, event: happened.SignalCame) -> None:
    attempt = flow.attempt(event.attempt)
    signals = attempt.signals if attempt is not None else None
    if attempt is None or signals is None or attempt.status is not S.WAITING_FOR_SIGNALS:
        return
    made = list(signals.dependencies)
    if not 0 <= event.index < len(made) or made[event.index].status.is_done:
        return
    made[event.index] = msgspec.structs.replace(
        made[event.index], status=SignalDependencyStatus.MATCHED, signal_id=event.signal_id
    )
    turn.touch(attempt, flow)
    attempt.signals = SignalDependencies(dependencies=made, info=signals.info)
    turn.later(Task.ADVANCE, flow, flow.plan.numbers[event.attempt.step_id])


def _fetched(turn: Turn, flow: Flow, event: happened.Fetched) -> None:
    for key, value in event.values.items():
        if isinstance(key, tuple) and key[0] == "template":
            flow.tree.templates[key[1]] = value
        else:
            flow.keep(key, value)
    _look_again(turn, flow, event.attempt)


def _look_again(turn: Turn, flow: Flow, key: AttemptKey) -> None:
    """What an attempt was missing is here."""
    attempt = flow.attempt(key)
    if attempt is not None:
        index = flow.plan.numbers[key.step_id]
        if attempt.status is S.RUNNING and attempt.decided is None:
            turn.look_at_loop(flow, index)
        else:
            turn.later(Task.ADVANCE, flow, index)


def _evaluated(turn: Turn, flow: Flow, event: happened.Evaluated) -> None:
    """An answer from elsewhere: values to go on with, values that are missing there, too, or a failure."""
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.asked_at is None:
        return
    if event.error is not None:
        plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
        evaluation_failed(turn, flow, plan, attempt, event.error)
    elif event.missing:
        turn.fetch(flow, attempt, MissingKeys(event.missing))
    else:
        keep_answer(flow, attempt, event.params)
        _look_again(turn, flow, event.attempt)


def _resumed(turn: Turn, flow: Flow, event: happened.Resumed) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is not None:
        index = flow.plan.numbers[event.attempt.step_id]
        if attempt.ending is not None:
            end_iterations(turn, flow, index)
        turn.look_at_loop(flow, index)


HANDLERS: Final[Mapping[type, Callable[[Turn, Flow, Any], None]]] = {
    happened.Launched: _launched,
    happened.Reported: report,
    happened.Woken: _woken,
    happened.OutputTold: output_told,
    happened.WorkLost: work_lost,
    happened.FunctionsMissing: functions_missing,
    happened.FunctionsFound: functions_found,
    happened.StepTimeDue: _step_time_due,
    happened.RunTimeDue: _run_time_due,
    happened.Granted: _granted,
    happened.SignalCame: _signal_came,
    happened.Fetched: _fetched,
    happened.Evaluated: _evaluated,
    happened.SignalsAnnounced: signals_announced,
    happened.BreakpointGone: breakpoint_gone,
    happened.ChildStarted: child_started,
    happened.ChildRefused: child_refused,
    happened.ChildEnded: child_ended,
    happened.ChildCounted: child_counted,
    happened.CalledBack: called_back,
    happened.StepActed: step_acted,
    happened.RunActed: run_acted,
    happened.RunHeld: run_held,
    happened.Resumed: _resumed,
    happened.Faulted: faulted,
    happened.RunFaulted: run_faulted,
}


# -------------------------------------------------------------------------------------------------- workers
def _conclude(turn: Turn, flow: Flow, index: int, state: happened.ResultState, message: str | None) -> None:
    attempt, plan = flow.attempts[index], flow.plan.steps[index]
    if attempt is None or attempt.status not in {S.STARTING, S.RUNNING} or attempt.decided is not None:
        return  # a loop may have been looked at twice
    turn.touch(attempt, flow)
    if attempt.ending is not None:
        end_as_asked(turn, flow, plan, attempt, attempt.ending)
    else:
        conclude(turn, flow, plan, attempt, state, message)


def _iteration_ended(turn: Turn, child: Flow) -> None:
    assert child.parent is not None  # noqa: S101 - only iterations come here
    flow, index = child.parent
    if index == UNDO:
        compensated(turn, child)
        return
    plan, attempt, loop = flow.plan.steps[index], flow.attempts[index], flow.loops[index]
    assert attempt is not None  # noqa: S101 - its attempt ends after its iterations
    if not attempt.undoable and is_undoable(child):
        turn.touch(attempt, flow)
        attempt.undoable = True
    if plan.kind is Kind.WHILE:
        carry_over(turn, flow, loop, child)
    elif plan.kind is Kind.WORK:
        sum_up(turn, flow, attempt, child)
    elif plan.kind is Kind.FOREACH and child.run.status is RunStatus.FAILED:
        iteration_failed(turn, flow, plan, loop)
    note_loop_runs(turn, flow, attempt, child)
    (undo_ended if plan.kind is Kind.UNDO else count_iteration)(turn, flow, loop, child)
    turn.look_at_loop(flow, index)


def _loop(turn: Turn, flow: Flow, index: int) -> None:
    turn.looked(flow, index)
    attempt, plan, loop = flow.attempts[index], flow.plan.steps[index], flow.loops.get(index)
    if attempt is None or loop is None or attempt.status is not S.RUNNING or attempt.decided is not None:
        return
    {Kind.FOREACH: run_foreach, Kind.WHILE: run_while, Kind.UNDO: run_undo}.get(plan.kind, run_batch)(
        turn, flow, plan, attempt, loop
    )


WORKERS: Final[Mapping[Task, Callable[..., object]]] = {
    Task.BEGIN: begin,
    Task.BEGIN_AGAIN: begin_again,
    Task.ADVANCE: advance,
    Task.CONCLUDE: _conclude,
    Task.LOOK: look,
    Task.ITERATION_ENDED: _iteration_ended,
    Task.LOOP: _loop,
    Task.END_ITERATIONS: end_iterations,
    Task.REACH: reach,
    Task.END_STEP: end_from_outside,
    Task.END_RUN: end_from_above,
}
