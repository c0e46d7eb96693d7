"""Limits of tags."""

from typing import Final

from stretto.actions.reading.limits import list_tags
from stretto.actions.tag_permits import delete_tag_permit, get_tag_permit, set_tag_permit
from stretto.api.routing import Calling, Given, Name, Paging, deletes, gets, posts
from stretto.api.slashes import slashed
from stretto.model.page import Page
from stretto.model.permit import TagPermit, TagPermitRequest
from stretto.ports.permits import TagUse


@posts("/tag-permits", reads=TagPermitRequest)
async def put(call: Calling, given: Given[TagPermitRequest]) -> None:
    """Set the limit of a tag."""
    await set_tag_permit(call.store, call.caller, given, hints=call.hints)


@gets("/tag-permits/{tag}")
async def read(call: Calling, tag: Name) -> TagPermit:
    """The limit of a tag, and who changed it when."""
    return await get_tag_permit(call.store, call.reader, slashed(tag))


@deletes("/tag-permits/{tag}", user=False)
async def remove(call: Calling, tag: Name) -> None:
    """Forget the limit of a tag."""
    await delete_tag_permit(call.store, call.reader, slashed(tag), hints=call.hints)


@gets("/tag-permits")
async def read_all(call: Calling, part: Paging) -> Page[TagUse]:
    """Tags that have a limit or are in use: how many hold each, how many wait, and since when."""
    return await list_tags(call.store, call.reader, part)


ROUTES: Final = (put, read, remove, read_all)
