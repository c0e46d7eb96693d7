"""Take a tag off a workflow."""

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.changing import change_properties
from stretto.model.errors import NotFound
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def remove_tag(
    store: Store, caller: Caller, workflow_id: str, name: str, *, hints: Hints = SILENT
) -> PropertiesSnapshot:
    """The properties without the tag; `NotFound` if the workflow does not have it."""

    def rule(_found: Found, before: PropertiesSnapshot) -> Properties:
        left = tuple(each for each in before.tags or () if each.name != name)
        if len(left) == len(before.tags or ()):
            raise NotFound(f"Cannot find tag [{name}] of workflow [{workflow_id}]")
        return msgspec.structs.replace(before, tags=left or None)

    return await change_properties(store, caller, workflow_id, f"Removed the tag [{name}]", rule, hints=hints)
