"""May a trigger start a run? One that fired may be gone, or switched off, by the time it is heard."""

from collections.abc import Sequence

from stretto.actions.parts.trigger_rows import trigger_id
from stretto.model.errors import Conflict, InvalidRequest, Unprocessable
from stretto.model.initiator import Initiator, SignalInitiator, TimeInitiator
from stretto.model.trigger import SignalTrigger, TimeTrigger
from stretto.model.workflow import Workflow
from stretto.ports.workflows import WorkflowRow


def check_trigger(initiator: Initiator, row: WorkflowRow, version_id: int, workflow: Workflow) -> None:
    """Refuse the start by a trigger that the active version does not have, or that is switched off."""
    triggers: Sequence[TimeTrigger | SignalTrigger]
    match initiator:
        case TimeInitiator(trigger_uuid=uuid):
            kind, triggers = "TIME", workflow.time_triggers or ()
            disabled = row.properties.time_trigger_disabled
        case SignalInitiator(trigger_uuid=uuid):
            kind, triggers = "SIGNAL", workflow.signal_triggers or ()
            disabled = row.properties.signal_trigger_disabled
        case _:
            return
    if version_id != row.active_version:
        raise InvalidRequest(
            f"Triggered workflow definition for workflow [{workflow.id}][{version_id}] is not active"
        )
    if uuid not in {trigger_id(workflow.id, each) for each in triggers}:
        raise Conflict(
            f"Invalid trigger initiator due to mismatch trigger uuid: workflow [{workflow.id}][{version_id}]"
            f" has no {kind} trigger [{uuid}]"
        )
    if disabled:
        raise Unprocessable(
            f"Trigger type [{kind}] is disabled for the workflow [{workflow.id}] in the workflow properties."
        )
