"""The iterations of a step through all loops around it, one after another: how the flatten views walk.

A rank names an iteration by its number on each level, from the outermost loop in. As a text each number is
led by the count of its digits, so that texts sort as ranks do.
"""

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from stretto.actions.parts.numbers import number_in
from stretto.engine.inline_ids import DIGITS
from stretto.engine.records import LoopRecord, RunKey
from stretto.model.errors import InvalidRequest
from stretto.model.step import AnyStep, ForeachStep, WhileStep
from stretto.ports.history import AttemptsOfStep
from stretto.ports.paging import Cut
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import InstancePage, RunPage, read_newest_run
from stretto.ports.store import Store

BATCH: Final = 200

Rank = tuple[int, ...]


class Iteration(NamedTuple):
    """An iteration of the innermost loop. `trace`: run and attempt on each level above it."""

    rank: Rank
    run: RunRow
    trace: tuple[int, ...]


def rank_text(numbers: Rank) -> str:
    """`(25, 4)` is `225-14`."""
    return "-".join(f"{DIGITS[len(str(number))]}{number}" for number in numbers)


def rank_in(text: str, levels: int) -> Rank:
    """The rank that a reader writes, `25-4`: a number for each level."""
    numbers = [number_in(each) for each in text.split("-")]
    if len(numbers) != levels or None in numbers:
        raise InvalidRequest(f"Invalid iteration [{text}]", hint=f"{levels} numbers, joined by `-`")
    return tuple(each for each in numbers if each is not None)


def loops_around(steps: tuple[AnyStep, ...], step_id: str) -> list[ForeachStep | WhileStep] | None:
    """The loops that a step stands in, the outermost first; None: there is no such step."""
    for step in steps:
        if step.id == step_id:
            return []
        if isinstance(step, ForeachStep | WhileStep):
            inner = loops_around(step.steps, step_id)
            if inner is not None:
                return [step, *inner]
    return None


async def newest_attempt_up_to(store: Store, run: RunKey, step_id: str) -> AttemptRow | None:
    """The newest attempt of a step in a run, or in the nearest run before it that has one."""
    for run_id in range(run.run_id, 0, -1):
        rows = await store.attempts(AttemptsOfStep(run._replace(run_id=run_id), step_id))
        if rows:
            return rows[-1]
    return None


async def loop_of(store: Store, run: RunKey, step_id: str) -> LoopRecord | None:
    """The loop of a step that is in force in a run; None: it has not begun."""
    found = await loop_in(store, run, step_id)
    return None if found is None else found.loop


class LoopInRun(NamedTuple):
    """A loop, and the highest id that the run of an iteration has in it: those above are of later runs."""

    loop: LoopRecord
    highest: int

    async def seen(self, store: Store, row: RunRow | None) -> RunRow | None:
        """The newest run of an iteration, as this loop knows it; None: it had none then."""
        if row is None or row.key.run_id <= self.highest:
            return row
        cut = Cut(most=1, below=self.highest + 1)
        page = await store.runs(RunPage(row.key.workflow_id, row.key.instance_id, cut))
        return page.elements[0] if page.elements else None


async def loop_in(store: Store, run: RunKey, step_id: str) -> LoopInRun | None:
    """The loop of a step that is in force in a run, with where later runs begin; None: it has not begun."""
    attempt = await newest_attempt_up_to(store, run, step_id)
    if attempt is None:
        return None
    own = [each for each in await store.loops(attempt.key.run) if each.key.step_id == step_id]
    return LoopInRun(own[-1], max(own[-1].run_id, attempt.record.loop_run or 0)) if own else None


async def walk(
    store: Store,
    run: RunKey,
    loops: list[str],
    beyond: Rank = (),
    *,
    back: bool = False,
    trace: tuple[int, ...] = (),
) -> AsyncIterator[Iteration]:
    """The iterations of nested loops in the order of their ranks, beyond one; `back`: the other way."""
    found = await loop_in(store, run, loops[0])
    if found is None:
        return
    loop = found.loop
    inner, above = loops[1:], (*trace, run.run_id, loop.key.number)
    if inner and beyond:
        row = await found.seen(store, await read_newest_run(store, loop.inline_id, beyond[0]))
        if row is not None:
            async for each in walk(store, row.key, inner, beyond[1:], back=back, trace=above):
                yield each._replace(rank=(beyond[0], *each.rank))
    async for row in _numbered(store, found, beyond[0] if beyond else None, back=back):
        number = row.key.instance_id
        if not inner:
            yield Iteration((number,), row, above)
            continue
        async for each in walk(store, row.key, inner, back=back, trace=above):
            yield each._replace(rank=(number, *each.rank))


async def _numbered(
    store: Store, found: LoopInRun, beyond: int | None, *, back: bool
) -> AsyncIterator[RunRow]:
    """The newest run of each iteration of one loop, but for those of later runs around it."""
    while True:
        cut = Cut(most=BATCH, below=beyond) if back else Cut(most=BATCH, above=beyond or 0)
        page = await store.runs(InstancePage(found.loop.inline_id, cut))
        rows = page.elements if back else page.elements[::-1]
        for row in rows:
            then = await found.seen(store, row)
            if then is not None:
                yield then
        if not (page.after if back else page.before):
            return
        beyond = rows[-1].key.instance_id
