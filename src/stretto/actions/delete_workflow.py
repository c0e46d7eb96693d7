"""Delete a workflow."""

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_access
from stretto.actions.parts.near_workflows import hinting_at_workflows
from stretto.actions.parts.repeat import repeated
from stretto.actions.parts.workflow_change import check_deletable
from stretto.engine.inline_ids import is_inline
from stretto.model.errors import Unprocessable
from stretto.model.event import WorkflowDeleted
from stretto.model.timeline import LogEvent
from stretto.ports.hints import SILENT, Hints
from stretto.ports.places import group_of_workflow
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def delete_workflow(
    store: Store, caller: Caller, workflow_id: str, *, hints: Hints = SILENT
) -> LogEvent:
    """From now on nobody finds the workflow; its rows go in the background, and then its id is free. Refused
    while a run has not ended. The event that tells of it has the reason: nothing else is left to keep it.
    """
    if is_inline(workflow_id):
        raise Unprocessable(f"Cannot delete an inline workflow [{workflow_id}]: it goes with its parent")
    await check_access(store, caller, Right.CHANGE, workflow_id)
    now = await store.now()

    def decide(found: Found) -> WorkflowDeleted:
        check_deletable(workflow_id, found)
        return WorkflowDeleted(
            workflow_id=workflow_id,
            internal_id=found.internal_id,
            author=caller.user,
            reason=caller.reason or None,
            event_time=now,
        )

    async with hinting_at_workflows(store, workflow_id):
        row = await repeated(lambda: store.delete_workflow(workflow_id, decide))
    hints.hint([group_of_workflow(workflow_id)])
    message = f"User [{caller.name}] deletes workflow [{workflow_id}] with internal id [{row.internal_id}]"
    message += caller.because
    return LogEvent(timestamp=now, message=message)
