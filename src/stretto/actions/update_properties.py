"""Change the properties of a workflow."""

from stretto.actions.caller import Caller
from stretto.actions.parts.changing import change_properties
from stretto.actions.parts.property_rules import check_strategy, updated
from stretto.model.properties import Properties, PropertiesSnapshot, PropertiesUpdate
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def update_properties(
    store: Store, caller: Caller, workflow_id: str, update: PropertiesUpdate, *, hints: Hints = SILENT
) -> PropertiesSnapshot:
    """What the update names is set, or set back; the rest stays. A run strategy that could not go on with
    the runs that are there is refused, with what must end before.
    """

    def rule(found: Found, before: PropertiesSnapshot) -> Properties:
        after = updated(before, update)
        check_strategy(found, after.run_strategy)
        return after

    return await change_properties(
        store, caller, workflow_id, "Updated the workflow properties", rule, hints=hints
    )
