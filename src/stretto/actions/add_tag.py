"""Put a tag on a workflow."""

import msgspec

from stretto.actions.caller import Caller
from stretto.actions.parts.changing import change_properties
from stretto.actions.parts.naming import check_label
from stretto.model.properties import Properties, PropertiesSnapshot
from stretto.model.tag import Tag, TagNamespace
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store
from stretto.ports.workflows import Found


async def add_tag(
    store: Store, caller: Caller, workflow_id: str, tag: Tag, *, hints: Hints = SILENT
) -> PropertiesSnapshot:
    """The tag, in the place of one with the same name; it says who put it there and when."""
    check_label(tag.name, "a tag's name")

    def rule(found: Found, before: PropertiesSnapshot) -> Properties:
        attributes = {**tag.attributes, "creator": caller.name, "created_at_milli": found.now}
        added = msgspec.structs.replace(tag, namespace=TagNamespace.PLATFORM, attributes=attributes)
        others = (each for each in before.tags or () if each.name != tag.name)
        return msgspec.structs.replace(before, tags=(*others, added))

    return await change_properties(
        store, caller, workflow_id, f"Added the tag [{tag.name}]", rule, hints=hints
    )
