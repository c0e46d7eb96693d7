"""Answer for a step that waits for somebody: a person who approves, or another system that is done."""

from uuid import uuid4

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.finding import find_attempt, find_run, step_in
from stretto.actions.parts.repeat import repeated
from stretto.actions.reading.definitions import definition_of
from stretto.engine.events import CalledBack
from stretto.engine.plan import Kind, kind_of
from stretto.engine.records import AttemptKey
from stretto.model.errors import WrongState
from stretto.model.param import Parameter
from stretto.model.response import StepActionResponse
from stretto.model.status import StepStatus
from stretto.model.timeline import ActionEvent
from stretto.ports.messages import Callback, Letter
from stretto.ports.store import Store


class CallbackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: go on, with these values, or fail. The same `request_id` counts once."""

    approved: bool = True
    outputs: dict[str, Parameter] = {}
    message: str | None = None
    request_id: str | None = None


async def answer_step(
    store: Store, caller: Caller, attempt: AttemptKey, request: CallbackRequest
) -> StepActionResponse:
    """The step goes on, or fails for good. Refused if it does not wait for an answer."""
    run = await find_run(store, *attempt.run[:2], str(attempt.run.run_id))
    row = await find_attempt(store, attempt)
    step = step_in((await definition_of(store, run)).steps, attempt.step_id)
    if step is None or kind_of(step) is not Kind.WAIT or row.record.status is not StepStatus.RUNNING:
        raise WrongState(f"Step attempt {attempt} does not wait for an answer: it is {row.record.status}")
    event = CalledBack(
        attempt=attempt,
        approved=request.approved,
        outputs=request.outputs,
        user=caller.name,
        message=request.message,
    )
    ref = f"{attempt} {request.request_id or uuid4()}"
    letter = Letter(ref=ref, body=Callback(event=event), to_group=run.group)
    await repeated(lambda: store.send(letter))
    verb = "approved" if request.approved else "refused"
    message = f"User [{caller.name}] {verb} step {attempt}"
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
