"""What the steps of runs ask people, for a program that answers, or shows it."""

from typing import Any

import msgspec

from stretto.actions.reading.approvals import ApprovalLine, list_approvals
from stretto.engine.records import RunKey
from stretto.flow.engine.host import Host
from stretto.flow.engine.run import Run
from stretto.model.initiator import UpstreamFields
from stretto.model.request import PageRequest
from stretto.ports.approvals import ApprovalFilter
from stretto.ports.run_snapshot import read_run
from stretto.ports.store import Store


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
    """The newest first. Those of a workflow are also those of the subworkflows that its runs have started."""
    wanted = ApprovalFilter(assignee=assignee)
    found: list[Approval] = []
    cursor = None
    while len(found) < limit:
        request = PageRequest(first=limit, cursor=cursor)
        page = await list_approvals(host.store, host.caller, wanted, request)
        found += [
            _approval(host, each) for each in page.elements if await _is_below(host.store, each, workflow)
        ]
        cursor = page.page_info.end_cursor
        if not page.page_info.has_next_page:
            break
    return found[:limit]


async def _is_below(store: Store, each: ApprovalLine, workflow: str | None) -> bool:
    if workflow is None or each.workflow_id == workflow:
        return True
    row = await read_run(store, _run_of(each))
    initiator = None if row is None else row.record.initiator
    above = initiator.ancestors if isinstance(initiator, UpstreamFields) else ()
    return any(ancestor.workflow_id == workflow for ancestor in above)


def _run_of(each: ApprovalLine) -> RunKey:
    return RunKey(each.ref.workflow_id, each.ref.workflow_instance_id, each.ref.workflow_run_id)


def _approval(host: Host, each: ApprovalLine) -> Approval:
    return Approval(
        run=Run(host, _run_of(each)),
        step=each.ref.step_id,
        attempt=each.ref.step_attempt_id,
        workflow=each.workflow_id,
        prompt=each.prompt,
        assignees=each.assignees,
        form=each.form,
        at=each.create_time,
        due=each.due,
    )
