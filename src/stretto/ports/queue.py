"""Where pool work is to be found."""

from typing import Protocol

import msgspec

from stretto.engine.records import AttemptKey


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt is ready for a pool. It says where to look; the `work` row in the store is the truth."""

    pool: str
    attempt: AttemptKey
    launch: int


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A message as one consumer got it; `receipt` is what it is acknowledged by."""

    receipt: str
    ready: Ready
    deliveries: int = 1


class PoolStats(msgspec.Struct, frozen=True, kw_only=True):
    """How full a pool's queue is. Numbers may be a little old."""

    waiting: int = 0
    in_hand: int = 0  # delivered, not acknowledged
    oldest: int | None = None  # when the oldest message was sent, in milliseconds since 1970
    consumers: int = 0


class Queue(Protocol):
    """A hint with a memory: a lost message costs time, a doubled one nothing, because the store decides."""

    async def ensure(self, pool: str) -> None:
        """Make the pool's queue and its group of consumers, if missing. Idempotent."""
        ...

    async def enqueue(self, ready: Ready) -> None:
        """Tell the pool. After an error it may be there or not; a sweep sends it again."""
        ...

    async def read(self, pool: str, consumer: str, *, most: int, wait: float) -> list[Delivery]:
        """Up to `most` messages that no other consumer of the pool has in hand.

        Waits at most `wait` seconds for the first one. A message stays in hand until it is acknowledged, or
        claimed by somebody else.
        """
        ...

    async def ack(self, pool: str, receipts: list[str]) -> None:
        """These are dealt with: the end of the work is stored, or there was nothing to do. Idempotent."""
        ...

    async def claim_abandoned(self, pool: str, consumer: str, *, idle: float, most: int) -> list[Delivery]:
        """Take over messages that some consumer has had in hand for more than `idle` seconds."""
        ...

    async def stats(self, pool: str) -> PoolStats:
        """How full the queue is. Only reads."""
        ...

    async def close(self) -> None:
        """Let go of connections; messages in hand stay so. Idempotent."""
        ...
