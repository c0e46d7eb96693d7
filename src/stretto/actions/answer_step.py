"""Answer for a step that waits for somebody: a person who approves, or another system that is done.

An answer may arrive before its step asks. The run then keeps it until the step asks; see
`engine.early_answers`.
"""

from typing import Final
from uuid import uuid4

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access, check_assigned, is_privileged, names_of
from stretto.actions.parts.finding import find_run
from stretto.actions.parts.messages import Patience, ask_owner
from stretto.actions.reading.definitions import definition_of
from stretto.engine.early_answers import answered_by, is_early
from stretto.engine.events import CalledBack
from stretto.engine.plan import Kind, kind_of
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.engine.settings import EngineSettings
from stretto.model.approval import Answer
from stretto.model.errors import NotFound, TimedOut, WrongState
from stretto.model.request import CallbackRequest
from stretto.model.response import StepActionResponse
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.model.timeline import LogEvent
from stretto.params import ParamLimits, merge_outputs
from stretto.ports.hints import SILENT, Hints
from stretto.ports.history import NewestInInstance
from stretto.ports.messages import Callback, Letter
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import read_attempt
from stretto.ports.store import Store

DEFAULTS: Final = EngineSettings()


async def answer_step(  # noqa: PLR0913 - two limits, and how to ask
    store: Store,
    caller: Caller,
    attempt: AttemptKey,
    request: CallbackRequest,
    *,
    most_early: int = DEFAULTS.early_answers,
    limits: ParamLimits = DEFAULTS.params,
    patience: Patience | None = None,
    hints: Hints = SILENT,
) -> StepActionResponse:
    """The step goes on, or fails for good; if it does not ask yet, it does so when it asks. Refused if the
    step asks nobody, or is answered already.

    Its owner decides: of two answers, or an answer and a stop, the first counts. Who is patient is told if
    the other is refused; if the owner does not decide in time, the answer stands, and counts when it does.
    The same request id is accepted again, and counts once.
    """
    await check_access(store, caller, Right.RUN, attempt.run.workflow_id)
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    row = await read_attempt(store, attempt)
    known = _known_answer(run, attempt, row)
    if known is None or request.request_id is None or known.request_id != request.request_id:
        await _check(store, caller, attempt, request, (run, row), (most_early, limits))
        letter = await _letter(store, caller, attempt, request, run)
        try:
            await ask_owner(store, letter, patience, lasting=True, hints=hints)
        except TimedOut:
            pass  # it counts when its owner comes to it
        except WrongState as refused:
            await _check_counted(store, attempt, request, refused)
    verb = "approved" if request.approved else "refused"
    message = f"Accepted: user [{caller.name}] {verb} step {attempt}"
    return StepActionResponse(
        workflow_id=attempt.run.workflow_id,
        workflow_instance_id=attempt.run.instance_id,
        workflow_run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        timeline_event=LogEvent(timestamp=await store.now(), message=message),
    )


async def _check_counted(
    store: Store, attempt: AttemptKey, request: CallbackRequest, refused: WrongState
) -> None:
    """The owner did not take an answer: fine, if the same request came before; else say who was faster."""
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    known = _known_answer(run, attempt, await read_attempt(store, attempt))
    if known is None:
        raise refused
    if request.request_id is None or known.request_id != request.request_id:
        raise WrongState(f"Step attempt {attempt} is answered already{answered_by(known)}") from refused


def _known_answer(run: RunRow, attempt: AttemptKey, row: AttemptRow | None) -> Answer | None:
    """What somebody has answered already."""
    if row is not None and row.record.answer is not None:
        return row.record.answer
    place = attempt.step_id, attempt.number
    return next((e.answer for e in run.record.early if (e.step_id, e.attempt) == place), None)


async def _check(
    store: Store,
    caller: Caller,
    attempt: AttemptKey,
    request: CallbackRequest,
    found: tuple[RunRow, AttemptRow | None],
    most: tuple[int, ParamLimits],
) -> None:
    (run, row), (most_early, limits) = found, most
    workflow = await definition_of(store, run)
    step = next((each for each in workflow.steps if each.id == attempt.step_id), None)
    if row is not None and row.record.status is StepStatus.RUNNING:
        check_waits(row.record, step)
        assignees = () if row.record.asks is None else row.record.asks.assignees
        await check_assigned(store, caller, run.root.workflow_id, assignees)
        if request.approved:
            # As the step will do.
            now, maestro = await store.now(), workflow.follows_maestro
            merge_outputs(row.record.params or {}, request.outputs, now, limits, follows_maestro=maestro)
        return
    if row is None:
        await _check_to_come(store, run, attempt, step)
    else:
        check_waits(row.record, step)
    _check_early(run, attempt, most_early)


def check_waits(record: AttemptRecord, step: AnyStep | None) -> None:
    """Refuse an answer to what is no Wait step, or waits no more."""
    where = f"Step attempt {record.key} does not wait for an answer"
    # A step that is not in the definition was added while the run went on: its owner knows what it is.
    if step is not None and kind_of(step) is not Kind.WAIT:
        raise WrongState(f"{where}: it is not a Wait step")
    said = "" if record.answer is None else answered_by(record.answer)
    if record.status.is_terminal:
        raise WrongState(f"{where}: it has ended {record.status}{said}")
    if record.answer is not None:
        raise WrongState(f"{where}: it is {record.status}{said}")
    if record.decided is not None or record.ending is not None:
        raise WrongState(f"{where}: it is about to end {record.ending or record.decided}")


async def _check_to_come(store: Store, run: RunRow, attempt: AttemptKey, step: AnyStep | None) -> None:
    """Refuse an answer to an attempt that does not exist, unless it is the next of a Wait step."""
    if step is None:
        hint = "a step inside a loop or subworkflow is answered in the run of its iteration, once that began"
        raise NotFound(f"Cannot find step attempt {attempt}", hint=hint)
    rows = await store.attempts(NewestInInstance(*attempt.run[:2], attempt.step_id))
    newest = next((each.record for each in rows if each.key.run == attempt.run), None)
    if not is_early(newest, attempt.number):
        number = 1 if newest is None else newest.key.number
        raise NotFound(f"Cannot find step attempt {attempt}", hint=f"the newest attempt is {number}")
    where = f"Step attempt {attempt} does not wait for an answer"
    if kind_of(step) is not Kind.WAIT:
        raise WrongState(f"{where}: it is not a Wait step")
    if run.record.status.is_terminal:
        raise WrongState(f"{where}: its run has ended {run.record.status}")


def _check_early(run: RunRow, attempt: AttemptKey, most: int) -> None:
    """Refuse an answer that the run can not keep until its step asks."""
    known = _known_answer(run, attempt, None)
    if known is not None:
        raise WrongState(f"Step attempt {attempt} is answered already{answered_by(known)}")
    if len(run.record.early) >= most:
        raise WrongState(
            f"Run {run.key} keeps {most} answers to steps that do not ask yet, and takes no more",
            hint="answer once the step asks, or raise engine.early_answers",
        )


async def _letter(
    store: Store, caller: Caller, attempt: AttemptKey, request: CallbackRequest, run: RunRow
) -> Letter:
    event = CalledBack(
        attempt=attempt,
        approved=request.approved,
        outputs=request.outputs,
        user=caller.name,
        message=request.message,
        request_id=request.request_id,
        names=names_of(caller),
        trusted=await is_privileged(store, caller, run.root.workflow_id),
    )
    ref = f"{attempt} {request.request_id or uuid4()}"
    return Letter(ref=ref, body=Callback(event=event), to_group=run.group)
