"""The one entry: what an event changes, and what the outside must do about it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from stretto.engine import events as happened
from stretto.engine.effects import Effect, SetTimer
from stretto.engine.flow import Flow
from stretto.engine.kinds.batch import run_batch
from stretto.engine.kinds.foreach import run_foreach
from stretto.engine.kinds.loops import count_iteration
from stretto.engine.kinds.subworkflow import child_ended, child_refused, child_started
from stretto.engine.kinds.whiles import carry_over, run_while
from stretto.engine.machine.advance import advance
from stretto.engine.machine.ask import (
    breakpoint_gone,
    called_back,
    end_from_above,
    end_from_outside,
    run_acted,
    step_acted,
    step_timed_out,
)
from stretto.engine.machine.begin import begin, begin_again
from stretto.engine.machine.finish import end_step, fail_internally, look
from stretto.engine.machine.report import conclude, look_again, report, retry
from stretto.engine.machine.undo import UNDO, compensated
from stretto.engine.opening import restarted_step
from stretto.engine.plan import Kind
from stretto.engine.policies import timeout_of
from stretto.engine.records import AttemptKey, Record, RunKey, WakeReason
from stretto.engine.turn import Task, Turn
from stretto.model.errors import StrettoError
from stretto.model.run_config import RunPolicy
from stretto.model.signal_instance import SignalDependencies, SignalDependencyStatus
from stretto.model.status import RunStatus, StepStatus

S = StepStatus


class Decision(msgspec.Struct, frozen=True):
    """Records that were made or changed, and effects to carry out once they are committed."""

    changes: list[Record]
    effects: list[Effect]


def decide(flow: Flow, event: happened.Event, now: int) -> Decision:
    """Apply an event to a run and run it to quiescence.

    An event for something that is no longer there changes nothing. What a user may not ask is refused with
    an error, and nothing is changed. A fault of our own fails the step that the event is about, with the
    reason on its timeline; the run goes on without it.
    """
    turn = Turn(flow, now)
    try:
        _apply(turn, flow, event)
    except StrettoError:
        turn.undo()
        raise
    except Exception as fault:
        turn.undo()
        turn = Turn(flow, now)
        if not _contain(turn, flow, event, fault):
            raise
    return Decision(turn.changes(), turn.effects)


def _apply(turn: Turn, flow: Flow, event: happened.Event) -> None:
    target = _target(flow, event)
    if target is None or target.is_over:
        return
    HANDLERS[type(event)](turn, target, event)
    turn.settle(WORKERS)


def _target(flow: Flow, event: Any) -> Flow | None:
    key: RunKey = event.run if hasattr(event, "run") else event.attempt.run
    return flow.tree.live.get(key)


def _contain(turn: Turn, flow: Flow, event: Any, fault: Exception) -> bool:
    """Fail the step that an event is about, and nothing else. False if it is about no step."""
    target = _target(flow, event)
    key: AttemptKey | None = getattr(event, "attempt", None)
    attempt = target.attempt(key) if target is not None and key is not None else None
    if target is None or attempt is None or attempt.status.is_terminal:
        return False
    plan = target.plan.steps[target.plan.numbers[attempt.key.step_id]]
    fail_internally(turn, target, plan, attempt, f"internal error: {type(fault).__name__}: {fault}")
    turn.settle(WORKERS)
    return True


# ------------------------------------------------------------------------------------------------- handlers
def _launched(turn: Turn, flow: Flow, _event: happened.Launched) -> None:
    run = flow.run
    if run.status is not RunStatus.CREATED:
        return
    turn.move_run(flow, RunStatus.IN_PROGRESS)
    run.start_time = turn.now
    turn.note(flow, run, "Workflow instance is dequeued.")
    run.timeout_at = turn.now + timeout_of(flow, flow.tree.workflow.timeout, turn.now)
    turn.act(SetTimer(attempt=None, run=run.key, due=run.timeout_at, reason=None))
    # In a run that restarts a specific step, other roots wait for a user.
    restarted = restarted_step(run.restart) if run.policy is RunPolicy.RESTART_FROM_SPECIFIC else None
    for source in flow.plan.sources:
        if restarted is None or flow.plan.steps[source].id == restarted:
            turn.schedule(flow, source)
    turn.later(Task.LOOK, flow)


def _woken(turn: Turn, flow: Flow, event: happened.Woken) -> None:
    attempt = flow.attempt(event.attempt)
    if attempt is None or attempt.wake_at != event.due or attempt.wake_reason is not event.reason:
        return
    index = flow.plan.numbers[event.attempt.step_id]
    if event.reason is WakeReason.BACK_OFF:
        if flow.run.paused:
            flow.held.append(index)
            return
        begin_again(turn, flow, index)
        return
    turn.touch(attempt, flow)
    attempt.wake_at = attempt.wake_reason = None
    if event.reason is WakeReason.POLL:
        look_again(turn, attempt)
    elif attempt.ending is None:
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
            flow.fetched[key] = value
    index = flow.plan.numbers.get(event.attempt.step_id)
    if index is None or flow.attempt(event.attempt) is None:
        return
    turn.later(Task.LOOP if index in flow.loops else Task.ADVANCE, flow, index)


def _resumed(turn: Turn, flow: Flow, event: happened.Resumed) -> None:
    if flow.attempt(event.attempt) is not None:
        turn.later(Task.LOOP, flow, flow.plan.numbers[event.attempt.step_id])


HANDLERS: Final[Mapping[type, Callable[[Turn, Flow, Any], None]]] = {
    happened.Launched: _launched,
    happened.Reported: report,
    happened.Woken: _woken,
    happened.StepTimeDue: _step_time_due,
    happened.RunTimeDue: _run_time_due,
    happened.Granted: _granted,
    happened.SignalCame: _signal_came,
    happened.Fetched: _fetched,
    happened.BreakpointGone: breakpoint_gone,
    happened.ChildStarted: child_started,
    happened.ChildRefused: child_refused,
    happened.ChildEnded: child_ended,
    happened.CalledBack: called_back,
    happened.StepActed: step_acted,
    happened.RunActed: run_acted,
    happened.Resumed: _resumed,
}


# -------------------------------------------------------------------------------------------------- workers
def _conclude(turn: Turn, flow: Flow, index: int, state: happened.ResultState, message: str | None) -> None:
    attempt, plan = flow.attempts[index], flow.plan.steps[index]
    if attempt is None or attempt.status not in {S.STARTING, S.RUNNING}:
        return  # a loop may have been looked at twice
    turn.touch(attempt, flow)
    if attempt.ending is S.TIMEOUT_FAILED:
        retry(turn, flow, plan, attempt, S.TIMEOUT_FAILED, attempt.reason)
    elif attempt.ending is not None:
        end_step(turn, flow, plan, attempt, attempt.ending)
    else:
        conclude(turn, flow, plan, attempt, state, message)


def _iteration_ended(turn: Turn, child: Flow) -> None:
    if child.parent is not None and child.parent[1] == UNDO:
        compensated(turn, child)
        return
    flow, plan, attempt, loop = count_iteration(turn, child)
    if plan.kind is Kind.WHILE:
        carry_over(turn, flow, loop, child)
    if attempt is not None and not attempt.status.is_terminal:
        turn.later(Task.LOOP, flow, plan.index)


def _loop(turn: Turn, flow: Flow, index: int) -> None:
    attempt, plan, loop = flow.attempts[index], flow.plan.steps[index], flow.loops.get(index)
    if attempt is None or loop is None or attempt.status is not S.RUNNING:
        return
    {Kind.FOREACH: run_foreach, Kind.WHILE: run_while}.get(plan.kind, run_batch)(
        turn, flow, plan, attempt, loop
    )


WORKERS: Final[Mapping[Task, Callable[..., None]]] = {
    Task.BEGIN: begin,
    Task.BEGIN_AGAIN: begin_again,
    Task.ADVANCE: advance,
    Task.CONCLUDE: _conclude,
    Task.LOOK: look,
    Task.ITERATION_ENDED: _iteration_ended,
    Task.LOOP: _loop,
    Task.END_STEP: end_from_outside,
    Task.END_RUN: end_from_above,
}
