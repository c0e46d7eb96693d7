"""Nodes and flow groups, and messages that were set aside, for readers."""

from typing import Final

import msgspec

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.living import nodes_now
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.model.page import Count, Page
from stretto.model.request import PageRequest
from stretto.ports.groups import GroupRow, NodeRow
from stretto.ports.messages import Message
from stretto.ports.store import Store
from stretto.ports.work import PoolUse

MOST: Final = 10_000


async def list_nodes(store: Store, caller: Caller) -> list[NodeRow]:
    """All nodes, dead ones included, by id, each in the state that it has now."""
    check_role(caller, Role.VIEWER, "see nodes")
    return await nodes_now(store)


async def list_groups(store: Store, caller: Caller) -> list[GroupRow]:
    """All flow groups with their owners, by number."""
    check_role(caller, Role.VIEWER, "see nodes")
    return await store.groups()


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """What waits to be done: work of pools, and messages between groups. Counts end at 10,000."""

    pools: tuple[PoolUse, ...]
    messages: Count
    oldest_message: int | None = None  # when it was sent


async def get_queue(store: Store, caller: Caller) -> Queue:
    check_role(caller, Role.VIEWER, "see nodes")
    waiting, oldest = await store.messages_waiting(most=MOST + 1)
    messages = Count(value=min(waiting, MOST), exact=waiting <= MOST)
    return Queue(pools=tuple(await store.pools(most=MOST)), messages=messages, oldest_message=oldest)


async def list_parked(store: Store, caller: Caller, request: PageRequest) -> Page[Message]:
    """Messages that could not be applied, oldest first; `release.release_message` has one tried again. They
    tell of runs of all workflows, so they are for admins.
    """
    check_role(caller, Role.ADMIN, "see messages that were set aside")
    listing = Listing(fetch=store.parked_messages, key=lambda message: message.id, key_type=int)
    return await page_of_list(store, caller, request, listing)
