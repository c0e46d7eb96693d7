"""Faults of our own: a step that can not go on because of us ends, and so does a run."""

from stretto.engine.events import Faulted, RunAction, RunFaulted
from stretto.engine.flow import Flow, is_active
from stretto.engine.machine.ask_run import end_from_above
from stretto.engine.machine.finish import fail_internally
from stretto.engine.machine.report import end_as_asked
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.status import StepStatus
from stretto.model.timeline import LogLevel

S = StepStatus


def faulted(turn: Turn, flow: Flow, event: Faulted) -> None:
    """A step can not go on. If its work was asked to end already, this may stand for the answer."""
    attempt = flow.attempt(event.attempt)
    if attempt is None or not is_active(attempt):
        return
    plan = flow.plan.steps[flow.plan.numbers[event.attempt.step_id]]
    if attempt.ending is None or attempt.decided is not None:
        give_up(turn, flow, plan, attempt, event.message)
    elif event.answers and not flow.children.get(plan.index):  # else it ends with the last of its iterations
        turn.note(flow, attempt, event.message, LogLevel.ERROR)
        attempt.launch = None
        end_as_asked(turn, flow, plan, attempt, attempt.ending)


def give_up(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord, message: str) -> None:
    """End a step that can not be decided, after its work, unless that was asked to end before."""
    if attempt.ending is not None:
        fail_internally(turn, flow, plan, attempt, message)
        return
    # Between two attempts a step can not be in an undecided state: then it has failed for good.
    status = S.FATALLY_FAILED if attempt.status.is_terminal else S.INTERNALLY_FAILED
    turn.later(Task.END_STEP, flow, plan.index, status, message)


def run_faulted(turn: Turn, flow: Flow, event: RunFaulted) -> None:
    """A run can not go on: it fails, and all its steps are ended as if somebody had killed it."""
    turn.note(flow, flow.run, event.message, LogLevel.ERROR)  # also if it is being ended anyway
    end_from_above(turn, flow, RunAction.KILL, event.message, LogLevel.ERROR)
