"""What the steps of runs ask people, for a program that answers, or shows it."""

from typing import Any

import msgspec

from stretto.actions.reading.approvals import list_approvals
from stretto.engine.records import RunKey
from stretto.flow.engine.host import Host
from stretto.flow.engine.run import Run
from stretto.model.request import PageRequest
from stretto.ports.approvals import ApprovalFilter


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """An open question. `run.answer(step, ...)` answers it.

    run        the run whose step asks: of an iteration, where the step is inside of a loop
    workflow   whose question it is, also where it is asked inside of a loop
    form       JSON Schema of the values that the answer may bring along; None: none
    at, due    when it was asked, and when it is too late: milliseconds since 1970
    """

    run: Any  # a `Run`, or a `SyncRun`
    step: str
    attempt: int
    workflow: str
    prompt: str | None = None
    assignees: tuple[str, ...] = ()
    form: dict[str, Any] | None = None
    at: int
    due: int | None = None


async def open_approvals(
    host: Host, *, assignee: str | None, workflow: str | None, limit: int
) -> list[Approval]:
    """The newest first."""
    wanted = ApprovalFilter(assignee=assignee, workflow_id=workflow)
    page = await list_approvals(host.store, host.caller, wanted, PageRequest(first=limit))
    return [
        Approval(
            run=Run(
                host,
                RunKey(each.ref.workflow_id, each.ref.workflow_instance_id, each.ref.workflow_run_id),
            ),
            step=each.ref.step_id,
            attempt=each.ref.step_attempt_id,
            workflow=each.workflow_id,
            prompt=each.prompt,
            assignees=each.assignees,
            form=each.form,
            at=each.create_time,
            due=each.due,
        )
        for each in page.elements
    ]
