"""How long it takes until other nodes go on: many runs that wait, some work under way, and a `kill -9`.

All the work is on the node that dies. The others own their share of the groups already: they have to notice
that the work of their own runs is lost, too.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final
from uuid import uuid4

import msgspec

from chaos.arena import Arena
from chaos.effects import WATCHED
from chaos.feeding import ANN, LIMITS, UNFINISHED
from chaos.plays import defined, work
from chaos.report import spread
from stretto.actions.parts.admission import admit_all
from stretto.actions.parts.candidate import Target, candidate_of
from stretto.actions.parts.finding import find_version, find_workflow
from stretto.actions.publish import publish
from stretto.model.initiator import ManualInitiator
from stretto.model.request import StartRequest
from stretto.model.workflow import Definition
from stretto.ports.clock import machine_steady
from stretto.ports.groups import NodeState
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.places import GROUPS
from stretto.testing.shapes import number, step

OF_EACH: Final = 1_000  # runs of one workflow
AT_ONCE: Final = 100  # that are asked for in one transaction
A_DAY: Final = 86_400  # seconds
LONG: Final = 3_600_000  # milliseconds
WITHIN: Final = 900.0  # seconds for each stage


class TakeOver(msgspec.Struct, kw_only=True):
    """Seconds since the kill."""

    store: str
    leases: str
    waiting: int  # runs that wait
    working: int  # steps at work
    buried: float
    owned: float  # all groups have an owner again
    resumed: list[float]  # of each step at work, sorted
    heirs: int
    cpu: float  # seconds that the heirs have used meanwhile

    @property
    def is_well(self) -> bool:
        return len(self.resumed) == self.working


def text_of_take_over(found: TakeOver) -> str:
    """For people."""
    return (
        f"{found.store}, take-over, {found.leases} leases:"
        f" {found.waiting:,} runs wait, {found.working:,} steps work, {found.heirs} heirs\n"
        f"  buried after {found.buried:.1f} s, all groups owned after {found.owned:.1f} s\n"
        f"  from death to work going on: {spread(found.resumed)}; CPU of the heirs {found.cpu:.1f} s"
    )


async def take_over(arena: Arena, waiting: int, working: int) -> TakeOver:
    """Fill, kill, watch."""
    first = arena.nodes.start()
    await arena.nodes.until_running()
    await arena.until_owned()
    await _fill(arena, waiting, working)
    await _until(lambda: _begun(arena, {first.pid}, working))
    heirs = {arena.nodes.start().pid for _ in range(max(1, arena.campaign.nodes - 1))}
    await arena.nodes.until_running()
    await _until(lambda: _shares(arena))
    before = sum(map(_cpu, heirs))
    arena.nodes.kill(first)
    at = arena.nodes.deaths[-1].at
    buried, owned = await asyncio.wait_for(_watch(arena, at), WITHIN)
    await _until(lambda: _begun(arena, heirs, working))
    used = sum(map(_cpu, heirs)) - before
    resumed = sorted(each.begun - at for each in arena.ledger.effects() if each.pid in heirs)
    return TakeOver(
        store=arena.database.url.partition(":")[0],
        leases=arena.leases,
        waiting=waiting,
        working=working,
        buried=buried,
        owned=owned,
        resumed=resumed,
        heirs=len(heirs),
        cpu=used,
    )


# -------------------------------------------------------------------------------------------------- filling
async def _fill(arena: Arena, waiting: int, working: int) -> None:
    for place, first in enumerate(range(0, waiting, OF_EACH)):
        nap = step(f"wait{place}", type="Sleep", params={"sleep_seconds": number(A_DAY)})
        await _start(arena, defined(f"waits{place}", nap), min(OF_EACH, waiting - first))
    for place, first in enumerate(range(0, working, OF_EACH)):
        long = work(f"work{place}", kind=WATCHED, millis=LONG)
        await _start(arena, defined(f"works{place}", long), min(OF_EACH, working - first))
    await _until(lambda: _are_there(arena, waiting + working))


async def _start(arena: Arena, definition: Definition, count: int) -> None:
    """Many runs at once, as a trigger does that was late."""
    store, workflow_id = arena.store, definition.workflow.id
    await publish(store, ANN, definition, limits=LIMITS)
    row = await find_workflow(store, workflow_id)
    version_id, found = await find_version(store, row, "latest")
    target = Target(row, version_id, found.workflow)
    for first in range(0, count, AT_ONCE):
        candidates = []
        for _ in range(min(AT_ONCE, count - first)):
            request = StartRequest(initiator=ManualInitiator(user=ANN.user), request_id=str(uuid4()))
            candidates.append(await candidate_of(store, target, request, await store.now()))
        await admit_all(store, workflow_id, candidates)


# -------------------------------------------------------------------------------------------------- watching
async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WITHIN):
        while not await holds():
            await asyncio.sleep(0.5)


async def _are_there(arena: Arena, count: int) -> bool:
    """Whether so many runs are under way: none is left that has not begun."""
    groups = await arena.store.load_groups(range(GROUPS))
    begun = [each for group in groups for each in group.runs]
    page = await arena.store.runs(FilteredRuns(RunFilter(statuses=UNFINISHED[:1]), Cut(most=1)))
    return len(begun) >= count and not page.elements


async def _begun(arena: Arena, pids: set[int], count: int) -> bool:
    effects = await asyncio.to_thread(arena.ledger.effects)
    return sum(effect.pid in pids for effect in effects) >= count


async def _shares(arena: Arena) -> bool:
    """Whether everybody owns as many groups as the others, or one less."""
    owners = Counter(row.owner for row in await arena.store.groups())
    even = max(owners.values()) - min(owners.values()) <= 1
    return even and None not in owners and len(owners) == len(arena.nodes.alive)


async def _watch(arena: Arena, at: float) -> tuple[float, float]:
    """When the dead one was buried, and when everything had an owner again."""
    buried = 0.0
    while True:
        rows = await arena.store.nodes()
        alive = {row.node for row in rows if row.state is NodeState.ALIVE}
        if len(alive) == len(arena.nodes.alive):
            buried = buried or machine_steady() - at
            if {row.owner for row in await arena.store.groups()} == alive:
                return buried, machine_steady() - at
        await asyncio.sleep(0.05)


def _cpu(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
