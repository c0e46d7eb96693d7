"""I20, of timers: one that is set rings when its time is over on the steady clock, wherever clocks leap."""

from collections.abc import Callable
from typing import Final

from simulation.watch import Complain, Touched
from stretto.engine.events import Woken
from stretto.engine.records import AttemptKey, WakeReason
from stretto.node.machine import Node

LONGEST: Final = (
    60_000  # milliseconds that an attempt of a simulated world ever asks to wait, but for functions
)


class Alarms:
    """Timers that commits have set, and what nodes that had the run in hand all the time make of them."""

    def __init__(self, steady: Callable[[], int]) -> None:
        self._steady = steady
        self._set: dict[AttemptKey, tuple[int, int]] = {}  # for when, and when that was stored

    def rule(self, touched: Touched, _complain: Complain) -> None:
        for key, before, after in touched.of("attempts"):
            due = None if after is None else after.record.wake_at
            if due is None or after.record.wake_reason is WakeReason.FUNCTION:
                self._set.pop(key, None)
            elif before is None or before.record.wake_at != due:
                self._set[key] = due, self._steady()

    def look(self, node: Node, complain: Complain) -> None:
        """A node was told that its commit is there: look at its timers."""
        for group in node.groups.values():
            for entry in group.entries.values():
                for at, _ticket, event in entry.timers:
                    if not isinstance(event, Woken):
                        continue
                    found = self._set.get(event.attempt)
                    if found is None or found[0] != event.due or entry.loaded_at * 1_000 > found[1]:
                        continue  # one that was read at load follows its row
                    late = at * 1_000 - found[1] - LONGEST
                    if late > 0:
                        complain(f"I20: the timer of {event.attempt} rings {late / 1_000:.0f} s late")
