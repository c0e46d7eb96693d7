"""Lines on the timeline of a workflow about what was done to it and changed no version of it."""

from contextlib import suppress

from stretto.actions.caller import Caller
from stretto.actions.parts.dry_store import DryStore
from stretto.actions.parts.repeat import repeated
from stretto.actions.parts.workflow_change import Change, change_workflow
from stretto.model.errors import Conflict
from stretto.model.timeline import WorkflowChange
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def note(store: Store, caller: Caller, workflow_id: str, log: str) -> None:
    """Who did it, when and why. A workflow that is being deleted keeps no notes; a dry run makes none."""
    if isinstance(store, DryStore):
        return

    def decide(found: Found) -> Change[None]:
        line = WorkflowChange(author=caller.user, log=f"{log}{caller.because}", timestamp=found.now)
        return Change(answer=None, timeline=(line,))

    with suppress(Conflict):
        await repeated(lambda: change_workflow(store, workflow_id, decide))
