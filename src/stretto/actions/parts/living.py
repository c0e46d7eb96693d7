"""Which processes are there. A node whose beats have stopped is not, also before anybody has buried it."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from stretto.ports.groups import NodeRow, NodeState
from stretto.ports.rows import NodeId, Phase, RunRow
from stretto.ports.store import Store

THERE: Final = frozenset({NodeState.ALIVE, NodeState.LEAVING})
SUCH: Final = "a server (`stretto serve`), `stretto run` with `--resume`, or a program with an engine"


Gone = Callable[[str | None], bool]  # whether the process with an address is certainly not there any more


class Unattended(NamedTuple):
    """Nobody looks after a run that has not ended."""

    sentence: str
    moves_when: str
    since: int | None


def unseen(_address: str | None) -> bool:
    """Nobody looks whether processes are there."""
    return False


async def nodes_now(store: Store) -> list[NodeRow]:
    """All nodes, each in the state that it has now."""
    nodes, now = await store.nodes(), await store.now()
    return [msgspec.structs.replace(node, state=node.state_at(now)) for node in nodes]


async def living(store: Store) -> list[NodeId]:
    """The nodes that take runs."""
    return [node.node for node in await nodes_now(store) if node.state is NodeState.ALIVE]


async def unattended(store: Store, row: RunRow, gone: Gone = unseen) -> Unattended | None:
    """Whether no process looks after a run; of one in a queue, whether there is none that could. `gone`: who
    can see that the process with an address is not there any more need not wait until its lease is over.
    """
    nodes = {node.node: node for node in await nodes_now(store) if not gone(node.address)}
    owner = next((group.owner for group in await store.groups() if group.group == row.group), None)
    if owner is not None and owner in nodes and nodes[owner].state in THERE:
        return None
    since = None if owner is None or owner not in nodes else nodes[owner].expires_at
    if any(node.state is NodeState.ALIVE for node in nodes.values()):
        if row.phase is Phase.QUEUED:
            return None
        text = f"the process that looked after run {row.key} is gone, and another one takes it over"
        return Unattended(text, "another process takes it over, within seconds", since)
    text = f"no process looks after run {row.key}: it goes on once {SUCH} runs on this database"
    return Unattended(text, f"{SUCH} runs on this database", since)
