"""A change of properties, whoever makes it: under the workflow's lock, with the triggers that it leaves."""

from collections.abc import Callable

from stretto.actions.caller import Caller
from stretto.actions.parts.access import Right, check_may
from stretto.actions.parts.changed import changed
from stretto.actions.parts.finding import find_workflow
from stretto.actions.parts.property_rules import check_owner, snapshot_of
from stretto.actions.parts.trigger_rows import signal_trigger_rows, time_trigger_rows
from stretto.actions.parts.workflow_change import Change, change_workflow
from stretto.model.errors import NotFound
from stretto.model.event import PropertiesChanged
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.timeline import WorkflowChange
from stretto.model.workflow import WorkflowVersion
from stretto.ports.failures import Stale
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found, WorkflowRow

Rule = Callable[[Found, PropertiesSnapshot], Properties]  # pure: the properties after the change


async def change_properties(
    store: Store, caller: Caller, workflow_id: str, log: str, rule: Rule, *, hints: Hints = SILENT
) -> PropertiesSnapshot:
    """The properties as they stand afterwards. The queue is looked at again: the strategy may be another."""

    async def change() -> PropertiesSnapshot:
        row = await find_workflow(store, workflow_id)
        active = await store.version(workflow_id, row.active_version) if row.active_version else None
        return await change_workflow(
            store, workflow_id, lambda found: decide_change(found, caller, (row, active), log, rule)
        )

    return await changed(store, workflow_id, change, hints)


def decide_change(
    found: Found, caller: Caller, seen: tuple[WorkflowRow, WorkflowVersion | None], log: str, rule: Rule
) -> Change[PropertiesSnapshot]:
    """What is written. The triggers belong to the version that was seen: if another is active, look again."""
    row, now = found.row, found.now
    before, active = seen
    if row is None:
        raise NotFound(f"Cannot find workflow [{before.workflow_id}]")
    if row.active_version != before.active_version:
        raise Stale(f"another version of workflow [{row.workflow_id}] became active")
    check_may(caller, Right.CHANGE, row.workflow_id, row.properties)
    after = rule(found, row.properties)
    check_owner(caller, row.properties, after)
    snapshot = snapshot_of(after, row.workflow_id, caller, now)
    version_id = row.active_version
    event = PropertiesChanged(
        workflow_id=row.workflow_id, author=caller.user, snapshot_id=snapshot.create_time, event_time=now
    )
    return Change(
        answer=snapshot,
        properties=snapshot,
        signal_triggers=None if active is None else signal_trigger_rows(active.workflow, version_id, after),
        time_triggers=None if active is None else time_trigger_rows(active.workflow, version_id, after, now),
        timeline=(WorkflowChange(author=caller.user, log=log, timestamp=now),),
        events=(event,),
    )
