"""Limits of tags: how many steps may hold one at once."""

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.naming import check_extra, check_label
from stretto.actions.parts.repeat import repeated
from stretto.engine.permits import granted, with_limit
from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.permit import RATE_HINT, TagPermit, TagPermitRequest, parse_rate
from stretto.ports.hints import SILENT, Hints
from stretto.ports.store import Store


async def set_tag_permit(
    store: Store, caller: Caller, request: TagPermitRequest, *, hints: Hints = SILENT
) -> TagPermit:
    """Set the limit of a tag. A lower one takes nothing from anybody; after a higher one others may go."""
    check_role(caller, Role.AUTHOR, "change limits of tags")
    check_label(request.tag, "a tag's name")
    check_extra(request.extra, TagPermit)
    if request.max_allowed is None and request.rate is None:
        raise InvalidRequest(f"Tag [{request.tag}] needs `max_allowed`, a `rate`, or both")
    if request.max_allowed is not None and request.max_allowed < 0:
        raise InvalidRequest(f"The limit of tag [{request.tag}] can not be negative: {request.max_allowed}")
    if request.rate is not None and parse_rate(request.rate) is None:
        raise InvalidRequest(f"The rate of tag [{request.tag}] can not be [{request.rate}]", hint=RATE_HINT)
    now = await store.now()
    changed = await repeated(
        lambda: store.change_tag(request.tag, lambda before: with_limit(before, request, caller.user, now))
    )
    await _grant(store, request.tag, hints)
    return changed


async def get_tag_permit(store: Store, caller: Caller, tag: str) -> TagPermit:
    """The limit that a user set, and who changed it when."""
    check_role(caller, Role.VIEWER, "see limits of tags")
    found = await store.tag(tag)
    if found is None:
        raise NotFound(f"Cannot find tag permit [{tag}]")
    return found


async def delete_tag_permit(store: Store, caller: Caller, tag: str, *, hints: Hints = SILENT) -> None:
    """Forget the limit; nobody need wait for it now. Nothing happens to a tag without one."""
    check_role(caller, Role.AUTHOR, "change limits of tags")
    await repeated(lambda: store.delete_tag(tag))
    await _grant(store, tag, hints)


async def _grant(store: Store, tag: str, hints: Hints) -> None:
    """Whoever goes is told by a message to its run's group."""
    while (found := await repeated(lambda: store.grant([tag], granted))).attempts:
        hints.hint(found.groups)
