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


BUGS: Mapping[str, Callable[[], None]] = {
    "forgets": forgets,
    "misses_nothing": misses_nothing,
    "works_twice": works_twice,
}

if __name__ == "__main__":
    bug, folder, url, leases = sys.argv[1:]
    BUGS[bug]()
    asyncio.run(node.serve(Path(folder), url, leases))
