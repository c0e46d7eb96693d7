"""Wait: until somebody answers. What is asked then, and of whom, is kept with the attempt."""

from typing import Final

from stretto.engine.early_answers import said_in, take_early
from stretto.engine.events import ResultState
from stretto.engine.flow import Flow
from stretto.engine.plan import StepPlan
from stretto.engine.records import AttemptRecord
from stretto.engine.turn import Task, Turn
from stretto.model.approval import Asked
from stretto.model.param import ParamMode
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep

PROMPT: Final = "prompt"
ASSIGNEES: Final = "assignees"
MOST_ASSIGNEES: Final = 100  # each has a row of their own
LONGEST_NAME: Final = 128  # of an assignee


def launch_wait(turn: Turn, flow: Flow, plan: StepPlan, attempt: AttemptRecord) -> bool:
    turn.move(flow, attempt, StepStatus.RUNNING)
    asked = question_of(plan.step, attempt)
    problem = _problem(asked)
    if problem is not None:
        turn.later(Task.CONCLUDE, flow, plan.index, ResultState.FATAL_ERROR, problem)
        return False
    attempt.asks = asked
    answer = take_early(turn, flow, attempt)
    if answer is not None:
        state = ResultState.DONE if answer.approved else ResultState.FATAL_ERROR
        turn.later(Task.CONCLUDE, flow, plan.index, state, said_in(answer))
    return False


def question_of(step: AnyStep, attempt: AttemptRecord) -> Asked:
    """The parameters `prompt`, else the description of the step, and `assignees`; the step's other parameters
    that may still change are what an answer brings along.
    """
    params = attempt.params or {}
    prompt, assignees = params.get(PROMPT), params.get(ASSIGNEES)
    names = () if assignees is None else assignees.evaluated_result or ()
    return Asked(
        prompt=step.description if prompt is None else prompt.evaluated_result,
        assignees=tuple(dict.fromkeys(name.strip() for name in names if name.strip())),
        values=tuple(
            name
            for name in step.params or {}
            if name not in {PROMPT, ASSIGNEES} and params[name].mode in {None, ParamMode.MUTABLE}
        ),
    )


def _problem(asked: Asked) -> str | None:
    if len(asked.assignees) > MOST_ASSIGNEES:
        return f"[{ASSIGNEES}] names {len(asked.assignees):,} people, the limit is {MOST_ASSIGNEES}"
    long = next((name for name in asked.assignees if len(name) > LONGEST_NAME), None)
    if long is None:
        return None
    return (
        f"[{ASSIGNEES}] has a name of {len(long):,} characters, the limit is {LONGEST_NAME}: {long[:40]}..."
    )
