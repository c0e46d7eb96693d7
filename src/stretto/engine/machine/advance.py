"""An attempt on its way: from status to status, until it waits for something outside."""

from collections.abc import Callable, Mapping
from typing import Final

from stretto.engine.attempt_params import absent_templates, evaluated_params, needs_params
from stretto.engine.effects import LookForBreakpoint
from stretto.engine.flow import Flow
from stretto.engine.kinds import launch
from stretto.engine.late_reads import check_late_reads
from stretto.engine.machine.finish import complete, fail_internally, finish
from stretto.engine.machine.report import end_as_decided
from stretto.engine.plan import Kind, StepPlan
from stretto.engine.policies import ask_permits, permit_limits, timeout_of, timeout_timer, watch_signals
from stretto.engine.records import AttemptRecord
from stretto.engine.signals import step_signals
from stretto.engine.skips import SKIPPED_MESSAGE, is_skipped
from stretto.engine.turn import Turn
from stretto.model.errors import StrettoError
from stretto.model.status import StepStatus
from stretto.model.timeline import LogLevel
from stretto.params import Evaluated, MissingKeys
from stretto.sel import SelError

S = StepStatus
_AT_ONCE: Final = frozenset({Kind.NOTHING, Kind.SLEEP})
Goes = bool  # True: the attempt has moved and goes on; False: it waits, or has ended


def advance(turn: Turn, flow: Flow, index: int) -> None:
    """Move the newest attempt of a step as far as it can go. What can not be decided fails the step."""
    attempt = flow.attempts[index]
    plan = flow.plan.steps[index]
    if attempt is None or (attempt.ending is not None and attempt.decided is None):
        return
    try:
        if attempt.decided is not None:
            end_as_decided(turn, flow, plan, attempt, attempt.decided)
            return
        while (go := _BY_STATUS.get(attempt.status)) is not None and go(turn, flow, plan, attempt):
            pass
    except (StrettoError, SelError) as error:
        fail_internally(turn, flow, plan, attempt, str(error), error)
    except Exception as fault:
        if attempt.status.is_terminal:  # then the fault is not this step's
            raise
        fail_internally(turn, flow, plan, attempt, f"internal error: {type(fault).__name__}: {fault}")


def _created(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    turn.touch(attempt, flow)
    if not flow.satisfied[plan.index] and not attempt.manual:
        attempt.reason = "no incoming edge is taken"
        complete(turn, flow, plan, attempt, S.UNSATISFIED)
        return False
    if is_skipped(plan.id, attempt.restart or flow.run.restart):
        turn.note(flow, attempt, SKIPPED_MESSAGE)
        complete(turn, flow, plan, attempt, S.SKIPPED)
        return False
    if not plan.sure_timeout:
        timeout_of(flow, plan.step.timeout, turn.now)  # a bad one ends the step before it waits for anything
    if attempt.signals is None and plan.step.signal_dependencies:
        found = step_signals(flow, plan.step, attempt, turn.now)
        if isinstance(found, MissingKeys):
            turn.fetch(flow, attempt, found)
            return False
        attempt.signals = found
    turn.move(flow, attempt, S.INITIALIZED)
    return True


def _initialized(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if plan.id in flow.tree.breakpoints:
        # What we know of breakpoints may be old: pause first, then look whether one stands.
        turn.move(flow, attempt, S.PAUSED)
        turn.act(LookForBreakpoint(attempt=attempt.key))
        return False
    wait_for_signals(turn, flow, attempt)
    return True


def wait_for_signals(turn: Turn, flow: Flow, attempt: AttemptRecord) -> None:
    """No breakpoint holds the attempt, or no longer."""
    turn.move(flow, attempt, S.WAITING_FOR_SIGNALS)
    watch = watch_signals(attempt)
    if watch is not None:
        turn.act(watch)


def _waiting_for_signals(turn: Turn, flow: Flow, _plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if attempt.signals is not None and not attempt.signals.is_satisfied:
        return False
    turn.move(flow, attempt, S.EVALUATING_PARAMS)
    return True


def _evaluating(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if flow.holds_back(plan):
        return False  # what it reads, and the permits that it takes, are those of the moment it goes on
    if needs_params(flow, plan, attempt):
        found = evaluated_params(flow, plan, attempt, turn.now)
        if isinstance(found, MissingKeys):
            turn.fetch(flow, attempt, found)
            return False
        turn.touch(attempt, flow)
        attempt.params = found
        if isinstance(found, Evaluated):
            turn.weigh(found.size)
        for name, version in absent_templates(flow, plan):
            text = f"There is no job template [{name}][{version}]: nothing is taken from it"
            turn.note(flow, attempt, text, LogLevel.WARN)
    if not flow.tree.workflow.follows_maestro:  # where the step does its work first, and fails then
        check_late_reads(flow, plan, attempt)
    turn.move(flow, attempt, S.WAITING_FOR_PERMITS)
    limits = permit_limits(flow, plan)
    if limits:
        attempt.permits = tuple(limits)
        attempt.granted = flow.tree.permits.has_room(limits, turn.taken)
        turn.act(ask_permits(flow, attempt, limits, taken=attempt.granted))
        turn.take_permits(limits)
    return True


def _waiting_for_permits(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if (attempt.permits and not attempt.granted) or flow.holds_back(plan):
        return False
    timeout = timeout_of(flow, plan.step.timeout, turn.now)
    turn.move(flow, attempt, S.STARTING)
    attempt.timeout_at = turn.clock + timeout
    return True


def _starting(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    if attempt.launch is not None:
        return False  # its work is launched already: the value that came was for something else
    went_on = launch(turn, flow, plan, attempt)
    if not went_on and attempt.timeout_at is not None:
        turn.act(timeout_timer(attempt, attempt.timeout_at))
    return went_on


def _finishing(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> Goes:
    finish(turn, flow, plan, attempt)
    if attempt.status is S.FINISHING and plan.kind in _AT_ONCE and attempt.timeout_at is not None:
        turn.act(timeout_timer(attempt, attempt.timeout_at))  # what was done at once has no timer yet
    return False


_BY_STATUS: Final[Mapping[StepStatus, Callable[[Turn, Flow, StepPlan, AttemptRecord], Goes]]] = {
    S.CREATED: _created,
    S.INITIALIZED: _initialized,
    S.WAITING_FOR_SIGNALS: _waiting_for_signals,
    S.EVALUATING_PARAMS: _evaluating,
    S.WAITING_FOR_PERMITS: _waiting_for_permits,
    S.STARTING: _starting,
    S.FINISHING: _finishing,
}
