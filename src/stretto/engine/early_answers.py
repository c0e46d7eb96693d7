"""Answers that arrive before their step asks: the run keeps them until the step asks, or the run ends.

An answer is for one attempt of a step, and of two answers to the same attempt the first counts. Whether the
user may answer, and whether the step can take the values, is known only when the step asks: an answer that
fails these checks is dropped then, with a line on the timeline, and the step waits for another one.
"""

from datetime import UTC, datetime
from typing import Final

from stretto.engine.events import CalledBack
from stretto.engine.flow import Flow, is_active
from stretto.engine.records import AttemptRecord, EarlyAnswer
from stretto.engine.turn import Turn
from stretto.model.approval import Answer
from stretto.model.errors import WrongState
from stretto.model.status import StepStatus
from stretto.model.timeline import LogLevel
from stretto.params import ParamError, merge_outputs

ASKS_NO_MORE: Final = frozenset({StepStatus.RUNNING, StepStatus.FINISHING})
ROLE_PREFIX: Final = "role:"


def is_early(newest: AttemptRecord | None, number: int) -> bool:
    """Whether an attempt of a Wait step is still to ask: it does not exist yet, or is on its way."""
    if newest is None:
        return number == 1
    if not is_active(newest):
        return False
    if newest.status.is_terminal:  # the next attempt follows after the back-off
        return number == newest.key.number + 1
    return number == newest.key.number and newest.status not in ASKS_NO_MORE and newest.ending is None


def keep_early(turn: Turn, flow: Flow, event: CalledBack) -> None:
    """Keep an answer until its step asks. The same request counts once; a run keeps a limited number."""
    run, key = flow.run, event.attempt
    for each in run.early:
        if (each.step_id, each.attempt) == (key.step_id, key.number):
            if event.request_id is not None and each.answer.request_id == event.request_id:
                return
            raise WrongState(f"{key} is answered already{answered_by(each.answer)}")
    most = flow.tree.settings.early_answers
    if len(run.early) >= most:
        raise WrongState(
            f"run {run.key} keeps {most} answers to steps that do not ask yet, and takes no more"
        )
    made = EarlyAnswer(
        step_id=key.step_id,
        attempt=key.number,
        answer=answer_in(event, turn.now),
        outputs=event.outputs,
        names=event.names,
        trusted=event.trusted,
    )
    turn.touch(run, flow)
    run.early = (*run.early, made)
    verb = "approved" if event.approved else "refused"
    turn.note(flow, run, f"User [{event.user or 'unknown'}] {verb} step [{key.step_id}] before it asks")


def answer_in(event: CalledBack, now: int) -> Answer:
    """What is kept of an answer with its attempt."""
    return Answer(
        approved=event.approved,
        time=now,
        user=event.user,
        note=event.message or None,
        request_id=event.request_id,
    )


def said_in(answer: Answer) -> str | None:
    """The note of an answer; of a refusal without one, who refused: a step that fails says why."""
    return answer.note or (None if answer.approved else f"user [{answer.user or 'unknown'}] refused it")


def answered_by(answer: Answer) -> str:
    """Who was faster."""
    verb = "approved" if answer.approved else "refused"
    return f", user [{answer.user}] has {verb} it at {_moment(answer.time)}"


def _moment(time: int) -> str:
    return datetime.fromtimestamp(time / 1_000, UTC).isoformat(timespec="seconds")


def take_early(turn: Turn, flow: Flow, attempt: AttemptRecord) -> Answer | None:
    """Answer an attempt that asks now with what came before; None: nothing came that counts."""
    run, key = flow.run, attempt.key
    found = next((e for e in run.early if (e.step_id, e.attempt) == (key.step_id, key.number)), None)
    if found is None:
        return None
    turn.touch(run, flow)
    run.early = tuple(each for each in run.early if each is not found)
    user = found.answer.user or "unknown"
    problem = _problem(flow, attempt, found, turn.now)
    if problem is not None:
        turn.note(flow, attempt, f"Dropped the early answer of user [{user}]: {problem}", LogLevel.WARN)
        return None
    turn.touch(attempt, flow)
    attempt.outputs, attempt.answer = found.outputs, found.answer
    verb = "approved" if found.answer.approved else "refused"
    turn.note(flow, attempt, f"User [{user}] {verb} the step before it asked")
    return found.answer


def _problem(flow: Flow, attempt: AttemptRecord, early: EarlyAnswer, now: int) -> str | None:
    assignees = () if attempt.asks is None else attempt.asks.assignees
    if assignees and not early.trusted and not any(_same_name(each) in early.names for each in assignees):
        return f"the question is for {', '.join(f'[{each}]' for each in assignees)}"
    if early.answer.approved:
        limits, maestro = flow.tree.settings.params, flow.tree.workflow.follows_maestro
        try:
            merge_outputs(attempt.params or {}, early.outputs, now, limits, follows_maestro=maestro)
        except ParamError as error:
            return str(error)
    return None


def _same_name(assignee: str) -> str:
    """An assignee as `EarlyAnswer.names` has it: names of roles are in capitals."""
    role = assignee.removeprefix(ROLE_PREFIX)
    return assignee if role == assignee else f"{ROLE_PREFIX}{role.upper()}"


def drop_early(turn: Turn, flow: Flow) -> None:
    """The run ends: what nobody asked for is dropped, and its timeline says so."""
    run = flow.run
    if run.early:
        names = ", ".join(f"[{each.step_id}] of user [{each.answer.user or 'unknown'}]" for each in run.early)
        turn.note(flow, run, f"Dropped answers to steps that never asked: {names}", LogLevel.WARN)
        run.early = ()
