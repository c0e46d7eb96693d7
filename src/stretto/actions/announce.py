"""Announce a signal, and look one up."""

from stretto.actions.caller import Caller, Role
from stretto.actions.parts.access import check_role
from stretto.actions.parts.naming import check_label
from stretto.actions.parts.numbers import number_in
from stretto.actions.parts.repeat import repeated
from stretto.model.errors import Conflict, InvalidRequest
from stretto.model.request import SignalRequest
from stretto.model.signal_instance import SignalInstance
from stretto.ports.hints import SILENT, Hints
from stretto.ports.places import group_of_signal
from stretto.ports.signals import NewSignal, instance_id_of, read_signal
from stretto.ports.store import Store


async def announce(
    store: Store, caller: Caller, request: SignalRequest, *, hints: Hints = SILENT
) -> SignalInstance:
    """Store a signal; whoever waits for it is told. The same announcement again is refused."""
    check_role(caller, Role.RUNNER, "announce signals")
    check_label(request.name, "a signal's name")
    params = request.params or {}
    signal = NewSignal(
        name=request.name,
        instance_id=request.request_id or instance_id_of(request.name, params),
        params=params,
        payload=request.payload,
        request_time=await store.now() if request.request_time is None else request.request_time,
    )
    done = await repeated(lambda: store.announce(signal))
    hints.hint([group_of_signal(request.name)])
    if done.duplicate:
        raise Conflict(
            f"Signal [{request.name}][{signal.instance_id}] was announced before, as number"
            f" [{done.signal.seq_id}]"
        )
    return done.signal


async def get_signal(store: Store, caller: Caller, name: str, seq: str) -> SignalInstance | None:
    """An announcement by its number, or the `latest`; None if there is none."""
    check_role(caller, Role.VIEWER, "see signals")
    text = seq.strip().lower()
    if text == "latest":
        return await read_signal(store, name)
    number = number_in(text)
    if number is None:
        raise InvalidRequest(f"Invalid number [{seq}] of signal [{name}]", hint="write latest or a number")
    return await read_signal(store, name, number)
