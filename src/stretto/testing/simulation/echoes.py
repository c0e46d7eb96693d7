"""Letters that come again, although they were dealt with: whoever sent them did not hear that they arrived.

An action of a user is another one if it comes again, and a line for the change log is written again: senders
of these know whether they were stored.
"""

from typing import Final

from stretto.ports.messages import Kind, Letter
from stretto.testing.simulation.watch import Touched

TWICE: Final = frozenset(Kind) - {Kind.ACT, Kind.LOG}


class Echoes:
    """All letters of a world that may come again."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []

    def seen(self, touched: Touched) -> None:
        for _, before, after in touched.of("messages"):
            if before is None and after is not None and after.body.kind in TWICE:
                letter = Letter(
                    ref=after.ref, body=after.body, to_group=after.to_group, to_node=after.to_node
                )
                self._letters.append(letter)

    def one(self, pick: int) -> Letter | None:
        return self._letters[pick % len(self._letters)] if self._letters else None
