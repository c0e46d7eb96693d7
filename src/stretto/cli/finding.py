"""The run that a user names, in its database; if there is none, what there is instead."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from stretto.actions.parts.finding import find_run
from stretto.actions.parts.near_workflows import near_workflow
from stretto.cli.address import Address, run_text
from stretto.cli.database import Place, opened
from stretto.model.errors import NotFound
from stretto.ports.history import FilteredRuns, RunFilter
from stretto.ports.paging import Cut
from stretto.ports.rows import RunRow
from stretto.ports.store import Store
from stretto.ports.workflows import read_workflow

SOME = 5


@asynccontextmanager
async def reading(place: Place, address: Address) -> AsyncIterator[tuple[Store, RunRow]]:
    """The store, and the run in it."""
    async with opened(place) as store:
        try:
            row = await find_run(store, address.workflow_id, address.instance_id, address.run)
        except NotFound:
            raise await _missing(store, place, address) from None
        yield store, row


async def _missing(store: Store, place: Place, address: Address) -> NotFound:
    number = "" if address.run == "latest" else f"/{address.run}"
    message = f"there is no run {address.workflow_id}/{address.instance_id}{number} in {place.shown}"
    own = await store.runs(FilteredRuns(RunFilter(workflow_id=address.workflow_id), Cut(most=SOME)))
    if own.elements:
        return NotFound(message, hint=f"the newest of this workflow: {_names(own.elements)}")
    newest = await store.runs(FilteredRuns(RunFilter(), Cut(most=SOME)))
    if not newest.elements:
        return NotFound(message, hint="nothing was run there yet; `stretto run FILE` makes one")
    exists = await read_workflow(store, address.workflow_id) is not None
    hint = None if exists else await near_workflow(store, address.workflow_id)
    return NotFound(message, hint=hint or f"the newest runs there: {_names(newest.elements)}")


def _names(rows: tuple[RunRow, ...]) -> str:
    return ", ".join(run_text(row.key) for row in rows)
