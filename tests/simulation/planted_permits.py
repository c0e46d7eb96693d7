"""Planted bugs of permits and rates."""

from contextlib import AbstractContextManager
from typing import Any

from tests.simulation.plant import replaced

from stretto.engine import decide as deciding_core
from stretto.engine.events import Granted
from stretto.engine.permits import Pace
from stretto.model.status import StepStatus
from stretto.node import loader
from stretto.node.entry import Item
from stretto.store.memory import permits


def granted_after_reload() -> AbstractContextManager[None]:
    """Who waits for permits when its run is loaded is taken to hold them."""

    def make(recover: Any) -> Any:
        def recovered(self: Any, group: Any, entry: Any, loaded: Any) -> None:
            recover(self, group, entry, loaded)
            for flow in loaded.flow.tree.live.values():
                for record in flow.attempts:
                    if record is not None and record.status is StepStatus.WAITING_FOR_PERMITS:
                        entry.inbox.append(Item(Granted(attempt=record.key)))

        return recovered

    return replaced(loader.Loader, "_recover", make)


def lost_grant() -> AbstractContextManager[None]:
    """A message is consumed by a commit that does nothing about it."""

    def make(granted: Any) -> Any:
        calls = [0]

        def heard(turn: Any, flow: Any, event: Granted) -> None:
            calls[0] += 1
            if calls[0] % 10:
                granted(turn, flow, event)

        return heard

    handlers: Any = deciding_core.HANDLERS
    return replaced(handlers, Granted, make)  # type: ignore[arg-type]


def room_not_checked() -> AbstractContextManager[None]:
    """A commit takes a decision's word for it that permits are left."""
    return replaced(permits, "rooms_after", lambda _checked: lambda _parts, rooms: dict(rooms))


def starts_forgotten_early() -> AbstractContextManager[None]:
    """Starts count for half of the time of their rate."""
    return replaced(Pace, "counting", lambda of: lambda self, now: of(self, now + self.rate.millis // 2))
