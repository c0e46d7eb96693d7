"""Attempts that a pool on some node may take."""

from typing import NamedTuple, Protocol

import msgspec

from stretto.engine.records import AttemptKey
from stretto.ports.paging import Cut, Slice
from stretto.ports.rows import NodeId


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that is ready for a pool. Written by the commit that launches it, gone with its end."""

    attempt: AttemptKey
    launch: int
    pool: str
    group: int  # of its run
    since: int = 0  # when it became free; the store sets it anew when a taker is buried
    take: int = 0  # how often it was taken; counted by the store
    taken_by: NodeId | None = None


class PoolUse(msgspec.Struct, frozen=True, kw_only=True):
    """How much work a pool has. As many as were asked for: there may be more."""

    pool: str
    ready: int = 0
    busy: int = 0
    oldest: int | None = None  # since when the first of it is ready


class FreeWork(NamedTuple):
    """Work that became free before a time, oldest first: a sweep tells the queue again."""

    pool: str
    before: int
    most: int = 100


class WorkPage(NamedTuple):
    """All work of a pool, taken or not, by attempt."""

    pool: str
    cut: Cut


WorkSelection = FreeWork | WorkPage


class Pools(Protocol):
    """The truth behind the queue: who works on what."""

    async def take_work(self, node: NodeId, pool: str, attempt: AttemptKey | None = None) -> Work | None:
        """T12. Take free work of a pool: the attempt named by a message, or the oldest.

        Two takers never get the same row, and neither waits for the other. None: there is nothing free, or
        the node is not ALIVE. The result must name the `take` of the answer (`Outbox.report`).
        """
        ...

    async def pool_work(self, selection: WorkSelection) -> Slice[Work]:
        """The selected work of a pool. Only reads."""
        ...

    async def pools(self, *, most: int = 10_000) -> list[PoolUse]:
        """Pools that have work, by name; no more than `most` are counted of each. Only reads."""
        ...
