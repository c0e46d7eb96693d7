"""Choose the version that triggers, parents and `active` mean."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.changed import changed
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.parts.trigger_rows import signal_trigger_rows, time_trigger_rows
from stretto.actions.parts.workflow_change import Activation, Change, change_workflow
from stretto.model.errors import NotFound
from stretto.model.event import WorkflowActivated
from stretto.model.response import WorkflowActionResponse
from stretto.model.timeline import ActionEvent, WorkflowChange
from stretto.model.workflow import Workflow
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def activate(
    store: Store, caller: Caller, workflow_id: str, version: str, *, hints: Hints = SILENT
) -> WorkflowActionResponse:
    """Activate a version, and its triggers with it. Nothing happens to one that is active already, and the
    answer then has 0 for the version.
    """
    row = await find_workflow(store, workflow_id)
    version_id, found = await find_version(store, row, version)

    def decide(now: Found) -> Change[WorkflowActionResponse]:
        return decide_activation(now, caller, found.workflow, version_id)

    return await changed(store, workflow_id, lambda: change_workflow(store, workflow_id, decide), hints)


def decide_activation(
    found: Found, caller: Caller, workflow: Workflow, version_id: int
) -> Change[WorkflowActionResponse]:
    row, now = found.row, found.now
    if row is None:
        raise NotFound(f"Cannot find workflow [{workflow.id}]")
    check_may(caller, Right.CHANGE, workflow.id, row.properties)
    known = row.active_version == version_id
    log = f"Workflow version [{version_id}] is {'already active' if known else 'activated'}"
    event = ActionEvent(timestamp=now, action="ACTIVATE", author=caller.user, message=log)
    answer = WorkflowActionResponse(
        workflow_id=workflow.id, workflow_version_id=0 if known else version_id, timeline_event=event
    )
    timeline = (WorkflowChange(author=caller.user, log=log, timestamp=now),)
    if known:
        return Change(answer=answer, timeline=timeline)
    return Change(
        answer=answer,
        activation=Activation(version_id=version_id, by=caller.user),
        signal_triggers=signal_trigger_rows(workflow, version_id, row.properties),
        time_triggers=time_trigger_rows(workflow, version_id, row.properties, now),
        timeline=timeline,
        events=(
            WorkflowActivated(
                workflow_id=workflow.id,
                author=caller.user,
                current_active_version_id=version_id,
                previous_active_version_id=row.active_version,
                event_time=now,
            ),
        ),
    )
