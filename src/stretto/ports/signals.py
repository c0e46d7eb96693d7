"""Signals: announcements, steps that wait for them, and the joins of triggers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol
from uuid import NAMESPACE_OID, uuid5

import msgspec

from stretto.engine.records import AttemptKey
from stretto.model.signal_instance import SignalInstance
from stretto.model.trigger import SignalParam, SignalParamValue
from stretto.model.wire import to_json
from stretto.ports.paging import Cut, Slice

Fits = Callable[[SignalInstance], bool]  # pure: do the parameters of a signal match what is wanted


class SignalWait(msgspec.Struct, frozen=True, kw_only=True):
    """A dependency of an attempt that is not satisfied. Written by the commit with which the wait begins."""

    name: str
    attempt: AttemptKey
    index: int  # which dependency of the attempt
    group: int  # of its run: where it is told
    match_params: Mapping[str, SignalParamValue] = {}


def instance_id_of(name: str, params: Mapping[str, SignalParam]) -> str:
    """What makes two announcements the same one, unless they have request ids: the name with the parameters.
    The payload does not count.
    """
    return str(uuid5(NAMESPACE_OID, f"{name}\0{to_json(sorted(params.items())).decode()}"))


class NewSignal(msgspec.Struct, frozen=True, kw_only=True):
    """What is announced. The same name and instance id are the same announcement, whatever else they say."""

    name: str
    instance_id: str
    params: Mapping[str, SignalParam] = {}
    payload: Mapping[str, Any] = {}
    request_time: int | None = None

    def numbered(self, seq: int, now: int) -> SignalInstance:
        """The announcement as it is stored."""
        return SignalInstance(
            name=self.name,
            seq_id=seq,
            instance_id=self.instance_id,
            params=dict(self.params) or None,
            payload=dict(self.payload) or None,
            request_time=self.request_time,
            create_time=now,
        )


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """The signal as it is stored; if it is a duplicate, then the first one."""

    signal: SignalInstance
    duplicate: bool = False


class SignalName(msgspec.Struct, frozen=True, kw_only=True):
    """A name that was announced, or is waited for."""

    name: str
    last_seq: int = 0
    waits: int = 0


class NumberedSignal(NamedTuple):
    """One announcement; no number: the newest."""

    name: str
    seq: int | None = None


class SignalPage(NamedTuple):
    """The announcements of a name."""

    name: str
    cut: Cut


SignalSelection = NumberedSignal | SignalPage


class Signals(Protocol):
    """No wait is missed, because each side writes first and looks afterwards: a step commits its wait, then
    looks with `first_signal`; an announcement is committed, then its fan-out reads `signal_waits`.
    """

    async def announce(self, signal: NewSignal) -> Announced:
        """T10. Store a signal under the next number of its name, with a `fan_out` to the name's home group.

        Numbers of a name are 1, 2, 3 ... and become visible in this order. Idempotent by instance id.
        """
        ...

    async def signals(self, selection: SignalSelection) -> Slice[SignalInstance]:
        """The selected announcements of a name, by number, newest first. Only reads."""
        ...

    async def first_signal(self, name: str, fits: Fits, *, above: int = 0) -> SignalInstance | None:
        """The announcement with the lowest number above `above` that fits. Only reads."""
        ...

    async def signal_waits(
        self, name: str, *, after: tuple[AttemptKey, int] | None, most: int
    ) -> list[SignalWait]:
        """Who waits for a name, by attempt and dependency, after a place: for a fan-out. Only reads."""
        ...

    async def match_trigger(
        self, trigger_id: str, join_key: str, fits: Callable[[str, SignalInstance], bool]
    ) -> int:
        """T11. Under the lock of (trigger, join key): as long as each signal of the trigger has a number
        above what was taken whose signal fits, take the lowest of each and `fire` at the workflow's home.

        Returns how many fired. So the n-th of each goes with the n-th of the others, in whatever order they
        came, and each goes into one set. Nothing was taken before the trigger was activated. 0 if there is no
        such trigger. Idempotent: what was taken is not taken again.
        """
        ...

    async def signal_names(self, cut: Cut) -> Slice[SignalName]:
        """Names that were announced or are waited for, in their order. Only reads."""
        ...


async def read_signal(signals: Signals, name: str, seq: int | None = None) -> SignalInstance | None:
    """One announcement, or the newest."""
    return next(iter((await signals.signals(NumberedSignal(name, seq))).elements), None)
