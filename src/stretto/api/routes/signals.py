"""Signals: announce one, look one up."""

from typing import Final

from stretto.actions.announce import announce, get_signal
from stretto.actions.reading.signals import list_signal_names, list_signals
from stretto.api.routing import Calling, Given, Name, Paging, Text, gets, posts
from stretto.api.slashes import slashed
from stretto.model.page import Page
from stretto.model.request import SignalRequest
from stretto.model.signal_instance import SignalInstance
from stretto.ports.signals import SignalName


@posts("/signals", reads=SignalRequest, user=False)
async def send(call: Calling, given: Given[SignalRequest]) -> SignalInstance:
    """Announce a signal."""
    return await announce(call.store, call.reader, given, hints=call.hints)


@gets("/signals/{name}/instances/{seq}")
async def read(call: Calling, name: Name, seq: Name) -> SignalInstance | None:
    """An announcement by its number, or the `latest`; nothing if there is none."""
    return await get_signal(call.store, call.reader, slashed(name), seq)


@gets("/signals")
async def read_names(call: Calling, part: Paging) -> Page[SignalName]:
    """Names that were announced or are waited for."""
    return await list_signal_names(call.store, call.reader, part)


@gets("/signals/{name}/instances")
async def read_all(call: Calling, name: Name, part: Paging) -> Page[SignalInstance]:
    """Announcements of a name, newest first."""
    return await list_signals(call.store, call.reader, slashed(name), part)


@gets("/signal-instances")
async def read_all_of(call: Calling, name: Text, part: Paging) -> Page[SignalInstance]:
    """Announcements of a name, whatever is in it, newest first."""
    return await list_signals(call.store, call.reader, name, part)


ROUTES: Final = (send, read, read_names, read_all, read_all_of)
