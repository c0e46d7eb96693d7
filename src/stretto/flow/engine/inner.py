"""Runs that steps of other runs started: iterations, added steps, subworkflows. Where they are, and which of
them have not ended.
"""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from stretto.actions.reading.nesting import outermost, path_below
from stretto.engine.records import LoopRecord, RunKey
from stretto.engine.run_text import run_text
from stretto.flow.engine.listing import all_instances
from stretto.model.status import RunStatus
from stretto.ports.rows import AttemptRow, RunRow
from stretto.ports.run_snapshot import NewestAttempts, read_run
from stretto.ports.store import Store

LIVE: Final = frozenset(each for each in RunStatus if not each.is_terminal)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A run, seen from the one at the top.

    root   the run that no step started, as text: `etl/3`; the run itself, if that is one
    path   the way from there: `load_map[2]`, `clean`; empty for the root
    """

    root: str
    path: str


def place_of(row: RunRow) -> Place:
    """The place of a run."""
    top = outermost(row)
    return Place(root=run_text(top), path=path_below(row, top) or "")


async def live_below(store: Store, run: RunKey) -> AsyncIterator[RunRow]:
    """Every run below a run that has not ended."""
    loops = {each.key: each for each in await store.loops(run)}
    for attempt in await store.attempts(NewestAttempts((run,))):
        if not attempt.record.status.is_terminal:
            async for row, _path in live_inside(store, attempt, loops.get(attempt.key)):
                yield row
                async for below in live_below(store, row.key):
                    yield below


async def live_inside(
    store: Store, attempt: AttemptRow, loop: LoopRecord | None
) -> AsyncIterator[tuple[RunRow, str]]:
    """The runs right inside of a step that have not ended, with the path from the run of the step. `loop`:
    how far the step is, if it is a loop.
    """
    step_id = attempt.key.step_id
    if attempt.record.child is not None:
        row = await read_run(store, attempt.record.child)
        if row is not None and not row.record.status.is_terminal:
            yield row, step_id
    elif loop is not None:
        async for row in all_instances(store, loop.inline_id, LIVE):
            yield row, f"{step_id}[{row.key.instance_id}]"
