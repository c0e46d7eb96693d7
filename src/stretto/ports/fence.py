"""Permission to begin the work of a launch, checked in the last moment before its effect.

A node may begin work only while it trusts its leases. A runtime may receive a launch long before it begins
the work: the launch waits for a slot, a pool, a thread or a process, and the machine may be suspended
meanwhile. When the launch is due at last, another node may have taken the run over and done the work. So
every runtime checks the fence of a launch right before the effect: `is_open` where it can not wait, `passed`
where it can.
"""

import asyncio
from collections.abc import Callable
from math import inf
from typing import Final

__all__ = ["OPEN", "Fence", "Revoked", "Trust"]


class Revoked(Exception):
    """The launch does not count any more: the node was declared dead, or a newer launch replaces this one."""


class Trust:
    """Until when a node may rely on its leases, on a clock that runs while the machine is suspended. Each
    heartbeat that the database confirms extends it.
    """

    __slots__ = ("_steady", "_waiters", "until")

    def __init__(self, steady: Callable[[], float], until: float = 0.0) -> None:
        self._steady = steady
        self._waiters: list[asyncio.Future[None]] = []
        self.until = until

    @property
    def seconds(self) -> float:
        """How long it still lasts; negative once it has lapsed."""
        return self.until - self._steady()

    @property
    def holds(self) -> bool:
        return self._steady() < self.until

    def extend(self, until: float) -> None:
        self.until = max(self.until, until)
        self.notify()

    def drop(self) -> None:
        """The node has no leases until it has joined again."""
        self.until = 0.0

    def notify(self) -> None:
        """Let every waiting launch look at its fence again."""
        waiters, self._waiters = self._waiters, []
        for each in waiters:
            if not each.done():
                each.set_result(None)

    async def changed(self) -> None:
        """Wait until trust was extended or a fence was revoked."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter


class Fence:
    """The permission of one launch. Any thread may read `is_open` and `seconds`; everything else happens in
    the event loop of the node.
    """

    __slots__ = ("_trust", "is_revoked")

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self.is_revoked = False

    @property
    def seconds(self) -> float:
        """For how long the work may be begun; not positive: it may not be begun now."""
        return -inf if self.is_revoked else self._trust.seconds

    @property
    def is_open(self) -> bool:
        """Whether the work may be begun now."""
        return not self.is_revoked and self._trust.holds

    def revoke(self) -> None:
        """For good: the work must not be begun any more, and ends at once if it was."""
        self.is_revoked = True
        self._trust.notify()

    async def passed(self) -> None:
        """Return when the work may be begun: at once, or after the next heartbeat if trust has lapsed.
        Raises Revoked.
        """
        while not self.is_open:
            if self.is_revoked:
                raise Revoked(
                    "the launch does not count any more: its node was declared dead, or it was replaced"
                )
            await self._trust.changed()


def _never() -> float:
    return 0.0


OPEN: Final = Fence(Trust(_never, inf))  # for work that no node looks after
