"""Nodes with a bug in them: python -m tests.chaos.planted BUG FOLDER URL LEASES. A campaign must find it."""

import asyncio
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from chaos.effects import Marking

from chaos import node
from stretto.actions import fire_timer
from stretto.actions.parts.admission import Candidate
from stretto.node.answers import LoadedGroup
from stretto.node.crash_guard import CrashGuard
from stretto.node.membership import Membership
from stretto.node.perform.runs import GroupLoader
from stretto.node.performer import Performer
from stretto.ports.commit import Committed
from stretto.ports.fence import Fence
from stretto.ports.rows import Lease
from stretto.ports.runtime import StepContext, StepResult


def forgets() -> None:
    """Now and then a commit is answered, and not made: as on a disk that lies."""
    commit = Performer.commit

    async def forgetful(self: Performer, ask: Any) -> Committed:
        if random.random() < 0.01:  # noqa: S311 - now and then
            return Committed(now=await self.store.now())
        return await commit(self, ask)

    Performer.commit = forgetful  # type: ignore[method-assign]


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


def loses_fires() -> None:
    """A schedule moves on, and now and then the run of a fire is not started."""
    plan = fire_timer.planned_fires

    def forgetful(*words: Any) -> fire_timer.Round:
        found = plan(*words)
        return found if random.random() < 0.8 else found._replace(fires=[])  # noqa: S311 - now and then

    vars(fire_timer)["planned_fires"] = forgetful


def doubles_fires() -> None:
    """Who fires the same moment once more starts another run."""
    candidates = fire_timer._candidates

    async def twice(*words: Any) -> list[Candidate]:
        found = await candidates(*words)
        name = vars(fire_timer)["request_id_of"]
        vars(fire_timer)["request_id_of"] = lambda *_: str(uuid4())
        try:
            return found + await candidates(*words)
        finally:
            vars(fire_timer)["request_id_of"] = name

    vars(fire_timer)["_candidates"] = twice


def overlooks_runs() -> None:
    """Who takes a group over does not see all runs that go on in it."""
    load = GroupLoader.load

    async def careless(self: GroupLoader, leases: Sequence[Lease]) -> list[LoadedGroup]:
        groups = await load(self, leases)
        return [
            msgspec.structs.replace(each, live=each.live[:-1], admitted=each.admitted[:-1]) for each in groups
        ]

    GroupLoader.load = careless  # type: ignore[method-assign]


def sets_nothing_aside() -> None:
    """Whoever owns a group does not note what it is about to do."""
    CrashGuard.is_free = lambda *_: True  # type: ignore[method-assign]


BUGS: Mapping[str, Callable[[], None]] = {
    "forgets": forgets,
    "misses_nothing": misses_nothing,
    "works_twice": works_twice,
    "passes_fences": passes_fences,
    "loses_fires": loses_fires,
    "doubles_fires": doubles_fires,
    "overlooks_runs": overlooks_runs,
    "sets_nothing_aside": sets_nothing_aside,
}

if __name__ == "__main__":
    bug, folder, *words = sys.argv[1:]
    BUGS[bug]()
    asyncio.run(node.serve(Path(folder), *words))
