"""What is stored of the functions of programs: enough to see later that one has changed, or is gone; and
which live process knows which of them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from stretto.ports.rows import NodeId

ADVERTISED_HANDLER: Final = "on_status:"  # begins what nodes advertise that is no function: a handler


class FunctionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A function that was registered, by its name."""

    name: str
    module: str
    qualname: str
    params: dict[str, str] = {}  # name -> type, as its author wrote it
    source_hash: str
    takes_any: bool = True  # parameters of other names, too: by `**kwargs`, its context or its handlers
    keeps_results: bool = False  # in the cache


class Functions(Protocol):
    """Records of functions. The newest one counts; nothing refers to them."""

    async def function_records(self, names: Collection[str] | None = None) -> Sequence[FunctionRecord]:
        """What is known of these functions, or of all, by name."""
        ...

    async def put_function(self, record: FunctionRecord) -> FunctionRecord | None:
        """Remember a function; what was known of it before, if anything was."""
        ...

    async def advertise(self, node: NodeId, functions: Collection[str]) -> bool:
        """Replace the functions that a node advertises; `NodeRow.advertised` grows, so that other nodes see
        the change with their next beat. False: the node is dead or unknown, and nothing is written.
        """
        ...

    async def advertised(self, nodes: Collection[NodeId] | None = None) -> Mapping[NodeId, frozenset[str]]:
        """The functions that nodes advertise: of these nodes, or of all that are ALIVE. A node that
        advertises none is left out. Only reads.
        """
        ...
