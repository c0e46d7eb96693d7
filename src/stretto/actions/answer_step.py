"""Answer for a step that waits for somebody: a person who approves, or another system that is done."""

from uuid import uuid4

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access, check_assigned
from stretto.actions.parts.finding import find_attempt, find_run, step_in
from stretto.actions.parts.messages import send
from stretto.actions.reading.definitions import definition_of
from stretto.engine.events import CalledBack
from stretto.engine.plan import Kind, kind_of
from stretto.engine.records import AttemptKey, AttemptRecord
from stretto.model.errors import WrongState
from stretto.model.request import CallbackRequest
from stretto.model.response import StepActionResponse
from stretto.model.status import StepStatus
from stretto.model.step import AnyStep
from stretto.model.timeline import ActionEvent
from stretto.params import merge_outputs
from stretto.ports.hints import SILENT, Hints
from stretto.ports.messages import Callback, Letter
from stretto.ports.store import Store


async def answer_step(
    store: Store, caller: Caller, attempt: AttemptKey, request: CallbackRequest, *, hints: Hints = SILENT
) -> StepActionResponse:
    """The step goes on, or fails for good. Refused if it is known here that it does not wait for an answer.

    The answer says that the request is accepted. Its owner decides: of two answers, or an answer and a stop,
    the first counts, and the other is dropped.
    """
    await check_access(store, caller, Right.RUN, attempt.run.workflow_id)
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    row = await find_attempt(store, attempt)
    step = step_in((await definition_of(store, run)).steps, attempt.step_id)
    check_waits(row.record, step)
    assignees = () if row.record.asks is None else row.record.asks.assignees
    await check_assigned(store, caller, run.root.workflow_id, assignees)
    if request.approved:
        merge_outputs(row.record.params or {}, request.outputs, await store.now())  # as the step will do
    event = CalledBack(
        attempt=attempt,
        approved=request.approved,
        outputs=request.outputs,
        user=caller.name,
        message=request.message,
    )
    ref = f"{attempt} {request.request_id or uuid4()}"
    await send(store, Letter(ref=ref, body=Callback(event=event), to_group=run.group), hints)
    verb = "approved" if request.approved else "refused"
    message = f"Accepted: user [{caller.name}] {verb} step {attempt}"
    return StepActionResponse(
        workflow_id=attempt.run.workflow_id,
        workflow_instance_id=attempt.run.instance_id,
        workflow_run_id=attempt.run.run_id,
        step_id=attempt.step_id,
        step_attempt_id=attempt.number,
        timeline_event=ActionEvent(
            timestamp=await store.now(), action="CALLBACK", author=caller.user, message=message
        ),
    )


def check_waits(record: AttemptRecord, step: AnyStep | None) -> None:
    """Refuse an answer to what is no Wait step, does not wait yet, or waits no more."""
    where = f"Step attempt {record.key} does not wait for an answer"
    # A step that is not in the definition was added while the run went on: its owner knows what it is.
    if step is not None and kind_of(step) is not Kind.WAIT:
        raise WrongState(f"{where}: it is no Wait step")
    if record.status.is_terminal:
        raise WrongState(f"{where}: it has ended {record.status}{_answered(record)}")
    if record.answer is not None:
        raise WrongState(f"{where}: it is {record.status}{_answered(record)}")
    if record.status is not StepStatus.RUNNING:
        raise WrongState(f"{where}: it is {record.status}", hint="answer once it is RUNNING")
    if record.decided is not None or record.ending is not None:
        raise WrongState(f"{where}: it is about to end {record.ending or record.decided}")


def _answered(record: AttemptRecord) -> str:
    """Who was faster."""
    if record.answer is None:
        return ""
    verb = "approved" if record.answer.approved else "refused"
    return f", user [{record.answer.user}] has {verb} it at {record.answer.time}"
