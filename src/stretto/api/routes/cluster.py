"""Nodes, flow groups, and runs that were set aside because nodes died while they handled them."""

from typing import Final

import msgspec

from stretto.actions.reading.all_runs import list_quarantined
from stretto.actions.reading.cluster import Queue, get_queue, list_groups, list_nodes
from stretto.actions.reading.lines import RunLine
from stretto.actions.release import release_run
from stretto.api.routing import Calling, Name, Number, Paging, acts, gets
from stretto.engine.records import RunKey
from stretto.model.page import Page
from stretto.ports.groups import NodeRow, NodeState


class NodeLine(msgspec.Struct, frozen=True, kw_only=True):
    """A node in a list."""

    node: str
    state: NodeState
    address: str | None = None
    joined_at: int
    expires_at: int
    buried_at: int | None = None


class GroupLine(msgspec.Struct, frozen=True, kw_only=True):
    """A flow group in a list."""

    group: int
    generation: int
    node: str | None = None  # that owns it
    falls: int  # how often an owner was buried since somebody held it in peace


@gets("/nodes")
async def read_nodes(call: Calling) -> list[NodeLine]:
    """All nodes, dead ones included."""
    return [_line(each) for each in await list_nodes(call.store, call.reader)]


def _line(row: NodeRow) -> NodeLine:
    return NodeLine(
        node=row.node,
        state=row.state,
        address=row.address,
        joined_at=row.joined_at,
        expires_at=row.expires_at,
        buried_at=row.buried_at,
    )


@gets("/groups")
async def read_groups(call: Calling) -> list[GroupLine]:
    """All flow groups with the nodes that own them, by number."""
    return [
        GroupLine(group=row.group, generation=row.generation, node=row.owner, falls=row.falls)
        for row in await list_groups(call.store, call.reader)
    ]


@gets("/queue")
async def read_queue(call: Calling) -> Queue:
    """Work of pools that is ready or taken, and messages between groups that wait."""
    return await get_queue(call.store, call.reader)


@gets("/quarantine")
async def read_quarantine(call: Calling, part: Paging) -> Page[RunLine]:
    """Runs that were set aside because nodes died while they handled them."""
    return await list_quarantined(call.store, call.reader, part)


@acts("/workflows/{workflow_id}/instances/{instance_id}/runs/{run_id}/actions/release")
async def release(call: Calling, workflow_id: Name, instance_id: Number, run_id: Number) -> None:
    """Let a run go on that was set aside."""
    await release_run(call.store, call.caller, RunKey(workflow_id, instance_id, run_id), hints=call.hints)


ROUTES: Final = (read_nodes, read_groups, read_queue, read_quarantine, release)
