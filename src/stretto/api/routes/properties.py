"""The properties of a workflow, and its tags."""

from typing import Final

from stretto.actions.add_tag import add_tag
from stretto.actions.reading.workflows import get_properties, list_properties
from stretto.actions.remove_tag import remove_tag
from stretto.actions.update_properties import update_properties
from stretto.api.routing import Calling, Given, Name, OptionalNumber, Paging, deletes, gets, posts
from stretto.api.slashes import slashed
from stretto.model.errors import InvalidRequest
from stretto.model.page import Page
from stretto.model.properties import PropertiesSnapshot, PropertiesUpdate
from stretto.model.tag import Tag


@posts("/workflows/{workflow_id}/properties", reads=PropertiesUpdate)
async def update(
    call: Calling, workflow_id: Name, given: Given[PropertiesUpdate], if_match: OptionalNumber = None
) -> PropertiesSnapshot:
    """Set some properties, or set them back. With `if_match` only if those that stand have this
    `create_time`; else 409 says who was first.
    """
    return await update_properties(
        call.store, call.caller, workflow_id, given, hints=call.hints, if_match=if_match
    )


@posts("/workflows/{workflow_id}/properties/tag", reads=Tag)
async def add(call: Calling, workflow_id: Name, given: Given[Tag]) -> PropertiesSnapshot:
    """Put a tag on a workflow."""
    return await add_tag(call.store, call.caller, workflow_id, given, hints=call.hints)


@deletes("/workflows/{workflow_id}/properties/tag/{tag}")
async def remove(call: Calling, workflow_id: Name, tag: Name) -> PropertiesSnapshot:
    """Take a tag off a workflow."""
    return await remove_tag(call.store, call.caller, workflow_id, slashed(tag), hints=call.hints)


@gets("/workflows/{workflow_id}/properties-snapshot/{snapshot}")
async def read(call: Calling, workflow_id: Name, snapshot: Name) -> PropertiesSnapshot:
    """The properties as they stand: `latest`."""
    if snapshot.lower() != "latest":
        raise InvalidRequest(f"Invalid properties snapshot [{workflow_id}][{snapshot}]", hint="write latest")
    return await get_properties(call.store, call.reader, workflow_id)


@gets("/workflows/{workflow_id}/properties-snapshot")
async def read_history(call: Calling, workflow_id: Name, part: Paging) -> Page[PropertiesSnapshot]:
    """The properties as they stood, newest first: each until the next one came."""
    return await list_properties(call.store, call.reader, workflow_id, part)


ROUTES: Final = (update, add, remove, read, read_history)
