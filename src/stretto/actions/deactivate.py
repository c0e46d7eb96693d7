"""Let no version be the active one."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.changed import changed
from stretto.actions.parts.finding import find_workflow
from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.model.errors import NotFound
from stretto.model.event import WorkflowDeactivated
from stretto.model.response import WorkflowActionResponse
from stretto.model.timeline import ActionEvent, WorkflowChange
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def deactivate(
    store: Store, caller: Caller, workflow_id: str, *, hints: Hints = SILENT
) -> WorkflowActionResponse:
    """From now on no trigger starts the workflow; a user still can, by `latest` or a number."""
    await find_workflow(store, workflow_id)

    def decide(found: Found) -> Change[WorkflowActionResponse]:
        return decide_deactivation(found, caller, workflow_id)

    return await changed(store, workflow_id, lambda: change_workflow(store, workflow_id, decide), hints)


def decide_deactivation(found: Found, caller: Caller, workflow_id: str) -> Change[WorkflowActionResponse]:
    row, now = found.row, found.now
    if row is None:
        raise NotFound(f"Cannot find workflow [{workflow_id}]")
    check_may(caller, Right.CHANGE, workflow_id, row.properties)
    before = row.active_version
    log = f"Workflow version [{before}] is deactivated" if before else "Workflow is already inactive"
    event = ActionEvent(timestamp=now, action="DEACTIVATE", author=caller.user, message=log)
    answer = WorkflowActionResponse(workflow_id=workflow_id, workflow_version_id=0, timeline_event=event)
    timeline = (WorkflowChange(author=caller.user, log=log, timestamp=now),)
    if not before:
        return Change(answer=answer, timeline=timeline)
    return Change(
        answer=answer,
        activation=Activation(version_id=0, by=caller.user),
        signal_triggers=(),
        time_triggers=(),
        timeline=timeline,
        events=(
            WorkflowDeactivated(
                workflow_id=workflow_id,
                author=caller.user,
                previous_active_version_id=before,
                event_time=now,
            ),
        ),
    )
