"""Signals, and who waits for them, for readers."""

from stretto.actions.caller import Caller
from stretto.actions.reading.listing import Listing, page_of_list
from stretto.engine.records import AttemptKey
from stretto.model.page import Page
from stretto.model.request import PageRequest
from stretto.model.signal_instance import SignalInstance
from stretto.ports.paging import Cut, Slice
from stretto.ports.signals import SignalName, SignalPage, SignalWait
from stretto.ports.store import Store


async def list_signal_names(store: Store, caller: Caller, request: PageRequest) -> Page[SignalName]:
    """Names that were announced or are waited for, in their order."""
    listing = Listing(fetch=store.signal_names, key=lambda row: row.name, key_type=str)
    return await page_of_list(store, caller, request, listing)


async def list_signals(store: Store, caller: Caller, name: str, request: PageRequest) -> Page[SignalInstance]:
    """Announcements of a name, newest first."""
    listing = Listing(
        fetch=lambda cut: store.signals(SignalPage(name, cut)),
        key=lambda row: row.seq_id,
        key_type=int,
        newest_first=True,
    )
    return await page_of_list(store, caller, request, listing)


async def list_signal_waits(
    store: Store, caller: Caller, name: str, request: PageRequest
) -> Page[SignalWait]:
    """Steps that wait for a name, by attempt and dependency; forwards only."""

    async def fetch(cut: Cut) -> Slice[SignalWait]:
        found = await store.signal_waits(name, after=cut.above, most=cut.most + 1)
        return Slice(elements=tuple(found[: cut.most]), after=len(found) > cut.most)

    listing = Listing(
        fetch=fetch,
        key=lambda wait: (wait.attempt, wait.index),
        key_type=tuple[AttemptKey, int],
        workflow=lambda wait: wait.attempt.run.workflow_id,
    )
    return await page_of_list(store, caller, PageRequest(first=request.first, cursor=request.cursor), listing)
