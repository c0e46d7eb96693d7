"""Nodes with a bug in them: python -m tests.chaos.planted BUG FOLDER URL LEASES. A campaign must find it."""

import asyncio
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chaos.effects import Marking

from chaos import node
from stretto.node.membership import Membership
from stretto.node.performer import Performer
from stretto.ports.commit import Committed
from stretto.ports.fence import Fence
from stretto.ports.runtime import StepContext, StepResult


def forgets() -> None:
    """Now and then a commit is answered, and not made: as on a disk that lies."""
    commit = Performer._commit

    async def forgetful(self: Performer, ask: Any) -> Committed:
        if random.random() < 0.01:  # noqa: S311 - now and then
            return Committed(now=await self._store.now())
        return await commit(self, ask)

    Performer._commit = forgetful  # type: ignore[method-assign]


def misses_nothing() -> None:
    """Work of a node that is gone is waited for, for ever."""
    Membership.is_gone = lambda *_: False  # type: ignore[method-assign]


def works_twice() -> None:
    """Work is done, and then done again under the same launch: its start was not recorded."""
    do = Marking._do

    async def twice(self: Marking, ctx: StepContext) -> StepResult:
        await do(self, ctx)
        return await do(self, ctx)

    Marking._do = twice  # type: ignore[method-assign]


def passes_fences() -> None:
    """A launch that has waited begins, whatever has become of its node meanwhile."""

    async def passed(self: Fence) -> None: ...

    Fence.passed = passed  # type: ignore[method-assign]
    Fence.is_open = property(lambda _: True)  # type: ignore[assignment, method-assign]
    Fence.seconds = property(lambda _: 3_600.0)  # type: ignore[assignment, method-assign]


BUGS: Mapping[str, Callable[[], None]] = {
    "forgets": forgets,
    "misses_nothing": misses_nothing,
    "works_twice": works_twice,
    "passes_fences": passes_fences,
}

if __name__ == "__main__":
    bug, folder, *words = sys.argv[1:]
    BUGS[bug]()
    asyncio.run(node.serve(Path(folder), *words))
