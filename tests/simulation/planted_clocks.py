"""Planted bugs of clocks: one that was ahead once stops something. See `planted`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from tests.simulation.plant import Planted, replaced

from stretto.engine.permits import Pace
from stretto.node.context import DatabaseTime


def time_never_goes_back() -> AbstractContextManager[None]:
    """A node's time never goes back, and due times are made of it: after a leap all new timers are late."""

    def make(now: Any) -> Any:
        def clamped(self: Any) -> int:
            self.latest = max(getattr(self, "latest", 0), now(self))
            return int(self.latest)

        return clamped

    return replaced(DatabaseTime, "now", make)


def starts_stay_ahead() -> AbstractContextManager[None]:
    """Starts that are later than now count until the clock has come to them."""

    def make(_counting: Any) -> Any:
        return lambda self, now: tuple(at for at in self.grants if at > now - self.rate.millis)

    return replaced(Pace, "counting", make)


CLOCKS_PLANTS: Mapping[str, Planted] = {
    "time_never_goes_back": Planted(time_never_goes_back, 69, ("I20:",)),
    "starts_stay_ahead": Planted(starts_stay_ahead, 1, ("I20:",)),
}
