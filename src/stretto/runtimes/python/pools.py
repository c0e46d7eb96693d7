"""Named pools: how many functions run at once. Sizes may change while they run."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stretto.model.errors import InvalidRequest, NotFound
from stretto.model.suggest import did_you_mean
from stretto.runtimes.python.threads import Threads

DEFAULT: Final = "default"  # the pool of sync functions that name none
THREADS: Final = 10  # its size
MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """A pool at a glance."""

    name: str
    size: int
    running: int
    waiting: int

    @property
    def free(self) -> int:
        return max(0, self.size - self.running)


class Pool:
    """Lets so many in at once; the others wait in line. All calls happen in one event loop."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.running = 0
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def status(self) -> PoolStatus:
        return PoolStatus(self.name, self.size, self.running, self.waiting)

    @property
    def waiting(self) -> int:
        return sum(not each.done() for each in self._line)

    def try_enter(self) -> bool:
        """Take a place if there is one and nobody waits for it."""
        if self.running >= self.size or self._line:
            return False
        self.running += 1
        return True

    async def enter(self) -> None:
        """Take a place, in turn."""
        if self.try_enter():
            return
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn had come: the next may have it
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.running -= 1
        self.let_in()

    def let_in(self) -> None:
        while self._line and self.running < self.size:
            turn = self._line.popleft()
            if not turn.done():
                self.running += 1
                turn.set_result(None)


class Pools:
    """The pools of an engine, and the threads behind them."""

    def __init__(self, sizes: Mapping[str, int] | None = None) -> None:
        self.threads = Threads()
        given = {DEFAULT: THREADS, **(sizes or {})}
        self._pools = {name: Pool(name, _checked(name, size)) for name, size in given.items()}

    def of(self, name: str | None, *, is_async: bool) -> Pool | None:
        """The pool that a function runs in; None: nothing limits it. Raises NotFound."""
        return None if name is None and is_async else self._find(name or DEFAULT)

    def resize(self, name: str, size: int) -> None:
        """From now on so many. Fewer: those that run go on, and nobody is let in before enough have ended."""
        pool = self._find(name)
        pool.size = _checked(name, size)
        pool.let_in()

    def status(self, name: str) -> PoolStatus:
        return self._find(name).status

    def statuses(self) -> list[PoolStatus]:
        """All of them, by name."""
        return [self._pools[name].status for name in sorted(self._pools)]

    def _find(self, name: str) -> Pool:
        pool = self._pools.get(name)
        if pool is None:
            hint = did_you_mean(name, self._pools) or f"there are: {', '.join(sorted(self._pools))}"
            raise NotFound(f"there is no pool `{name}`: {hint}")
        return pool


def _checked(name: str, size: int) -> int:
    if type(size) is not int or not 1 <= size <= MOST:
        raise InvalidRequest(f"the size of the pool `{name}` is a number from 1 to {MOST}, not {size!r}")
    return size
